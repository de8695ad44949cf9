// Looks at the journal of the project it is started in once, as a running engine does.

import { JournalWatch } from "../../../src/store/journal/journal-watch.ts";
import { locateState } from "../../../src/store/location.ts";
import { judgeFor, projectStore } from "../../../src/store/project-store.ts";
import { forge } from "../forge.ts";

const location = locateState(process.cwd(), ".gemini");
const now = () => new Date();
const warn = (message: string) => void process.stderr.write(`${message}\n`);
const store = projectStore(location, { now, warn, maxRetries: () => 2, env: process.env });
store.read();
store.keepOpen(new JournalWatch({ judge: judgeFor(location), now, warn }));
forge(".gemini/state/progress.jsonl", [
  [{ type: "phase.moved", phase: "1", from: "pending", to: "completed" }],
  [{ type: "phase.moved", phase: "2", from: "pending", to: "skipped", user_decision: true }],
]);
process.stdout.write("forged");
store.refresh();
store.close();

// Updates one session through the store, as a long-lived process does: usage: writer <project> <name> <count>
// Prints one line per acknowledged update.

import { locateState } from "../../../src/store/location.ts";
import { SessionStore } from "../../../src/store/session-store.ts";
import { reviewView } from "../../../src/store/view/view-review.ts";

const [project = "", name = "", count = "1"] = process.argv.slice(2);
const store = new SessionStore(locateState(project, ".gemini"), {
  now: () => new Date(),
  warn: (message) => process.stderr.write(`${message}\n`),
  review: (session, text, sessionAt) => reviewView(session, text, 2, sessionAt),
  viewDelayMs: 200,
});

void write();

async function write(): Promise<void> {
  for (let i = 0; i < Number(count); i++) {
    store.update((session) => ({
      events: [
        { type: "phase.files_added", phase: "1", created: [`${name}-${i}`], modified: [], deleted: [], hashes: {} },
      ],
      result: session,
    }));
    process.stdout.write(`${name}-${i}\n`);
    if (i % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  store.close();
}

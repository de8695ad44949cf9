// Changes the project from one tree to another, for a test that kills it on the way: usage: bring-in <project> <cache> [<from> <to>]. Without trees it
// finishes a change that a killed process left. Prints the result.

import { bringIn } from "../../../src/engine/integrate/bring-in.ts";
import { finishIntent } from "../../../src/engine/recovery/finish-change.ts";
import { openRepository } from "../../../src/git/open.ts";
import { locateState } from "../../../src/store/location.ts";

void main();

async function main(): Promise<void> {
  const [path = "", cache = "", from, to] = process.argv.slice(2);
  const opening = await openRepository(path, cache);
  if (opening.kind !== "open") throw new Error(opening.reason);
  const project = { repository: opening.repository, location: locateState(path, ".gemini") };
  const outcome =
    from === undefined || to === undefined
      ? await finishIntent(project)
      : await bringIn(project, { session: "s", phase: "1", attempt: 1, what: "integrate", from, to });
  process.stdout.write(JSON.stringify(outcome));
}

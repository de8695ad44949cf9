// Runs an integration that a test kills on the way: usage: git-apply <project> <cache> <from> <to> [finish]. Prints the result.

import { executePlan, finish } from "../../../src/git/apply/apply.ts";
import { planApply } from "../../../src/git/apply/apply-plan.ts";
import { openRepository } from "../../../src/git/open.ts";

void main();

async function main(): Promise<void> {
  const [project = "", cache = "", from = "", to = "", what] = process.argv.slice(2);
  const opening = await openRepository(project, cache);
  if (opening.kind !== "open") throw new Error(opening.reason);
  const { repository } = opening;
  const outcome =
    what === "finish"
      ? await finish(repository, from, to)
      : await executePlan(repository, await planApply(repository, from, to));
  process.stdout.write(JSON.stringify(outcome));
}

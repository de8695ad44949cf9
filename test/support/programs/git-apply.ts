// Carries out an integration, to be killed on the way: usage: git-apply <project> <cache> <from> <to>. Prints what came of it.

import { carryOut } from "../../../src/git/apply.ts";
import { planApply } from "../../../src/git/apply-plan.ts";
import { openRepository } from "../../../src/git/open.ts";

const [project = "", cache = "", from = "", to = ""] = process.argv.slice(2);
const opening = await openRepository(project, cache);
if (opening.kind !== "open") throw new Error(opening.reason);
const outcome = await carryOut(opening.repository, await planApply(opening.repository, from, to));
process.stdout.write(JSON.stringify(outcome));

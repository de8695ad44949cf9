// maestro session revise: continues with a changed plan: the session's own file, edited in place, another file, or a patch of phases.

import { MaestroError } from "../../errors.ts";
import { MAX_PLAN_BYTES } from "../../plan/plan.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { ownPlan, planToPatch, revisePlan } from "../../store/revise.ts";
import { approvePlan, approveText, type CheckedPlan, settingsOf, withStore } from "../context.ts";
import { readInput } from "../input.ts";
import { type Io, printJson } from "../io.ts";

export interface ReviseOptions {
  patch?: string;
  json?: boolean;
}

export async function sessionRevise(io: Io, given: string | undefined, options: ReviseOptions): Promise<number> {
  if (given !== undefined && options.patch !== undefined) {
    throw new MaestroError("usage", "A revision is a plan or a patch, not both", {
      hint: "A patch changes the plan that the session follows: leave the plan out.",
    });
  }
  const settings = settingsOf(io);
  const approved =
    options.patch === undefined
      ? await approvePlan(io, settings, given ?? withStore(io, settings, ownPlan))
      : await patchedOwn(io, settings, options.patch);
  const { path, superseded, changes } = withStore(io, settings, (store) => revisePlan(store, approved));
  if (options.json) {
    printJson(io, { implementation_plan: path, superseded, changes });
    return 0;
  }
  io.out(`The session now follows ${path}\n`);
  for (const line of changes) io.out(`  ${line}\n`);
  if (superseded !== null) io.out(`The version before it is ${superseded}\n`);
  return 0;
}

async function patchedOwn(io: Io, settings: ResolvedSettings, source: string): Promise<CheckedPlan> {
  const { patchedPlan, readPatch } = await import("../../plan/patch.ts");
  const patch = await readInput(io, source, `the patch ${source}`, { limit: MAX_PLAN_BYTES });
  const phases = readPatch(Buffer.from(patch).toString("utf8"));
  const { path, bytes } = withStore(io, settings, planToPatch);
  return approveText(io, settings, path, Buffer.from(patchedPlan(bytes.toString("utf8"), phases)));
}

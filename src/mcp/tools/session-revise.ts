// The action `revise` of maestro_session_write: continues with a changed plan, which the user approved.

import { MaestroError } from "../../errors.ts";
import { readPlan } from "../../store/files/plan-file.ts";
import type { ApprovedPlan } from "../../store/operations.ts";
import { ownPlan, planToPatch, revisePlan } from "../../store/revise.ts";
import type { Answer } from "../answer.ts";
import type { Context } from "../tool.ts";
import { invalidPlan, planReport } from "./session-create.ts";

export interface Revision {
  plan_path?: string | undefined;
  phases?: Record<string, unknown>[] | undefined;
  user_decision?: boolean | undefined;
}

export async function revise(
  context: Context,
  input: Revision,
  refuseOther: (session: { seq: number }) => void,
): Promise<Answer> {
  if (input.user_decision !== true) {
    throw new MaestroError("usage", "A changed plan needs the user's approval", {
      hint: "Show the user what changes, and pass user_decision: true when the user agreed.",
    });
  }
  const { path, superseded, changes } = revisePlan(context.store, await planOf(context, input), refuseOther);
  const revision = context.store.session?.seq ?? 0;
  return { body: { implementation_plan: path, superseded, changes, revision }, rest: "The plan file has the rest." };
}

async function planOf(context: Context, { plan_path, phases }: Revision): Promise<ApprovedPlan> {
  if (plan_path !== undefined && phases !== undefined) {
    throw new MaestroError("usage", "A revision is a plan_path or phases, not both", {
      hint: "phases changes the plan that the session follows.",
    });
  }
  if (phases === undefined) {
    const read = readPlan(context.location, plan_path ?? ownPlan(context.store));
    return approved(context, read.path, read.bytes);
  }
  const { checkedPatch, patchedPlan } = await import("../../plan/patch.ts");
  const patch = checkedPatch(phases);
  const { path, bytes } = planToPatch(context.store);
  return approved(context, path, Buffer.from(patchedPlan(bytes.toString("utf8"), patch)));
}

function approved(context: Context, path: string, bytes: Buffer): ApprovedPlan {
  const report = planReport(context, bytes);
  if (report.plan === undefined) throw invalidPlan(report);
  return { plan: report.plan, bytes, path };
}

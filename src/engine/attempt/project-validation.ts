// Validates a phase that worked in the project itself: the commands run there, and the evidence names the git tree if there is one.

import type { PhaseId, TreeId } from "../../ids.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { lostText } from "../../session/deliverables.ts";
import { deliveryInProject } from "../integrate/deliverables.ts";
import { Stopping } from "../process/stopping.ts";
import type { RunContext } from "../run-context.ts";
import { startValidation, type ValidationResult, type ValidationRun } from "./validation.ts";

export function startProjectValidation(context: RunContext, phase: PhaseId): ValidationRun {
  const stopping = new Stopping();
  const begin = async (): Promise<ValidationResult> => {
    const tree = await treeOfProject(context);
    const subject = { cwd: context.projectRoot, tree, env: {}, wrap: <T>(command: T) => command };
    const result = await startValidation(context, phase, subject, stopping).done;
    return result.kind === "pass" ? ifDelivered(context, phase, result) : result;
  };
  return { phase, done: begin(), stop: stopping.stop };
}

/** A command may have deleted a file that the phase delivered. */
async function ifDelivered(
  context: RunContext,
  phase: PhaseId,
  passed: Exclude<ValidationResult, { kind: "stopped" }>,
): Promise<ValidationResult> {
  const delivery = await deliveryInProject(context, phase);
  const undelivered = delivery === null ? null : lostText(delivery);
  return undelivered === null ? passed : { ...passed, kind: "fail", detail: undelivered, code: "not_delivered" };
}

async function treeOfProject({ isolation, store }: RunContext): Promise<TreeId | null> {
  if (isolation.options.repository === null) return null;
  return (await isolation.tree.take(() => isolation.snapshot(requireSession(store.session)))).tree;
}

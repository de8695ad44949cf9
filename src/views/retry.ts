// What the user changed for a retry, in one line.

import type { Adjustments } from "../session/events.ts";
import { cut } from "./text/cell.ts";
import { roughly } from "./text/duration.ts";

const MAX_GUIDANCE = 80;

/** "reopened", "reopened 2 times"; empty when the user never reopened the phase. */
export function reopenedText({ reopened = 0 }: { reopened?: number }): string {
  return reopened === 0 ? "" : reopened === 1 ? "reopened" : `reopened ${reopened} times`;
}

/** "agent tester, a limit of 20 min, guidance: ..."; empty when nothing was changed. */
export function changesText(changed: Adjustments | undefined): string {
  if (changed === undefined) return "";
  const { agent, model, timeout_ms, criteria, guidance } = changed;
  return [
    ...(agent === undefined ? [] : [`agent ${agent}`]),
    ...(model === undefined ? [] : [`model ${cut(model, MAX_GUIDANCE)}`]),
    ...(timeout_ms === undefined ? [] : [`a limit of ${roughly(timeout_ms)}`]),
    ...(criteria === undefined ? [] : ["other criteria"]),
    ...(guidance === undefined ? [] : [`guidance: ${cut(guidance, MAX_GUIDANCE)}`]),
  ].join(", ");
}

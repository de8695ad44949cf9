// Lets another runtime take over when the quota of one will not come back in time.

import type { PhaseId } from "../ids.ts";
import { quotaHit } from "../session/decide/facts.ts";
import { decideNote, requirePhase, requireSession } from "../session/decide/operation.ts";
import type { Update } from "../store/session-store.ts";
import { runtimeOf } from "./attempt/attempt.ts";
import type { Lanes } from "./lanes.ts";
import type { RunContext } from "./run-context.ts";

interface Refused {
  phase: PhaseId;
  retryAfterMs: number | null;
  /** How many attempts were running. */
  running: number;
}

/** The provider has rejected an attempt: records the wait, and who takes over when it would be too long. */
export function recordRefusal(
  context: RunContext,
  lanes: Lanes,
  { phase, retryAfterMs, running }: Refused,
  update: Update,
): void {
  const { name: runtime } = runtimeOf(context, phase);
  if (context.cast.isSpent(runtime)) return;
  const quota = lanes.quota(runtime);
  const event = quota.refused(phase, retryAfterMs, running);
  if (event !== null) update(() => ({ events: [event], result: undefined }));
  if (quota.isExhausted) failOver(context, phase, runtime, update);
}

/** As when an attempt is rejected, for a quota that another session has found exhausted. */
export function failOverNow(context: RunContext, { phase, runtime }: { phase: PhaseId; runtime: string }): boolean {
  return context.store.updateAll((update) => failOver(context, phase, runtime, update));
}

/** Records that the wait is over and who takes over; false when no runtime can. */
function failOver(context: RunContext, phase: PhaseId, runtime: string, update: Update): boolean {
  const { cast, agents, now, store } = context;
  const agent = requirePhase(requireSession(store.session), phase).agents[0] ?? "";
  const next = cast.failOver(runtime, agents.get(agent)?.tier ?? "full");
  if (next === null) return false;
  const over = quotaHit({ phase, wait_ms: 0, until: now().toISOString(), slots: null });
  const text = `${runtime} has no quota left; ${next} takes over.`;
  update((session) => ({
    events: [over, ...decideNote(requireSession(session), text, phase, agent)],
    result: undefined,
  }));
  return true;
}

// What this process may record while another one runs the session: asked at every change, so that the front doors refuse what the
// engine would put in quarantine.

import type { Directory } from "../disk/contained.ts";
import { MaestroError } from "../errors.ts";
import type { ForeignVerdict } from "../session/decide/foreign-event.ts";
import type { SessionEvent } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import { drivingEngine } from "./engine-lock.ts";

/** Judges a change that another process than the engine makes. */
export type JudgeChange = (session: Session | undefined, change: readonly SessionEvent[]) => ForeignVerdict;

/** Under the lock, before anything is written. Without a judge (hooks) everything is refused. */
export function refuseForeign(
  state: Directory,
  session: Session | undefined,
  events: readonly SessionEvent[],
  judge: JudgeChange | undefined,
): void {
  const engine = drivingEngine(state);
  if (engine === undefined) return;
  const verdict = judge?.(session, events) ?? { refused: `${events[0]?.type} is recorded by the engine alone` };
  if ("refused" in verdict) throw isDriven(engine, verdict.refused);
}

/** For what changes files of the session without an event. */
export function refuseWhileDriven(state: Directory): void {
  const engine = drivingEngine(state);
  if (engine !== undefined) throw isDriven(engine, "the files of the session are not repaired while it is in use");
}

/** Why an edit of active-session.md is not adopted; undefined when it may be. `isEngine`: this process runs the session. */
export function whyUnadopted(state: Directory, isEngine: boolean): string | undefined {
  if (!isEngine && drivingEngine(state) === undefined) return undefined;
  return 'an engine runs the session, and edits decide nothing meanwhile; use "maestro skip", "maestro retry" or "maestro abort"';
}

function isDriven({ pid, since }: { pid: number; since: string }, why: string): MaestroError {
  return new MaestroError("environment", `The session is being run by process ${pid} since ${since}: ${why}`, {
    hint: 'Decide with "maestro skip", "maestro retry" or "maestro abort", wait for its end, or stop it first: "maestro stop".',
  });
}

// What this process may record while another process runs the session. Checked at every change, so that the command line, the MCP server
// and the hooks reject an event that the engine would quarantine.

import type { Directory } from "../disk/contained.ts";
import { MaestroError } from "../errors.ts";
import type { ForeignVerdict } from "../session/decide/foreign-event.ts";
import type { SessionEvent } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import { drivingEngine } from "./engine-lock.ts";

/** Judges a change made by a process other than the engine. */
export type JudgeChange = (session: Session | undefined, change: readonly SessionEvent[]) => ForeignVerdict;

/** Called under the lock, before anything is written. Without a judge (hooks) every change is rejected. */
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

/** For operations that change files of the session without recording an event. */
export function refuseWhileDriven(state: Directory): void {
  const engine = drivingEngine(state);
  if (engine !== undefined) throw isDriven(engine, "session files cannot be repaired while an engine uses them");
}

/** Why an edit of active-session.md cannot be adopted; undefined when it can. `isEngine`: this process runs the session. */
export function whyUnadopted(state: Directory, isEngine: boolean): string | undefined {
  if (!isEngine && drivingEngine(state) === undefined) return undefined;
  return 'edits are not adopted while an engine runs the session; use "maestro skip", "maestro retry" or "maestro abort"';
}

function isDriven({ pid, since }: { pid: number; since: string }, why: string): MaestroError {
  return new MaestroError("environment", `The session is being run by process ${pid} since ${since}: ${why}`, {
    hint: 'Decide with "maestro skip", "maestro retry" or "maestro abort", wait until the run ends, or stop it first: "maestro stop".',
  });
}

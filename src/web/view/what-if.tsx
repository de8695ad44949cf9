// What if: how long the session would have taken with other slots, without its retries, without its quota waits.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { durationText } from "../../views/text/duration.ts";
import { frame } from "../app/state.ts";
import { timelineOf, workedTime } from "../model/timeline.ts";
import { quotaMs, type WhatIf, whatIf } from "../model/what-if.ts";

const SLOTS = [1, 2, 3, 4, 6, 8, 12, Number.POSITIVE_INFINITY];

export function WhatIfView() {
  const now = frame.value;
  const withoutRetries = useSignal(false);
  const withoutQuota = useSignal(false);
  if (now === null) return null;
  const { session } = now;
  const at = new Date(now.now);
  const waited = quotaMs(session);
  const measured = workedTime(timelineOf(session, { ...now, critical: new Set() })) + waited;
  if (measured === 0) return <p class="empty">Nothing has run yet.</p>;
  const rows = SLOTS.map((slots) => ({
    slots,
    ...whatIf(session, { slots, withoutRetries: withoutRetries.value, withoutQuota: withoutQuota.value }, at),
  }));
  const [{ unmeasured = [], boundMs = 0 } = {}] = rows;
  const retries = session.phases.reduce((sum, { attempts }) => sum + Math.max(0, attempts.length - 1), 0);
  return (
    <div class="whatif">
      <p class="dim">
        The engine's own scheduler, run with the durations that were measured, without time in which no agent ran. It
        does not guess what an agent would have done otherwise.
      </p>
      <div class="tools">
        <Condition isMet={withoutRetries} isPossible={retries > 0}>
          Without the {retries < 2 ? "retry" : `${retries} retries`}
        </Condition>
        <Condition isMet={withoutQuota} isPossible={waited > 0}>
          Without the quota wait{waited > 0 && ` (${durationText(waited)})`}
        </Condition>
      </div>
      <Durations measured={measured} rows={rows} />
      <p class="dim">
        No number of slots is faster than the critical path: {durationText(boundMs)}.
        {unmeasured.length > 0 &&
          ` Without a measured duration, and left out: ${unmeasured.slice(0, 8).join(", ")}${unmeasured.length > 8 ? ", …" : ""}.`}
      </p>
    </div>
  );
}

interface ConditionProps {
  isMet: Signal<boolean>;
  /** A session without a retry cannot be computed without it. */
  isPossible: boolean;
  children: ComponentChildren;
}

function Condition({ isMet, isPossible, children }: ConditionProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isMet.value}
        disabled={!isPossible}
        onChange={({ currentTarget }) => (isMet.value = currentTarget.checked)}
      />
      {children}
    </label>
  );
}

function Durations({ measured, rows }: { measured: number; rows: readonly (WhatIf & { slots: number })[] }) {
  const longest = Math.max(measured, ...rows.map(({ makespanMs }) => makespanMs));
  const bar = (ms: number) => ({ width: `${((ms / longest) * 100).toFixed(2)}%` });
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Slots</th>
          <th scope="col">Duration</th>
          <th scope="col">Against measured</th>
          <th scope="col" class="wide">
            <span class="unseen">Bar</span>
          </th>
        </tr>
      </thead>
      <tbody>
        <tr class="measured">
          <th scope="row">measured</th>
          <td class="narrow">{durationText(measured)}</td>
          <td />
          <td class="wide">
            <i class="length" style={bar(measured)} />
          </td>
        </tr>
        {rows.map(({ slots, makespanMs }) => (
          <tr key={slots}>
            <th scope="row">{Number.isFinite(slots) ? slots : "no limit"}</th>
            <td class="narrow">{durationText(makespanMs)}</td>
            <td>{difference(makespanMs, measured)}</td>
            <td class="wide">
              <i class="length" style={bar(makespanMs)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function difference(ms: number, measured: number): string {
  const percent = Math.round((ms / measured - 1) * 100);
  return percent === 0 ? "the same" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`;
}

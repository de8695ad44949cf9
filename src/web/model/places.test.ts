// What every view says of attempts that workers run, and of one that waits for a worker. It is here because this folder sees all views.

import { expect, test } from "vitest";
import {
  at,
  begin,
  claim,
  end,
  eventsOf,
  move,
  phase,
  plain,
  sessionOf,
  type Timed,
} from "../../../test/support/sample-session.ts";
import { positionOf } from "../../session/position.ts";
import { findPhase } from "../../session/session.ts";
import { liveFrame } from "../../views/live/live.ts";
import { progressLine } from "../../views/live/progress.ts";
import { newsOf } from "../../views/record/news.ts";
import { sessionJson } from "../../views/record/session-json.ts";
import { reportLines } from "../../views/report/report.ts";
import { reportJson } from "../../views/report/report-json.ts";
import { statusLines } from "../../views/status.ts";
import { timelineOf } from "./timeline.ts";
import { whyOf } from "./why.ts";

/** Phase 1 ran on a worker after 20 s in the queue, phase 2 runs on one, phase 3 waits for one with a GPU, phase 4 runs here. */
const plan = [phase("1"), phase("2"), phase("3", { needs: ["gpu"] }), phase("4")];
const offered = (second: number, id: string): Timed[] => [
  move(second, id, "pending", "in_progress"),
  begin(second, id, 1, { remote: true }),
];
const timed: Timed[] = [
  ...offered(0, "1"),
  claim(20, "1", "anvil"),
  end(30, "1", 10),
  move(30, "1", "in_progress", "completed"),
  ...offered(40, "2"),
  claim(60, "2", "forge"),
  ...offered(50, "3"),
  move(50, "4", "pending", "in_progress"),
  begin(50, "4"),
];
const session = sessionOf(plan, timed);
const now = at(100);

test("the live table says on which worker an attempt runs, since when, and that one waits", () => {
  const live = { slots: null, activity: new Map([["2", "Editing a.ts"]]), now, engine: { pid: 1 } };
  const frame = liveFrame(session, live, plain, { columns: 110, rows: 30 });
  const row = (id: string) => frame.find((line) => new RegExp(`^\\s*\\S +${id} `).test(line)) ?? "";
  expect(row("2")).toMatch(/running +0:40 .*on worker forge: Editing a\.ts/);
  expect(row("3")).toMatch(/queued +0:50 .*waits for a worker/);
  expect(row("4")).toMatch(/running +0:50/);
  expect(row("4")).not.toContain("worker");
});

test("the status says where a phase ran, runs or waits", () => {
  const lines = statusLines(session, positionOf(session), null, now, plain, true).join("\n");
  expect(lines).toMatch(/completed in 30 s on worker anvil/);
  expect(lines).toMatch(/in progress on worker forge/);
  expect(lines).toMatch(/3 .*waits for a worker/);
});

test("the report lists the workers, and time in the queue is not counted as work", () => {
  const input = { prices: new Map(), now, missingFiles: [] };
  const lines = reportLines(session, { ...input, paint: plain, width: 100 }).join("\n");
  expect(lines).toContain("- phase 1: attempt 1 on worker anvil");
  expect(lines).toContain("- phase 3: attempt 1 waits for a worker");
  expect(lines).not.toMatch(/phase 4: attempt/);
  const { phases } = reportJson(session, input);
  expect(phases.map(({ worked_ms }) => worked_ms)).toEqual([10_000, 40_000, null, 50_000]);
  expect(phases[0]?.attempts[0]).toMatchObject({ worker: "anvil", start: at(20).toISOString() });
  expect(phases[2]?.attempts[0]).toMatchObject({ outcome: "queued" });
});

test("JSON has the worker and the time of the claim", () => {
  const { phases } = sessionJson(session);
  expect(phases[0]?.attempts[0]).toMatchObject({ remote: true, worker: "anvil", claimed: at(20).toISOString() });
  expect(phases[3]?.attempts[0]).not.toHaveProperty("worker");
});

test("the timeline draws the queue as a wait and begins the bar with the claim", () => {
  const { rows } = timelineOf(session, { now: now.getTime(), isDriven: true, critical: new Set() });
  const second = (time: number) => (time - at(0).getTime()) / 1000;
  const waits = rows.map((row) =>
    row.waits.filter(({ kind }) => kind === "queue").map((one) => [second(one.from), second(one.to)]),
  );
  expect(waits).toEqual([[[0, 20]], [[40, 60]], [[50, 100]], []]);
  expect(rows.map(({ bars }) => bars.map((bar) => [second(bar.from), second(bar.to), bar.worker]))).toEqual([
    [[20, 30, "anvil"]],
    [[60, 100, "forge"]],
    [],
    [[50, 100, undefined]],
  ]);
});

test("the page says why a phase does not run: no worker with its labels has taken it", () => {
  const why = (id: string) => {
    const found = findPhase(session, id);
    return found === undefined
      ? undefined
      : whyOf(session, found, { now: now.getTime(), slots: null, isDriven: true })?.text;
  };
  expect(why("2")).toBe("Attempt 1 of coder is running on worker forge.");
  expect(why("3")).toBe("Attempt 1 of coder waits for a worker with gpu.");
  expect(why("4")).toBe("Attempt 1 of coder is running.");
});

test("logs and news name the worker", () => {
  const events = eventsOf(plan, timed);
  const lines = events.flatMap((event) => progressLine(event, session) ?? []);
  expect(lines).toContainEqual(expect.stringContaining("phase 2 coder  waits for a worker (attempt 1)"));
  expect(lines).toContainEqual(expect.stringContaining("phase 2 coder  runs on worker forge (attempt 1)"));
  const news = events.flatMap((event) => newsOf(event, session)?.line ?? []);
  expect(news).toContain("phase 2 runs on worker forge");
  expect(news).toContain("phase 3: attempt 1 waits for a worker (coder)");
});

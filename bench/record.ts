// Measures the cost of recording one transition in a long-lived process, durability on, with 5 and with 5,000 phases. Interleaved rounds.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plan } from "../src/plan/plan.ts";
import { locateState } from "../src/store/location.ts";
import { createSession, movePhase } from "../src/store/operations.ts";
import { SessionStore } from "../src/store/session-store.ts";
import { reviewView } from "../src/store/view/view-review.ts";
import { median, report, time } from "./support/measure.ts";

const ROUNDS = 400;
const root = mkdtempSync(join(tmpdir(), "maestro-bench-record-"));

const open = (phases: number) => {
  const project = mkdtempSync(join(root, "project-"));
  const store = new SessionStore(locateState(project, ".gemini"), {
    now: () => new Date(),
    warn: console.error,
    review: (session, text, sessionAt) => reviewView(session, text, 2, sessionAt),
    viewDelayMs: 200,
  });
  const plan: Plan = {
    title: "Bench",
    design_ref: null,
    created: null,
    status: null,
    phases: Array.from({ length: phases }, (_, index) => ({
      id: String(index + 1),
      title: `Phase ${index + 1}`,
      agent: "coder",
      description: "Work.",
      validation_criteria: ["it works"],
      validation: [],
      parallel: true,
      blocked_by: [],
      files_created: [`src/file-${index}.ts`],
      files_modified: [],
      files_deleted: [],
    })),
  };
  createSession(store, {
    plan,
    bytes: Buffer.from(""),
    path: "plan.md",
    task: null,
    executionMode: null,
    now: new Date(),
  });
  store.flush();
  return store;
};

const move = (store: SessionStore, round: number) => {
  const to = round % 2 === 0 ? "in_progress" : "failed";
  movePhase(store, { phase: "1", to, userDecision: true, maxRetries: 2, now: new Date() });
};

const stores = { small: open(5), large: open(5000) };
const times = { small: [] as number[], large: [] as number[], drawing: [] as number[] };
let round = 0;

/** One round per tick, so that the timers that draw the view run in between, as in a server. */
const tick = () => {
  times.small.push(time(() => move(stores.small, round)));
  times.large.push(time(() => move(stores.large, round)));
  round += 1;
  if (round % 50 === 0) times.drawing.push(time(() => stores.large.flush()));
  if (round < ROUNDS) return void setImmediate(tick);
  report("one transition, 5 phases (median)", median(times.small), "ms");
  report("one transition, 5,000 phases (median)", median(times.large), "ms");
  report("ratio", median(times.large) / median(times.small), "x", 1.5);
  report("drawing the view of 5,000 phases (median)", median(times.drawing), "ms");
  stores.small.close();
  stores.large.close();
  rmSync(root, { recursive: true });
};
tick();

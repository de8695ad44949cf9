// kill -9 of engine and worker at every step between the record of an attempt and the end that is recorded for it. Whatever dies, the phase
// is completed once, and no step leaves anything behind that the next one does not clear.

import { describe, expect, test, vi } from "vitest";
import { chaosRounds as chaos } from "../support/crash-points.ts";
import { allGone, TEST_TIMEOUT_MS } from "../support/processes.ts";
import { played } from "../support/stand-in.ts";
import { type RemoteProject, shortLease, within } from "../support/workers.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const phase = played(1, [["shell", "echo done > done.txt"]], { files_created: ["done.txt"] }, [
  ["shell", "echo done > done.txt"],
]);

/** In the order in which an attempt reaches them. The gate visits one of each kind, `npm run chaos` all. */
const ofEngine = [
  "order-made",
  "order-pushed",
  "job-in-queue",
  "job-added",
  "claim-recorded",
  "delivery-fetched",
  "delivery-taken",
];
const ofWorker = [
  "order-claimed",
  "order-accepted",
  "worktree-ready",
  "agent-ended",
  "delivery-spooled",
  "delivery-pushed",
];
const gate = new Set(["order-made", "job-in-queue", "job-added", "delivery-taken", "order-accepted", "agent-ended"]);
const visited = (points: string[]) => points.filter((point) => chaos > 0 || gate.has(point));
const dying = (point: string) => ({ NODE_ENV: "test", MAESTRO_CRASH_AT: `${point}:1` });

function expectOnce(project: RemoteProject): void {
  expect(project.read("done.txt")).toBe("done\n");
  const ends = project.events("attempt.finished").map(({ outcome }) => outcome);
  expect([ends.filter((one) => one === "success").length, ends.at(-1)]).toEqual([1, "success"]);
  expect(project.events("phase.error_added")).toEqual([]);
  expect(project.worktrees()).toEqual([]);
  expect(project.health()).toEqual({ worktrees: 1, damage: "" });
}

describe.concurrent("kill -9", () => {
  for (const point of visited(ofEngine)) {
    test(`of the engine at ${point}: the next engine completes the phase once`, async (context) => {
      await within(context, [phase], async (project) => {
        const worker = await project.worker();
        const killed = await project.engine([], dying(point)).ended;
        expect(killed.signal).toBe("SIGKILL");
        const run = await project.resumed().ended;
        expect(run.code).toBe(0);
        expectOnce(project);
        expect(project.notes("start").length).toBe(1);
        worker.child.kill("SIGTERM");
        await worker.ended;
        await allGone(project);
      });
    });
  }

  for (const point of visited(ofWorker)) {
    test(`of the worker at ${point}: the phase is completed once`, async (context) => {
      await within(
        context,
        [phase],
        async (project) => {
          const first = await project.worker({ env: dying(point) });
          const engine = project.engine();
          await first.ended;
          const next = await project.worker({ home: first.home });
          expect((await engine.ended).code).toBe(0);
          expectOnce(project);
          next.child.kill("SIGTERM");
          await next.ended;
          await allGone(project);
        },
        shortLease,
      );
    });
  }
});

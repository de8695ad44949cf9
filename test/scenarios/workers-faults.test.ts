// What happens to an attempt on a worker when something dies: the fault table of docs/workers.md, row by row, with real processes.

import { renameSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { type Background, isAlive, TEST_TIMEOUT_MS, until } from "../support/processes.ts";
import { played, type Steps, scripted } from "../support/stand-in.ts";
import { type RemoteProject, shortLease, within } from "../support/workers.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

/** Of `shortLease`, with two sweeps. */
const LONGER_THAN_A_LEASE_MS = 5_000;

const write = "echo done > done.txt";
/** The first attempt waits for the file `go` after it has begun; others work at once. */
const waiting = (first: Steps = []) =>
  scripted(
    1,
    { 1: [...first, ["signal", "go"], ["shell", write]], "*": [["shell", write]] },
    { files_created: ["done.txt"] },
  );

const started = (project: RemoteProject, count = 1) =>
  until(`${count} agents have started`, () => project.notes("start").length >= count);

async function completed(project: RemoteProject, engine: Background): Promise<void> {
  const run = await engine.ended;
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("completed")]);
  expect(project.read("done.txt")).toBe("done\n");
}

const outcomes = (project: RemoteProject) => project.events("attempt.finished").map(({ outcome }) => outcome);

// Most of the time of these tests is waiting for a lease to end.
describe.concurrent("an attempt on a worker", () => {
  test("whose worker is killed is interrupted and uncounted, its agent is ended, and another worker takes over", async (context) => {
    await within(
      context,
      [waiting()],
      async (project) => {
        const first = await project.worker();
        const engine = project.engine();
        await started(project);
        const [agent] = project.notes("start");
        await project.worker();
        first.child.kill("SIGKILL");
        await until("the agent is gone", () => !isAlive(agent?.pid ?? 0));
        await completed(project, engine);
        expect(outcomes(project)).toEqual(["interrupted", "success"]);
        expect(project.events("phase.error_added")).toEqual([]);
      },
      shortLease,
    );
  });

  test("whose worker freezes is run elsewhere, and what the frozen worker delivers later does not count", async (context) => {
    await within(
      context,
      [waiting()],
      async (project) => {
        const first = await project.worker();
        const engine = project.engine();
        await started(project);
        first.child.kill("SIGSTOP");
        await project.worker();
        await started(project, 2);
        first.child.kill("SIGCONT");
        await completed(project, engine);
        expect(outcomes(project)).toEqual(["interrupted", "success"]);
        expect(project.notes("start").map(({ attempt }) => attempt)).toEqual([1, 2]);
      },
      shortLease,
    );
  });

  test("whose worker cannot reach the queue is stopped by that worker's own clock", async (context) => {
    await within(
      context,
      [waiting()],
      async (project) => {
        await project.worker();
        const engine = project.engine();
        await started(project);
        const [agent] = project.notes("start");
        await project.redis.kill("SIGSTOP");
        await until("the agent is gone", () => !isAlive(agent?.pid ?? 0), 8_000);
        await project.redis.kill("SIGCONT");
        await completed(project, engine);
        expect(outcomes(project)).toEqual(["interrupted", "success"]);
      },
      shortLease,
    );
  });

  test("that ended before its worker died is delivered by the restarted worker", async (context) => {
    await within(context, [played(1, [["shell", write]], { files_created: ["done.txt"] })], async (project) => {
      const env = { NODE_ENV: "test", MAESTRO_CRASH_AT: "delivery-spooled:1" };
      const first = await project.worker({ env });
      const engine = project.engine();
      await first.ended;
      await project.worker({ home: first.home });
      await completed(project, engine);
      expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
    });
  });

  test("continues when its engine dies, and the next engine takes its delivery", async (context) => {
    await within(context, [waiting()], async (project) => {
      await project.worker();
      const engine = project.engine();
      await started(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      project.signal("go");
      await until("the delivery is there", () => project.orders().some((ref) => ref.includes("/out/")));
      await completed(project, project.resumed());
      expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
    });
  });

  test("is waited for by the next engine while its worker runs it", async (context) => {
    await within(context, [waiting()], async (project) => {
      await project.worker();
      const engine = project.engine();
      await started(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      const next = project.resumed();
      await until(
        "the next engine runs",
        () => project.events("session.status_changed").length > 0 || next.stderr() !== "",
      );
      project.signal("go");
      await completed(project, next);
      expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
    });
  });

  test("stays in the queue when its engine dies before a worker took it", async (context) => {
    await within(context, [played(1, [["shell", write]], { files_created: ["done.txt"] })], async (project) => {
      const engine = project.engine();
      await until("the attempt is queued", () => project.orders().length === 1);
      engine.child.kill("SIGKILL");
      await engine.ended;
      const next = project.resumed();
      await project.worker();
      await completed(project, next);
      expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
    });
  });

  test("is not disturbed when Redis is down for less than a lease", async (context) => {
    await within(context, [waiting()], async (project) => {
      await project.worker();
      const engine = project.engine();
      await started(project);
      await project.redis.kill();
      await project.redis.start();
      project.signal("go");
      await completed(project, engine);
      expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
    });
  });

  test("that ends while Redis is down for longer than a lease is taken from the exchange, and not run again", async (context) => {
    await within(
      context,
      [waiting()],
      async (project) => {
        await project.worker();
        const engine = project.engine();
        await started(project);
        await project.redis.kill();
        const downSince = performance.now();
        project.signal("go");
        await until("the delivery is there", () => project.orders().some((ref) => ref.includes("/out/")));
        await setTimeout(LONGER_THAN_A_LEASE_MS - (performance.now() - downSince));
        await project.redis.start();
        await completed(project, engine);
        expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
      },
      shortLease,
    );
  });

  test("is taken from the exchange when the queue has given it up", async (context) => {
    await within(
      context,
      [played(1, [["shell", write]], { files_created: ["done.txt"] })],
      async (project) => {
        const env = { NODE_ENV: "test", MAESTRO_CRASH_AT: "delivery-pushed:1" };
        await project.worker({ env });
        await completed(project, project.engine());
        expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
      },
      shortLease,
    );
  });

  test("is added again when Redis has lost everything before a worker took it", async (context) => {
    await within(context, [played(1, [["shell", write]], { files_created: ["done.txt"] })], async (project) => {
      const engine = project.engine();
      await until("the attempt is queued", () => project.orders().length === 1);
      await project.redis.send("FLUSHALL");
      await project.worker();
      await completed(project, engine);
      expect(outcomes(project)).toEqual(["success"]);
    });
  });

  test("that has ended is taken from the exchange when Redis has lost everything", async (context) => {
    await within(context, [waiting()], async (project) => {
      await project.worker();
      const engine = project.engine();
      await started(project);
      engine.child.kill("SIGSTOP");
      project.signal("go");
      await until("the delivery is there", () => project.orders().some((ref) => ref.includes("/out/")));
      await project.redis.send("FLUSHALL");
      engine.child.kill("SIGCONT");
      await completed(project, engine);
      expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
    });
  });

  test("is given up by a worker that cannot fetch the order, and run when the exchange is back", async (context) => {
    await within(
      context,
      [scripted(1, { "*": [["shell", write]] }, { files_created: ["done.txt"] })],
      async (project) => {
        const away = `${project.exchange}.away`;
        const worker = await project.worker();
        worker.child.kill("SIGSTOP");
        const engine = project.engine();
        await until("the attempt is queued", () => project.orders().length === 1);
        renameSync(project.exchange, away);
        worker.child.kill("SIGCONT");
        await until("the worker gives it up", () => worker.stderr().includes("takes no order until"));
        renameSync(away, project.exchange);
        await completed(project, engine);
        expect([outcomes(project), project.notes("start").length]).toEqual([["interrupted", "success"], 1]);
      },
      shortLease,
    );
  });

  test("is not claimed by a worker with another exchange", async (context) => {
    await within(context, [played(1, [["shell", write]], { files_created: ["done.txt"] })], async (project) => {
      const right = project.address;
      project.address = `${right}.wrong`;
      const wrong = await project.worker({ name: "wrong" });
      await until("it says so", () => wrong.stderr().includes("takes no order until"));
      project.address = right;
      await project.worker({ name: "right" });
      await completed(project, project.engine());
      expect(project.events("attempt.claimed").map(({ worker }) => worker)).toEqual(["right"]);
      wrong.child.kill("SIGTERM");
      expect((await wrong.ended).code).toBe(0);
    });
  });

  test("is delivered when the exchange is back", async (context) => {
    await within(context, [waiting()], async (project) => {
      const worker = await project.worker();
      const engine = project.engine();
      await started(project);
      renameSync(project.exchange, `${project.exchange}.away`);
      project.signal("go");
      await until("the worker tries again", () => worker.stderr().includes("Trying again"));
      renameSync(`${project.exchange}.away`, project.exchange);
      await completed(project, engine);
      expect([outcomes(project), project.notes("start").length]).toEqual([["success"], 1]);
    });
  });
});

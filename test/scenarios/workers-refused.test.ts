// Content that an exchange never accepts, and messages about deliveries that do not exist: the engine waits for neither.

import { execFileSync } from "node:child_process";
import { describe, expect, test, vi } from "vitest";
import { TEST_TIMEOUT_MS, until } from "../support/processes.ts";
import { played, type Steps } from "../support/stand-in.ts";
import { type RemoteProject, within } from "../support/workers.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const one = (...steps: Steps) => [played(1, steps, { files_created: ["one.txt"] })];
const large: Steps[number] = ["shell", "head -c 300000 /dev/urandom > one.txt"];
const limited = (project: RemoteProject) =>
  execFileSync("git", ["config", "receive.maxInputSize", "50k"], { cwd: project.exchange });
const noRetry = { MAESTRO_MAX_RETRIES: "0" };

describe.concurrent("an attempt on a worker", () => {
  test("fails when its work is larger than the exchange accepts, and says so; what the agent printed arrives", async (context) => {
    await within(context, one(large), async (project) => {
      limited(project);
      const worker = await project.worker();
      expect((await project.engine([], noRetry).ended).code).toBe(4);
      expect(project.errorsOf("1")).toContain("pack exceeds maximum allowed size");
      expect(project.events("attempt.finished").map(({ outcome }) => outcome)).toEqual(["failure"]);
      expect(project.exists("one.txt")).toBe(false);
      expect(project.eventsOf("1", "phase.handed_off").length).toBe(1);
      worker.child.kill("SIGTERM");
      expect((await worker.ended).code).toBe(0);
    });
  });

  test("fails when git rejects what it wrote as dangerous", async (context) => {
    const hostile = "printf '[submodule \"a\"]\\n path = a\\n url = -x\\n' > .gitmodules; echo one > one.txt";
    await within(context, one(["shell", hostile]), async (project) => {
      await project.worker();
      expect((await project.engine([], noRetry).ended).code).toBe(4);
      expect(project.errorsOf("1")).toContain("gitmodulesUrl");
    });
  });

  test("is not offered when the project is larger than the exchange accepts, and says so", async (context) => {
    await within(context, one(["shell", "echo one > one.txt"]), async (project) => {
      limited(project);
      project.run("sh", ["-c", "head -c 300000 /dev/urandom > large.bin"]);
      await project.worker();
      expect((await project.engine([], noRetry).ended).code).toBe(4);
      expect(project.errorsOf("1")).toContain("The attempt cannot be offered: The exchange rejects the push");
      expect(project.notes("start")).toEqual([]);
    });
  });

  test("is not harmed by a process that announces a delivery in the queue without the key", async (context) => {
    await within(context, one(["signal", "go"], ["shell", "echo one > one.txt"]), async (project) => {
      await project.worker();
      const engine = project.engine();
      await until("the agent works", () => project.notes("start").length === 1);
      const [order = ""] = project.orders();
      const commit = execFileSync("git", ["rev-parse", order], { cwd: project.exchange, encoding: "utf8" }).trim();
      const channels = await project.redis.send("PUBSUB", "CHANNELS", "maestro:signs:*");
      const [channel = ""] = /maestro:signs:\S+/.exec(channels) ?? [];
      const sign = { key: order.split("/").at(-1), worker: "evil", kind: "finished", commit };
      expect(await project.redis.send("PUBLISH", channel, JSON.stringify(sign))).toBe(":1\r\n");
      project.signal("go");
      expect((await engine.ended).code).toBe(0);
      expect(project.events("attempt.finished").map(({ outcome }) => outcome)).toEqual(["success"]);
    });
  });
});

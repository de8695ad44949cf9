// Attempts that run on workers: real worker processes with homes of their own, a real Redis, and a bare repository between them.

import { afterAll, describe, expect, type TestContext, test, vi } from "vitest";
import { TEST_TIMEOUT_MS, withRemoved } from "../support/processes.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { played } from "../support/stand-in.ts";
import { RemoteProject } from "../support/workers.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

let server: TestRedis | undefined;
afterAll(async () => server?.close());

/** One server for all tests of this file. */
async function ours(context: TestContext): Promise<TestRedis> {
  server ??= await startRedis(context);
  return server;
}

const two = [
  played(1, [["shell", "echo one > one.txt"]], { files_created: ["one.txt"] }),
  played(2, [["shell", "cat one.txt > two.txt"]], { files_created: ["two.txt"], blocked_by: [1] }),
];

describe("a plan on workers", () => {
  test("is run by a worker, and its work is merged into the project", async (context) => {
    const redis = await ours(context);
    await withRemoved(new RemoteProject(redis, { "README.md": "hello\n" }, two), async (project) => {
      await project.worker({ name: "anvil" });
      const run = await project.engine().ended;
      expect(run.code).toBe(0);
      expect(project.read("two.txt")).toBe("one\n");
      expect(project.events("attempt.claimed").map(({ worker }) => worker)).toEqual(["anvil", "anvil"]);
    });
  });
});

// Without workers nothing of them is loaded: a local run and doctor start as fast as before there were any.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { spawned, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { maestroPath, planPath, root } from "../support/project.ts";
import { played, prepare } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

/** The files of dist/ with the client of the queue. */
const remote = readdirSync(join(root, "dist")).filter(
  (name) => name.startsWith("maestro") && /BullMQ|ioredis/i.test(readFileSync(join(root, "dist", name), "utf8")),
);

test("a local run and doctor load no code of the queue's client, and a worker does", () =>
  withProcesses(async (project) => {
    const agent = prepare(project, [played(1, [])]);
    const hook = project.write(
      ".bin/loaded.cjs",
      'process.on("exit", () => require("fs").writeFileSync(process.env.LOADED, Object.keys(require.cache).join("\\n")));\n',
    );
    const loadedBy = async (name: string, words: string[], env: Record<string, string> = {}) => {
      const own = agent.env({ LOADED: join(project.path, name), ...env });
      const run = await spawned(project, process.execPath, ["--require", hook, maestroPath, ...words], own).ended;
      const files = project.read(name).split("\n");
      return { code: run.code, remote: remote.filter((file) => files.some((path) => path.endsWith(`/${file}`))) };
    };
    expect(remote.length).toBeGreaterThan(0);
    const [run, doctor, workers] = await Promise.all([
      loadedBy("run", ["run", planPath]),
      loadedBy("doctor", ["doctor"]),
      loadedBy("workers", ["workers", "--queue", "redis://127.0.0.1:1"]),
    ]);
    expect(run).toEqual({ code: 0, remote: [] });
    expect(doctor.remote).toEqual([]);
    // The check itself can fail.
    expect([workers.code, workers.remote.length]).toEqual([3, expect.any(Number)]);
    expect(workers.remote).not.toEqual([]);
  }));

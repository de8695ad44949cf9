// A run on one machine loads nothing of what workers need.

import { existsSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { IsolatedProject } from "../support/isolated.ts";
import { maestro, TEST_TIMEOUT_MS, withRemoved } from "../support/processes.ts";
import { planPath } from "../support/project.ts";
import { played } from "../support/stand-in.ts";
import { KEY } from "../support/workers.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

/** A word of BullMQ's scripts, which no other code has. */
const QUEUE_CODE = "moveStalledJobsToWait";

/** The files of dist/ that a command loads, by whether they have the code of the queue. */
async function loadedBy(project: IsolatedProject, words: string[]): Promise<{ all: string[]; queue: string[] }> {
  const list = `${project.path}/.bin/loaded`;
  const code = `process.on("exit",()=>require("fs").writeFileSync(${JSON.stringify(list)},Object.keys(require.cache).join("\\n")))`;
  const probe = project.write(".bin/probe.cjs", code);
  const env = { ...project.agents.env(), NODE_OPTIONS: `--require=${probe}`, MAESTRO_WORKER_KEY: KEY };
  await maestro(project, words, env);
  const all = existsSync(list)
    ? readFileSync(list, "utf8")
        .split("\n")
        .filter((path) => path.includes("/dist/"))
    : [];
  return { all, queue: all.filter((path) => readFileSync(path, "utf8").includes(QUEUE_CODE)) };
}

test("a run on one machine loads no code of the queue, and a worker does", async () => {
  const phase = played(1, [["shell", "echo one > one.txt"]], { files_created: ["one.txt"] });
  await withRemoved(new IsolatedProject({ "README.md": "hello\n" }, [phase]), async (project) => {
    const run = await loadedBy(project, ["run", planPath, "--mode", "parallel", "--isolation", "worktree"]);
    expect([project.read("one.txt"), run.queue]).toEqual(["one\n", []]);
    expect(run.all.filter((path) => /maestro-(?:worker|open-remote)/.test(path))).toEqual([]);
    const worker = await loadedBy(project, ["worker", "--queue", "redis://127.0.0.1:1", "--exchange", "/nowhere"]);
    expect(worker.queue.length).toBe(1);
  });
});

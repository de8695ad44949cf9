// The cost of a sandbox's allow list: building it, and starting a program with it, compared with the program alone.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { cellFor } from "../../../src/engine/sandbox/cell.ts";
import { findSandbox, inSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { report, time } from "../measure.ts";
import { reportRounds } from "./rivals.ts";

export function measureSandbox(): void {
  const found = findSandbox(process.env);
  if (found.kind === "missing") {
    console.log(`  Not measured: ${found.reason}. ${found.hint}`);
    return;
  }
  const root = mkdtempSync(join(tmpdir(), "maestro-bench-sandbox-"));
  const project = join(root, "project");
  const worktree = join(root, "worktree");
  for (const path of [project, worktree, join(project, ".gemini")]) mkdirSync(path);
  const place = {
    worktree,
    projectRoot: project,
    stateDir: join(project, ".gemini"),
    repository: null,
    program: "/bin/true",
    env: { HOME: homedir(), PATH: process.env.PATH },
  };
  const cell = cellFor(place);
  report("places on the allow list of this machine", cell.mounts.length, "");
  const inside = inSandbox(found.program, { program: "/bin/true", args: [] }, cell, found.scope);
  const start = (program: string, args: readonly string[]) => {
    const { status, stderr } = spawnSync(program, args, { cwd: worktree, stdio: ["ignore", "ignore", "pipe"] });
    if (status !== 0) throw new Error(`${program}: ${stderr}`);
  };
  reportRounds(
    {
      "making the list": () => cellFor(place),
      "/bin/true alone": () => start("/bin/true", []),
      "/bin/true in the sandbox": () => start(inside.program, inside.args),
    },
    21,
    time,
  );
  rmSync(root, { recursive: true });
}

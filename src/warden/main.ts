// The warden of a run: a separate process that starts the agents and waits for the engine to end. However the engine ends, even by kill -9,
// the pipe between them closes, and the warden kills every process tree that the engine had not ended itself.
// argv: <run id> <grace in ms>. stdin: one line each, "*<JSON>" starts a process (StartRequest), "+<id>" names a process group that
// something else started, "-<id>" one that has ended, "!": no grace period. stdout: "ready", then one StartReport as JSON per line.

import { spawn } from "node:child_process";
import { READY, type StartReport, type StartRequest } from "../engine/process/start-request.ts";
import { endAll } from "../engine/process/tree.ts";
import { errno, reasonOf } from "../errors.ts";

const [run = "", grace = "5000"] = process.argv.slice(2);
const groups = new Set<number>();
let isHurried = false;
let unfinished = "";

// Ignore signals that end the engine, because the warden must outlive it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
// The engine, which read the reports, has exited.
process.stdout.on("error", () => undefined);

process.stdout.write(`${READY}\n`);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = `${unfinished}${chunk}`.split("\n");
  unfinished = lines.pop() ?? "";
  for (const line of lines) {
    const group = Number(line.slice(1));
    if (line.startsWith("*")) start(JSON.parse(line.slice(1)));
    else if (line === "!") isHurried = true;
    else if (line.startsWith("+")) groups.add(group);
    else groups.delete(group);
  }
});
process.stdin.on("end", async () => {
  await endAll({ groups, runs: new Set([run]) }, Number(grace), () => isHurried);
  process.exit(0);
});

/** Starts a process in a group of its own. Its group stays known until the engine says that it has ended. */
function start({ id, words, cwd, env }: StartRequest): void {
  const [program = "", ...args] = words;
  const fail = (error: unknown) => tell({ id, failure: reasonOf(error) });
  try {
    const child = spawn(program, args, { cwd, env, stdio: "ignore", detached: true });
    child.once("error", (error) => {
      if (child.pid === undefined) fail(error);
    });
    if (child.pid === undefined) return;
    groups.add(child.pid);
    tell({ id, pid: child.pid });
    child.once("exit", (code, signal) => tell({ id, code, signal }));
  } catch (error) {
    // Node throws some errors (arguments that are too long) and emits others.
    if (errno(error) === undefined) throw error;
    fail(error);
  }
}

function tell(report: StartReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

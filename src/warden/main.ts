// The warden of a run: a separate process that waits for the engine to end. However the engine ends, even by kill -9, the pipe between
// them closes, and the warden kills every process tree that the engine had not ended itself.
// argv: <run id> <grace in ms>. stdin: one line per process group, "+<id>" when it starts, "-<id>" when it has ended; "!": no grace period.

import { endAll } from "../engine/process/tree.ts";

const [run = "", grace = "5000"] = process.argv.slice(2);
const groups = new Set<number>();
let isHurried = false;
let unfinished = "";

// Ignore signals that end the engine, because the warden must outlive it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

process.stdin.setEncoding("latin1");
process.stdin.on("data", (chunk) => {
  const lines = `${unfinished}${chunk}`.split("\n");
  unfinished = lines.pop() ?? "";
  for (const line of lines) {
    const group = Number(line.slice(1));
    if (line === "!") isHurried = true;
    else if (line.startsWith("+")) groups.add(group);
    else groups.delete(group);
  }
});
process.stdin.on("end", async () => {
  await endAll({ groups, runs: new Set([run]) }, Number(grace), () => isHurried);
  process.exit(0);
});

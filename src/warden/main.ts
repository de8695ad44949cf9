// The lifeline of a run: a process of its own that waits for the engine to end. However that happens, also by kill -9, the
// pipe between them closes, and the warden ends every process tree that the engine had not ended itself.
// argv: <run id> <grace in ms>. stdin: one line per group of processes, "+<id>" when it begins, "-<id>" when it is gone; "!": no grace.

import { endAll } from "../engine/process/tree.ts";

const [run = "", grace = "5000"] = process.argv.slice(2);
const groups = new Set<number>();
let isHurried = false;
let unfinished = "";

// It outlives whatever ends the engine.
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

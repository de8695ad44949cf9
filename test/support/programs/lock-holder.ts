// Takes the lock, adds one to a counter in a file by read, wait, write, and releases the lock; as many times as asked.
// usage: lock-holder <directory> <rounds> [hold]   With `hold` it says "held" and keeps the lock until it is killed.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Directory } from "../../../src/disk/contained.ts";
import { withLock } from "../../../src/disk/lock.ts";

const [path = "", rounds = "1", hold] = process.argv.slice(2);
const directory = Directory.openRoot(path);
const counter = join(path, "counter");

for (let round = 0; round < Number(rounds); round++) {
  withLock(
    directory,
    ".lock",
    () => {
      const value = Number(readFileSync(counter, "utf8"));
      if (hold !== undefined) {
        process.stdout.write("held\n");
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      }
      writeFileSync(counter, String(value + 1));
    },
    { waitMs: 60_000 },
  );
}

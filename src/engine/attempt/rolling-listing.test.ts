import {
  appendFileSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TIMED } from "../../../test/support/timed.ts";
import { listingChanges } from "./listing.ts";
import { RollingListing } from "./rolling-listing.ts";

let root: string;
let rolling: RollingListing;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "maestro-rolling-"));
  rolling = new RollingListing(root, { exclude: [".gemini/state"] });
  write("a.ts", "src/b.ts", "src/deep/c.ts", "node_modules/x.js", ".gemini/state/s");
});
afterEach(() => {
  rolling.close();
  rmSync(root, { recursive: true, force: true });
});

const at = (path: string) => join(root, path);

function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), `content of ${path}\n`);
  }
}

/** Enough files for a sweep that is not repeated while the test runs. */
function writeMany(): void {
  for (let directory = 0; directory < 30; directory++) {
    mkdirSync(at(`many/${directory}`), { recursive: true });
    for (let index = 0; index < 100; index++) writeFileSync(at(`many/${directory}/${index}.ts`), "content\n");
  }
}

describe("record A12: the listing of a running project (P7)", () => {
  test("is one object for all attempts that ask together, and stays it while no file is touched", async () => {
    writeMany();
    const [one, other] = await Promise.all([rolling.now(), rolling.now()]);
    expect(other).toBe(one);
    write(".gemini/state/t", "node_modules/y.js");
    expect(await rolling.now()).toBe(one);
  });

  test.each<[string, () => void, string[]]>([
    ["a new file", () => write("src/new.ts"), ["created src/new.ts"]],
    ["a file in a new directory", () => write("fresh/deep/x.ts"), ["created fresh/deep/x.ts"]],
    ["more content", () => appendFileSync(at("src/deep/c.ts"), "x"), ["modified src/deep/c.ts"]],
    ["a deleted file", () => unlinkSync(at("src/b.ts")), ["deleted src/b.ts"]],
    ["a moved directory", () => renameSync(at("src/deep"), at("moved")), ["renamed moved/c.ts"]],
    [
      "content written with the old time restored",
      () => {
        const { size, mtimeMs, atimeMs } = lstatSync(at("a.ts"));
        writeFileSync(at("a.ts"), "x".repeat(size));
        utimesSync(at("a.ts"), atimeMs / 1000, mtimeMs / 1000);
      },
      ["modified a.ts"],
    ],
  ])("shows %s at once after a sweep", async (_name, act, expected) => {
    writeMany();
    utimesSync(at("a.ts"), 1_700_000_000, 1_700_000_000);
    const before = await rolling.now();
    act();
    const changes = listingChanges(before, await rolling.now());
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual(expected);
    expect(listingChanges(before, await rolling.now()).length).toBe(expected.length);
  });

  test("shows what changed in a directory that was created, filled and moved after the sweep", async () => {
    writeMany();
    await rolling.now();
    write("fresh/x.ts");
    const before = await rolling.now();
    renameSync(at("fresh"), at("later"));
    await rolling.now();
    appendFileSync(at("later/x.ts"), "more");
    const changes = listingChanges(before, await rolling.now());
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual(["deleted fresh/x.ts", "created later/x.ts"]);
  });

  test("shows a write through a descriptor that was open before the sweep", async () => {
    writeMany();
    const fd = openSync(at("a.ts"), "r+");
    try {
      const before = await rolling.now();
      writeSync(fd, "more content than before");
      expect(listingChanges(before, await rolling.now()).map(({ path }) => path)).toEqual(["a.ts"]);
    } finally {
      closeSync(fd);
    }
  });

  test("answers a request during a sweep from the next sweep, so that no change is missed", async () => {
    writeMany();
    const first = rolling.now();
    await new Promise((resolve) => setImmediate(resolve));
    write("a-late.ts");
    const second = await rolling.now();
    expect(second.files.has("a-late.ts")).toBe(true);
    expect((await first).files.has("a.ts")).toBe(true);
  });

  test("does not block the event loop for longer than 20 ms of CPU time", TIMED, async () => {
    for (let index = 0; index < 20_000; index++) {
      if (index % 100 === 0) mkdirSync(at(`many/${index / 100}`), { recursive: true });
      writeFileSync(at(`many/${Math.floor(index / 100)}/${index}`), "");
    }
    const spent = () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    const longestBlock = async () => {
      const fresh = new RollingListing(root, { exclude: [] });
      let longest = 0;
      let isOver = false;
      let last = spent();
      const tick = () => {
        longest = Math.max(longest, spent() - last);
        last = spent();
        if (!isOver) setImmediate(tick);
      };
      setImmediate(tick);
      await fresh.now();
      isOver = true;
      fresh.close();
      return longest;
    };
    // The clock also counts threads that collect garbage and compile, so one of several sweeps must stay below.
    let shortest = Number.POSITIVE_INFINITY;
    for (let sweep = 0; sweep < 8 && shortest >= 20; sweep++) shortest = Math.min(shortest, await longestBlock());
    expect(shortest).toBeLessThan(20);
  });
});

// Elsewhere only a sweep can tell.
describe.runIf(process.platform === "linux")("a listing without a sweep", () => {
  test("is the last one while nothing has changed, and is not known before the first sweep", async () => {
    writeMany();
    expect(await rolling.unchanged()).toBeUndefined();
    const first = await rolling.now();
    expect(await rolling.unchanged()).toBe(first);
    write("node_modules/y.js");
    expect(await Promise.all([rolling.unchanged(), rolling.unchanged()])).toEqual([first, first]);
  });

  test("is not known after a change, nor while a sweep looks for one", async () => {
    writeMany();
    await rolling.now();
    write("src/new.ts");
    expect(await rolling.unchanged()).toBeUndefined();
    const sweep = rolling.now();
    expect(await rolling.unchanged()).toBeUndefined();
    expect(await rolling.unchanged()).toBeUndefined();
    expect((await sweep).files.has("src/new.ts")).toBe(true);
  });

  test("is not known when a sweep begins while it is looked for", async () => {
    writeMany();
    await rolling.now();
    write("src/new.ts");
    const asked = rolling.unchanged();
    const sweep = rolling.now();
    expect(await asked).toBeUndefined();
    await sweep;
  });
});

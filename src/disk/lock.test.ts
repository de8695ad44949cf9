import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { programPath } from "../../test/support/project.ts";
import { Directory } from "./contained.ts";
import { ownIdentity } from "./identity.ts";
import {
  claimLock,
  dropClaim,
  hasLitter,
  type LockOwner,
  newOwner,
  readOwner,
  sweepMarkers,
  withLock,
} from "./lock.ts";

let path: string;
let directory: Directory;
const children: ChildProcess[] = [];
beforeEach(() => {
  path = realpathSync(mkdtempSync(join(tmpdir(), "maestro-lock-")));
  directory = Directory.openRoot(path);
  writeFileSync(join(path, "counter"), "0");
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  directory.close();
  rmSync(path, { recursive: true });
});

const start = (...args: string[]) => {
  const child = spawn(process.execPath, [programPath("lock-holder"), path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  return child;
};
const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("exit", resolve));
const holding = async () => {
  const child = start("1", "hold");
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
};
const plant = (owner: Partial<LockOwner>) =>
  writeFileSync(
    join(path, ".lock"),
    JSON.stringify({ ...ownIdentity(), token: "0".repeat(24), since: "then", ...owner }),
  );
const counter = () => Number(readFileSync(join(path, "counter"), "utf8"));

describe("the lock", () => {
  test("admits one process at a time: 8 processes x 40 rounds lose no update", async () => {
    const codes = await Promise.all(Array.from({ length: 8 }, () => ended(start("40"))));
    expect(codes).toEqual(Array(8).fill(0));
    expect(counter()).toBe(320);
    expect(readdirSync(path)).toEqual(["counter"]);
  });

  test("is released after the work, even when the work throws", () => {
    expect(() =>
      withLock(directory, ".lock", () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(withLock(directory, ".lock", () => "again")).toBe("again");
  });
});

describe("an owner that takes the lock repeatedly", () => {
  test("keeps its claim file until it is dropped, and lets other processes in between", async () => {
    const keeper = newOwner();
    const other = ended(start("40"));
    for (let round = 0; round < 40; round++) {
      withLock(directory, ".lock", () => writeFileSync(join(path, "counter"), String(counter() + 1)), { keeper });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([await other, counter()]).toEqual([0, 80]);
    expect(readdirSync(path)).toEqual([`.lock.claim.${keeper.token}`, "counter"]);
    expect(hasLitter(directory, ".lock")).toBe(false);
    dropClaim(directory, ".lock", keeper);
    expect(readdirSync(path)).toEqual(["counter"]);
  });

  test("leaves a claim that is deleted after its death", () => {
    const dead = { ...newOwner(), pid: 2 ** 22 + 1 };
    writeFileSync(join(path, `.lock.claim.${dead.token}`), JSON.stringify(dead));
    expect(hasLitter(directory, ".lock")).toBe(true);
    sweepMarkers(directory, ".lock");
    expect(readdirSync(path)).toEqual(["counter"]);
  });
});

describe("a lock held for the life of a process", () => {
  test("is denied to a second owner, names the first, and is free after its release", () => {
    const first = claimLock(directory, ".engine");
    const second = claimLock(directory, ".engine");
    expect(second).toEqual({ heldBy: expect.objectContaining({ pid: process.pid }) });
    if ("release" in first) first.release(directory);
    expect(claimLock(directory, ".engine")).toHaveProperty("release");
  });

  test("is taken from a dead owner", () => {
    writeFileSync(join(path, ".engine"), JSON.stringify({ ...newOwner(), pid: 2 ** 22 + 1 }));
    expect(claimLock(directory, ".engine")).toHaveProperty("release");
  });
});

describe("a dead owner", () => {
  test("loses the lock when killed with SIGKILL while holding it", async () => {
    const owner = await holding();
    owner.kill("SIGKILL");
    await ended(owner);
    expect(withLock(directory, ".lock", () => "mine", { waitMs: 2000 })).toBe("mine");
    expect(readdirSync(path)).toEqual(["counter"]);
  });

  test.each([
    ["whose pid does not exist", { pid: 2 ** 22 - 3 }],
    ["whose pid was reused by another process", { pid: 1, start: "12345" }],
    ["of an earlier boot", { boot: "another-boot" }],
    ["from before this machine was renamed", { host: "old-name", pid: 2 ** 22 - 3 }],
  ])("%s loses the lock", (_what, owner) => {
    plant(owner);
    expect(withLock(directory, ".lock", () => "mine", { waitMs: 1000 })).toBe("mine");
  });

  test("loses the lock to exactly one of 12 competing processes, in every round", async () => {
    for (let round = 0; round < 5; round++) {
      const owner = await holding();
      const before = counter();
      const rivals = Array.from({ length: 12 }, () => ended(start("3")));
      owner.kill("SIGKILL");
      expect(await Promise.all(rivals)).toEqual(Array(12).fill(0));
      expect(counter() - before).toBe(36);
    }
    expect(readdirSync(path)).toEqual(["counter"]);
  }, 60_000);

  test("loses the lock even if the process taking over died halfway", () => {
    plant({ pid: 2 ** 22 - 3, token: "a".repeat(24) });
    const marker = { ...ownIdentity(), pid: 2 ** 22 - 5, token: "b".repeat(24), since: "then" };
    writeFileSync(join(path, `.lock.reap.${"a".repeat(24)}`), JSON.stringify(marker));
    expect(withLock(directory, ".lock", () => "mine", { waitMs: 2000 })).toBe("mine");
  });

  test("loses the lock even if the takeover was interrupted before its last step", () => {
    const corpse = { ...ownIdentity(), pid: 2 ** 22 - 3, token: "a".repeat(24), since: "then" };
    writeFileSync(join(path, `.lock.reap.${"a".repeat(24)}`), JSON.stringify(corpse));
    plant({ pid: 2 ** 22 - 3, token: "c".repeat(24) });
    expect(withLock(directory, ".lock", () => "mine", { waitMs: 2000 })).toBe("mine");
  });
});

describe("a living owner", () => {
  test("keeps the lock even while stopped, and the error names it", async () => {
    const owner = await holding();
    owner.kill("SIGSTOP");
    expect(() => withLock(directory, ".lock", () => "mine", { waitMs: 300 })).toThrow(
      expect.objectContaining({ code: "locked", message: expect.stringContaining(`process ${owner.pid} on`) }),
    );
    expect(readOwner(directory, ".lock")?.pid).toBe(owner.pid);
  });

  test.each([
    ["on another host", { host: "elsewhere", boot: "another-boot", pid: 2 ** 22 - 3 }],
    ["in another container", { namespace: "pid:[1]", pid: 2 ** 22 - 3 }],
  ])("%s keeps the lock, because its death cannot be detected here", (_what, owner) => {
    plant(owner);
    expect(() => withLock(directory, ".lock", () => "mine", { waitMs: 200 })).toThrow(
      expect.objectContaining({ code: "locked" }),
    );
  });
});

describe("a lock file without a readable owner", () => {
  test.each(["", "not an owner"])("such as a power cut leaves (%j), is taken over after a while", (content) => {
    writeFileSync(join(path, ".lock"), content);
    expect(() => withLock(directory, ".lock", () => "mine", { waitMs: 200 })).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("remove ") }),
    );
    expect(withLock(directory, ".lock", () => "mine", { waitMs: 5000 })).toBe("mine");
    expect(readdirSync(path)).toEqual(["counter"]);
  });
});

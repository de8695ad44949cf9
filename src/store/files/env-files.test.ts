import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEnvFiles } from "./env-files.ts";

const names = [".gemini/.env", ".env"];
let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "maestro-env-")));
  mkdirSync(join(base, "home/code/app"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true }));

const write = (path: string, text = path) => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const read = (root = "home/code/app", home = "home") => {
  const found = readEnvFiles(join(base, root), join(base, home), names);
  const shown = ({ path, text }: { path: string; text: string }) => [relative(base, path), text];
  return { project: found.project.map(shown), home: found.home && shown(found.home) };
};

describe("the env files that a program could load", () => {
  test("are those of the directory and its parents; the files of the home directory are the user's own", () => {
    for (const path of ["home/code/app/.env", "home/code/app/.gemini/.env", "home/code/.env", "home/.env"]) write(path);
    write(".gemini/.env");
    expect(read()).toEqual({
      project: ["home/code/app/.gemini/.env", "home/code/app/.env", "home/code/.env", ".gemini/.env"].map((path) => [
        path,
        path,
      ]),
      home: ["home/.env", "home/.env"],
    });
    write("home/.gemini/.env");
    expect(read().home).toEqual(["home/.gemini/.env", "home/.gemini/.env"]);
  });

  test("include those of the home directory when it is reached through a link", () => {
    write("home/.env");
    symlinkSync(join(base, "home"), join(base, "link"));
    expect(read("link/code/app", "link")).toEqual({ project: [], home: ["link/.env", "home/.env"] });
    expect(read("home/code/app", "link")).toEqual({ project: [], home: ["link/.env", "home/.env"] });
  });

  test("leave out missing files, directories of that name, and files that cannot be read", () => {
    mkdirSync(join(base, "home/code/app/.env"));
    write("home/code/.gemini", "a file");
    expect(read()).toEqual({ project: [], home: null });
    write("home/code/.env", "SECRET=1");
    chmodSync(join(base, "home/code/.env"), 0);
    if (process.getuid?.() !== 0) expect(read()).toEqual({ project: [], home: null });
  });

  test("are read through links, as the program reads them", () => {
    write("elsewhere/evil", "NODE_OPTIONS=x");
    symlinkSync("../../../elsewhere/evil", join(base, "home/code/app/.env"));
    expect(read().project).toEqual([["home/code/app/.env", "NODE_OPTIONS=x"]]);
  });

  test.runIf(existsSync("/dev/shm"))("are read in a project that is in memory", () => {
    const project = mkdtempSync("/dev/shm/maestro-env-");
    try {
      writeFileSync(join(project, ".env"), "A=1");
      expect(readEnvFiles(project, join(base, "home"), names).project).toEqual([
        { path: join(project, ".env"), text: "A=1" },
      ]);
    } finally {
      rmSync(project, { recursive: true });
    }
  });

  test.each([
    ["a FIFO", (path: string) => execFileSync("mkfifo", [path])],
    ["a device", (path: string) => symlinkSync("/dev/zero", path)],
    ["the standard input", (path: string) => symlinkSync("/dev/stdin", path)],
    ["a file that differs from process to process", (path: string) => symlinkSync("/proc/self/environ", path)],
    [
      "the standard input, through two links",
      (path: string) => {
        symlinkSync("/dev/fd", join(dirname(path), "x"));
        symlinkSync("x/0", path);
      },
    ],
    ["larger than 1 MiB", (path: string) => writeFileSync(path, "#".repeat(1024 * 1024 + 1))],
  ])("are rejected when one of them is %s", (_, make) => {
    make(join(base, "home/code/app/.env"));
    expect(() => read()).toThrow(/^Cannot tell which variables .*\.env sets: /);
  });
});

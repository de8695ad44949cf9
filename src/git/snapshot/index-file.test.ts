import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { indexEntries, readIndexFile } from "./index-file.ts";

let project: GitProject;
afterEach(() => project.remove());

const names = ["aa", "a.b", "a/b", "dir/\u00fc", `long/${"x".repeat(4200)}`, `long/${"x".repeat(200)}y`, "z\nz", " "];

describe.each(["sha1", "sha256"] as const)("an index with %s", (format) => {
  beforeEach(() => {
    project = new GitProject([`--object-format=${format}`]);
    const id = spawnSync("git", ["hash-object", "-w", "--stdin"], { cwd: project.path, input: "x", encoding: "utf8" });
    const lines = names.map((name, at) => `100${at % 2 ? "644" : "755"} ${id.stdout.trim()}\t${name}\0`);
    const input = [...lines, `120000 ${id.stdout.trim()} 1\tunmerged\0`, `120000 ${id.stdout.trim()} 3\tunmerged\0`];
    const run = spawnSync("git", ["update-index", "-z", "--index-info"], { cwd: project.path, input: input.join("") });
    expect(run.status).toBe(0);
  });

  test.each([2, 3, 4])("of version %i is read as git reads it", (version) => {
    if (version === 3) {
      project.write("flagged", "1");
      project.git("add", "flagged");
      project.git("update-index", "--skip-worktree", "flagged");
    } else {
      project.git("update-index", "--index-version", String(version));
    }
    expect(readFileSync(join(project.path, ".git/index")).readUInt32BE(4)).toBe(version);
    const found = indexEntries(join(project.path, ".git"), format).map(
      ({ mode, id, stage, name }) => `${mode.toString(8)} ${id} ${stage}\t${Buffer.from(name, "latin1").toString()}`,
    );
    expect(found).toEqual(project.git("ls-files", "-s", "-z").split("\0").slice(0, -1));
    const hidden = indexEntries(join(project.path, ".git"), format).filter(({ isHidden }) => isHidden);
    expect(hidden.map(({ name }) => name)).toEqual(version === 3 ? ["flagged"] : []);
  });

  test("is read with its shared part", () => {
    project.git("update-index", "--split-index");
    project.write("later", "1");
    project.git("add", "later");
    const found = indexEntries(join(project.path, ".git"), format).map(({ name }) => name);
    expect(found).toEqual(expect.arrayContaining(["aa", "later"]));
  });
});

describe("a file that is not an index", () => {
  beforeEach(() => {
    project = new GitProject();
  });

  test("is rejected", () => {
    expect(indexEntries(join(project.path, ".git"), "sha1")).toEqual([]);
    expect(() => readIndexFile(Buffer.from("DIRC"), 20)).toThrow(
      "The index of the repository cannot be read: version 0",
    );
    const future = Buffer.concat([Buffer.from("DIRC\0\0\0\u0009\0\0\0\0", "latin1"), Buffer.alloc(20)]);
    expect(() => readIndexFile(future, 20)).toThrow("version 9");
    const cut = Buffer.concat([Buffer.from("DIRC\0\0\0\u0002\0\0\0\u0001", "latin1"), Buffer.alloc(62, 1)]);
    expect(() => readIndexFile(cut, 20)).toThrow();
  });
});

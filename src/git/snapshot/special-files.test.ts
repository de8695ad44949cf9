import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import type { Repository } from "../repository.ts";
import { addWorktree, resetWorktree, treeOf, type Worktree } from "../worktree/worktree.ts";
import { snapshot } from "./snapshot.ts";

let project: GitProject;
let repository: Repository;
beforeEach(() => {
  project = new GitProject();
  project.write(".gitignore", "ignored/\n*.log\n");
  project.write(".gitattributes", "*.txt text\n");
  project.write("src/a.txt", "1\n");
  project.write("src/deep/b.txt", "2\n");
  project.commit();
});
afterEach(() => project.remove());

/** A git that opens a FIFO waits forever. */
const WITHIN_MS = 15_000;

function mkfifo(...paths: string[]): void {
  for (const path of paths) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    const { status, stderr } = spawnSync("mkfifo", [path], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  }
}

const filesOf = (tree: string) => project.git("ls-tree", "-r", "--name-only", tree).split("\n");

describe("the worktree of an attempt", () => {
  let worktree: Worktree;
  beforeEach(async () => {
    repository = await project.open();
    const taken = await snapshot(repository, { exclude: [], include: [] });
    worktree = await addWorktree(repository, "s", "w1", taken);
    writeFileSync(join(worktree.path, "src/a.txt"), "changed\n");
  });
  const at = (path: string) => join(worktree.path, path);
  const look = (isOver = true) => treeOf(repository, worktree, { exclude: [], force: ["owned"], isOver });

  const cases: [name: string, make: () => void, left: string[], told: RegExp][] = [
    ["a new FIFO", () => mkfifo(at("pipe")), [], /pipe \(FIFO\)/],
    ["a file replaced by a FIFO", () => mkfifo(at("src/deep/b.txt")), ["src/deep/b.txt"], /b\.txt \(FIFO\)/],
    ["a directory replaced by a FIFO", () => mkfifo(at("src/deep")), ["src/deep/b.txt"], /src\/deep \(FIFO\)/],
    ["a FIFO with the name of an owned file", () => mkfifo(at("owned")), [], /owned \(FIFO\)/],
    [".gitignore replaced by a FIFO", () => mkfifo(at(".gitignore")), [".gitignore"], /\.gitignore \(FIFO\)/],
    ["a FIFO as a new .gitignore", () => mkfifo(at("src/deep/.gitignore")), [], /src\/deep\/\.gitignore \(FIFO\)/],
    [
      "a FIFO as .gitignore in a new directory",
      () => mkfifo(at("x/y/z/.gitignore")),
      [],
      /x\/y\/z\/\.gitignore \(FIFO\)/,
    ],
    [".gitattributes replaced by a FIFO", () => mkfifo(at(".gitattributes")), [".gitattributes"], /\.gitattributes \(/],
    [
      "a FIFO as .gitattributes in a subdirectory",
      () => mkfifo(at("src/.gitattributes")),
      [],
      /src\/\.gitattributes \(FIFO\)/,
    ],
    [
      "a FIFO as .gitattributes in a new directory",
      () => mkfifo(at("new/.gitattributes")),
      [],
      /new\/\.gitattributes \(FIFO\)/,
    ],
    ["many FIFOs", () => mkfifo(...Array.from({ length: 30 }, (_, n) => at(`p${n}`))), [], /and 20 more/],
    ["FIFOs whose names have a meaning for git", () => mkfifo(at(":(top)x"), at("-z"), at("a*")), [], /-z \(FIFO\)/],
    ["its .git replaced by a FIFO", () => mkfifo(at(".git")), [], /\.git \(FIFO\)/],
  ];
  test.each(cases)(
    "is read with a warning: %s",
    async (_, make, left, told) => {
      make();
      const { tree, warnings } = await look();
      const all = [".gitattributes", ".gitignore", "src/a.txt", "src/deep/b.txt"];
      expect(filesOf(tree)).toEqual(all.filter((name) => !left.includes(name)));
      expect(project.git("show", `${tree}:src/a.txt`)).toBe("changed");
      expect(warnings.join("\n")).toMatch(told);
    },
    WITHIN_MS,
  );

  test(
    "is read without a warning about FIFOs below ignored directories",
    async () => {
      mkfifo(at("ignored/pipe"), at("ignored/.gitignore"), at("ignored/n/.git/HEAD"), at("x.log"));
      const { tree, warnings } = await look();
      expect(filesOf(tree)).toHaveLength(4);
      expect(warnings).toEqual([]);
      expect(lstatSync(at("ignored/.gitignore")).isFIFO()).toBe(true);
    },
    WITHIN_MS,
  );

  test(
    "is read without sockets and devices, and links to them stay links",
    async () => {
      const server = createServer().listen(at("run.sock"));
      await new Promise((resolve) => server.once("listening", resolve));
      const hasDevice = spawnSync("mknod", [at("src/.gitignore"), "c", "1", "5"]).status === 0;
      mkfifo(join(project.base, "outside"));
      for (const target of ["/dev/zero", "/dev/stdin", "/proc/self/mem", join(project.base, "outside")]) {
        symlinkSync(target, at(`to-${target.replace(/\W/g, "")}`));
      }
      symlinkSync(join(project.base, "outside"), at("src/deep/.gitignore"));
      symlinkSync("/dev/zero", at("src/deep/.gitattributes"));
      const { tree, warnings } = await look();
      server.close();
      expect(filesOf(tree).filter((name) => /to-|deep\/\.git/.test(name))).toHaveLength(6);
      expect(warnings.join("\n")).toContain("run.sock (socket)");
      if (hasDevice) expect(warnings.join("\n")).toContain("src/.gitignore (device)");
    },
    WITHIN_MS,
  );

  test.each([
    ["HEAD", () => mkfifo(at("inner/.git/HEAD"))],
    [
      "commondir",
      () => {
        put(at("inner/.git/HEAD"), "ref: refs/heads/x\n");
        mkfifo(at("inner/.git/commondir"));
      },
    ],
    ["HEAD, in a deep directory", () => mkfifo(at("q/r/s/.git/HEAD"))],
    ["HEAD, in an ignored directory", () => mkfifo(at("ignored/.git/HEAD"))],
    [
      "HEAD, in a git directory elsewhere",
      () => {
        mkfifo(join(project.base, "elsewhere/HEAD"));
        put(at("inner/.git"), `gitdir: ${join(project.base, "elsewhere")}\n`);
      },
    ],
    [
      "HEAD, in a git directory elsewhere reached through a link",
      () => {
        mkfifo(join(project.base, "elsewhere/HEAD"));
        mkdirSync(at("inner"));
        symlinkSync(join(project.base, "elsewhere"), at("inner/.git"));
      },
    ],
  ])(
    "is rejected with a nested repository whose %s is a FIFO",
    async (_, make) => {
      make();
      for (const part of ["objects", "refs"]) {
        for (const inner of ["inner/.git", "q/r/s/.git", "ignored/.git"]) {
          if (existsSync(at(inner)) && lstatSync(at(inner)).isDirectory()) mkdirSync(join(at(inner), part));
        }
        if (existsSync(join(project.base, "elsewhere"))) mkdirSync(join(project.base, "elsewhere", part));
      }
      await expect(look()).rejects.toMatchObject({
        code: "path",
        message: expect.stringMatching(/\.git\/\w+ \(FIFO\)/),
      });
    },
    WITHIN_MS,
  );

  test(
    "is rejected and not changed while its attempt runs",
    async () => {
      mkfifo(at("src/.gitignore"));
      await expect(look(false)).rejects.toThrow("src/.gitignore (FIFO) has the name of a file that git reads");
      expect(lstatSync(at("src/.gitignore")).isFIFO()).toBe(true);
    },
    WITHIN_MS,
  );

  test(
    "can be reset",
    async () => {
      mkfifo(at(".gitattributes"), at("src/a.txt"), at("src/deep/.gitignore"), at("pipe"));
      await resetWorktree(repository, worktree, worktree.commit);
      expect(readdirSync(at("src")).sort()).toEqual(["a.txt", "deep"]);
      expect(lstatSync(at("src/a.txt")).isFile()).toBe(true);
    },
    WITHIN_MS,
  );
});

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

describe("the project", () => {
  const at = (path: string) => join(project.path, path);
  const take = async () =>
    snapshot(await project.open(), { exclude: [], include: ["*.local"], force: ["owned", "ignored/owned"] });

  test(
    "is snapshotted without FIFOs, wherever they are",
    async () => {
      mkfifo(at("pipe"), at("src/a.txt"), at("owned"), at("ignored/owned"));
      mkfifo(at("some.local"), at("node_modules/pipe"), at("ignored/.gitignore"));
      const { tree, warnings } = await take();
      expect(filesOf(tree)).toEqual([".gitattributes", ".gitignore", "src/deep/b.txt"]);
      expect(warnings.join("\n")).toContain("pipe (FIFO)");
    },
    WITHIN_MS,
  );

  test.each([
    "src/.gitignore",
    ".gitattributes",
    "fresh/.gitignore",
    "node_modules/x/.git/HEAD",
    "ignored/.gitattributes",
  ])(
    "is rejected when %s is a FIFO, which is not deleted",
    async (path) => {
      mkfifo(at(path));
      await expect(take()).rejects.toMatchObject({ code: "path", message: expect.stringContaining(`${path} (FIFO)`) });
      expect(lstatSync(at(path)).isFIFO()).toBe(true);
    },
    WITHIN_MS,
  );

  test.each([
    ".git/HEAD",
    ".git/config",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/objects/info/alternates",
    ".git/objects/pack/pack-1.idx",
    ".git/worktrees/x/gitdir",
    ".git/info/attributes",
    ".git/commondir",
  ])(
    "is rejected when %s is a FIFO, or becomes one",
    async (path) => {
      const open = await project.open();
      mkfifo(at(path));
      const refusal = { code: "path", message: expect.stringContaining(`${path} is a FIFO, not a file`) };
      await expect(take()).rejects.toMatchObject(refusal);
      await expect(snapshot(open, { exclude: [], include: [] })).rejects.toMatchObject(refusal);
    },
    WITHIN_MS,
  );

  test(
    "is rejected when a link in .git, or an included configuration, leads to a FIFO",
    async () => {
      mkfifo(join(project.base, "outside"));
      rmSync(at(".git/info"), { recursive: true });
      mkdirSync(at(".git/info"));
      symlinkSync(join(project.base, "outside"), at(".git/info/exclude"));
      await expect(take()).rejects.toThrow("info/exclude is a FIFO, not a file");
      rmSync(at(".git/info/exclude"));
      symlinkSync("/dev/null", at(".git/info/exclude"));
      await take();
      project.git("config", "include.path", "../made");
      mkfifo(at("made"));
      await expect(take()).rejects.toThrow("made is a FIFO, not a file");
    },
    WITHIN_MS,
  );

  test(
    "is snapshotted when its configuration names FIFOs as ignore and attributes files",
    async () => {
      mkfifo(at("list"), at("attributes"));
      project.git("config", "core.excludesFile", at("list"));
      project.git("config", "core.attributesFile", at("attributes"));
      project.write("src/a.txt", "1\r\n");
      const { tree } = await take();
      expect(filesOf(tree)).toHaveLength(4);
    },
    WITHIN_MS,
  );

  test(
    "is rejected when it is below the top and has a FIFO where a bare repository has HEAD",
    async () => {
      mkfifo(at("src/HEAD"));
      await expect(project.open(join(project.path, "src"))).rejects.toThrow("src/HEAD is a FIFO, not a file");
    },
    WITHIN_MS,
  );
});

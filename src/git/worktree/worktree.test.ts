import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject, workFiles } from "../../../test/support/git-repository.ts";
import { newTemporaryName } from "../../disk/durable.ts";
import { ownIdentity } from "../../disk/identity.ts";
import { changesBetween } from "../objects/changes.ts";
import { commitTree } from "../objects/commit.ts";
import type { Repository } from "../repository.ts";
import { snapshot } from "../snapshot/snapshot.ts";
import { freeName } from "./marker.ts";
import { prunePlaces, pruneWorktrees, removeWorktree } from "./removal.ts";
import { addWorktree, adoptWorktree, resetWorktree, treeOf, type Worktree } from "./worktree.ts";

let project: GitProject;
let repository: Repository;
beforeEach(async () => {
  project = new GitProject();
  project.write("src/a.ts", "1\n");
  project.write("src/b.ts", "1\n");
  project.write("run.sh", "#!/bin/sh\n", 0o755);
  project.write(".gitignore", "node_modules/\n.env\n");
  project.commit();
  repository = await project.open();
});
afterEach(() => project.remove());

const nothing = { exclude: [], include: [] };
const add = async (name = "p1-1", include: string[] = []) =>
  addWorktree(repository, "s", name, await snapshot(repository, { exclude: [], include }));
const inside = (worktree: Worktree, path: string) => join(worktree.path, path);
const registered = () => project.git("worktree", "list", "--porcelain").match(/^worktree /gm)?.length;
const changes = async (worktree: Worktree) => {
  const { tree } = await treeOf(repository, worktree, { exclude: [] });
  const found = await changesBetween(repository, worktree.commit, tree);
  return found.map(({ kind, path }) => `${kind} ${path}`);
};

describe("a worktree", () => {
  test("has the current files of the project, and the agent's git finds them unchanged", async () => {
    project.write("src/a.ts", "2\n");
    project.write("new", "3\n");
    const before = project.untouchables();
    const worktree = await add();
    expect(workFiles(worktree.path)).toEqual(workFiles(project.path));
    expect(worktree.path.startsWith(project.cache)).toBe(true);
    expect(project.gitIn(worktree.path, "status", "--porcelain")).toBe("");
    expect(project.gitIn(worktree.path, "rev-parse", "HEAD")).toBe(worktree.commit);
    expect(project.gitIn(worktree.path, "log", "-1", "--format=%s", "HEAD~1")).toBe("work");
    expect(project.untouchables()).toEqual(before);
    expect(project.git("branch", "--list")).toBe("* main");
  });

  test("can be created eight times at once", async () => {
    const taken = await snapshot(repository, nothing);
    const names = Array.from({ length: 8 }, (_, at) => `p${at}-1`);
    const worktrees = await Promise.all(names.map((name) => addWorktree(repository, "s", name, taken)));
    expect(new Set(worktrees.map(({ path }) => path)).size).toBe(8);
    for (const { path } of worktrees) expect(workFiles(path)).toEqual(workFiles(project.path));
    expect(registered()).toBe(9);
    await Promise.all(names.map((name) => removeWorktree(repository, name)));
    expect(registered()).toBe(1);
    expect(readdirSync(repository.place)).toEqual(["git"]);
  });

  test("has copies of the ignored files it needs and links to dependencies, which are not part of its tree", async () => {
    project.write(".env", "KEY=1", 0o600);
    project.write("node_modules/x/index.js", "x");
    const worktree = await add("p1-1", [".env"]);
    expect(readFileSync(inside(worktree, ".env"), "utf8")).toBe("KEY=1");
    expect(lstatSync(inside(worktree, ".env")).mode & 0o777).toBe(0o600);
    expect(readlinkSync(inside(worktree, "node_modules"))).toBe(join(project.path, "node_modules"));
    // The pattern "node_modules/" does not match a link, and an agent may change the ignore rules.
    writeFileSync(inside(worktree, ".gitignore"), "");
    writeFileSync(inside(worktree, ".env"), "KEY=2");
    expect(await changes(worktree)).toEqual(["modified .gitignore"]);
    await removeWorktree(repository, "p1-1");
    expect(project.read(".env")).toBe("KEY=1");
    expect(project.read("node_modules/x/index.js")).toBe("x");
  });

  test("never follows a link above an ignored file, and copies links as links", async () => {
    writeFileSync(join(project.base, "secret"), "secret");
    mkdirSync(join(project.base, "outside"));
    writeFileSync(join(project.base, "outside", ".env"), "secret");
    project.write(".gitignore", "local/\n.env\nlinked\n");
    project.write("local/own", "1");
    symlinkSync(join(project.base, "secret"), join(project.path, "local/link"));
    symlinkSync(join(project.base, "outside"), join(project.path, "linked"));
    const taken = await snapshot(repository, { exclude: [], include: ["local/"] });
    const worktree = await addWorktree(repository, "s", "p1-1", {
      ...taken,
      ignored: [...taken.ignored, "linked/.env"],
    });
    expect(readlinkSync(inside(worktree, "local/link"))).toBe(join(project.base, "secret"));
    expect(readFileSync(inside(worktree, "local/own"), "utf8")).toBe("1");
    expect(existsSync(inside(worktree, "linked"))).toBe(false);
    expect(worktree.warnings).toHaveLength(1);
    expect(worktree.warnings[0]).toMatch(/^linked\/\.env: /);
  });

  test.each(["", ".", "..", "a/b", "/a", "-x", "git", "x.worktree.json", "a\n"])("cannot be named %j", async (name) => {
    const taken = await snapshot(repository, nothing);
    await expect(addWorktree(repository, "s", name, taken)).rejects.toThrow("Not a valid worktree name");
    await expect(removeWorktree(repository, name)).rejects.toThrow("Not a valid worktree name");
  });

  test("cannot be created twice with one name, and a failed creation leaves nothing", async () => {
    const taken = await snapshot(repository, nothing);
    await addWorktree(repository, "s", "p1-1", taken);
    await expect(addWorktree(repository, "s", "p1-1", taken)).rejects.toThrow("A worktree named p1-1 already exists");
    const missing = { ...taken, commit: "0".repeat(40) };
    await expect(addWorktree(repository, "s", "p2-1", missing)).rejects.toThrow(/^git worktree failed: /);
    expect(readdirSync(repository.place).filter((name) => name.startsWith("p2"))).toEqual([]);
    expect(registered()).toBe(2);
  });
});

describe("several worktrees", () => {
  test("can be created and removed at the same time, which git itself does not support", async () => {
    const names = Array.from({ length: 8 }, (_, at) => `w${at}`);
    await Promise.all(names.map((name) => add(name)));
    await Promise.all(names.map((name) => removeWorktree(repository, name)));
    expect(project.git("worktree", "list").split("\n")).toHaveLength(1);
  });

  test("can be adopted and removed only for the purpose they were created for", async () => {
    const taken = await snapshot(repository, { exclude: [], include: [] });
    await addWorktree(repository, "s", "w1", taken, "run/1/1");
    expect(adoptWorktree(repository, "w1", "run/1/2")).toBeUndefined();
    expect(await removeWorktree(repository, "w1", "run/1/2")).toBe(false);
    expect(adoptWorktree(repository, "w1", "run/1/1")).toMatchObject({ name: "w1", purpose: "run/1/1" });
    expect(freeName(repository, "w", new Set(["w2"]))).toBe("w3");
    expect(await removeWorktree(repository, "w1", "run/1/1")).toBe(true);
    expect(freeName(repository, "w", new Set(["w2"]))).toBe("w1");
  });
});

describe("the work of an attempt", () => {
  test("is read from its files: created, changed, deleted, renamed, made executable", async () => {
    project.write("long", "line\n".repeat(50));
    const worktree = await add();
    writeFileSync(inside(worktree, "src/a.ts"), "1\n2\n3\n");
    writeFileSync(inside(worktree, "new.ts"), "brand new\n");
    rmSync(inside(worktree, "src/b.ts"));
    rmSync(inside(worktree, "long"));
    writeFileSync(inside(worktree, "renamed"), `${"line\n".repeat(49)}other\n`);
    chmodSync(inside(worktree, "run.sh"), 0o644);
    const { tree, commit } = await treeOf(repository, worktree, { exclude: [] });
    expect(await changesBetween(repository, worktree.commit, tree)).toEqual([
      { path: "new.ts", kind: "created", added: 1, removed: 0, binary: false },
      { path: "renamed", kind: "renamed", from: "long", added: 1, removed: 1, binary: false },
      { path: "run.sh", kind: "modified", added: 0, removed: 0, binary: false },
      { path: "src/a.ts", kind: "modified", added: 2, removed: 0, binary: false },
      { path: "src/b.ts", kind: "deleted", added: 0, removed: 1, binary: false },
    ]);
    expect(project.git("rev-parse", `${commit}^`, `${commit}^{tree}`)).toBe(`${worktree.commit}\n${tree}`);
  });

  test.each([
    ["deleted .git", (path: string) => rmSync(join(path, ".git"))],
    [
      "made .git a repository of its own",
      (path: string) => {
        rmSync(join(path, ".git"));
        project.gitIn(path, "init", "-q");
        project.gitIn(path, "config", "core.worktree", project.path);
      },
    ],
    ["pointed .git elsewhere", (path: string) => writeFileSync(join(path, ".git"), `gitdir: ${project.path}/.git\n`)],
    [
      "made .git a link",
      (path: string) => {
        rmSync(join(path, ".git"));
        symlinkSync("/etc", join(path, ".git"));
      },
    ],
    [
      "committed, and switched to a branch of its own",
      (path: string) => {
        project.gitIn(path, "add", "-A");
        project.gitIn(path, "commit", "-qm", "agent");
        project.gitIn(path, "checkout", "-q", "-b", "agent");
      },
    ],
    [
      "hid its changes from git",
      (path: string) => {
        project.gitIn(path, "update-index", "--assume-unchanged", "src/a.ts");
        project.gitIn(path, "update-index", "--skip-worktree", "src/b.ts");
        rmSync(project.gitIn(path, "rev-parse", "--git-path", "index"));
      },
    ],
    ["removed its registration", () => rmSync(join(project.path, ".git/worktrees"), { recursive: true })],
  ])("is read even when the attempt %s, and is removed afterwards", async (_what, mischief) => {
    const before = project.untouchables();
    const worktree = await add();
    writeFileSync(inside(worktree, "src/a.ts"), "2\n");
    rmSync(inside(worktree, "src/b.ts"));
    mischief(worktree.path);
    expect(await changes(worktree)).toEqual(["modified src/a.ts", "deleted src/b.ts"]);
    expect(await removeWorktree(repository, "p1-1")).toBe(true);
    expect(existsSync(worktree.path)).toBe(false);
    expect(registered()).toBe(1);
    const { ".git/refs/heads/agent": _, ".git/logs/refs/heads/agent": __, ...after } = project.untouchables();
    expect(after).toEqual(before);
  });

  test("includes a change of the same size and time, made right after the files were written", async () => {
    const worktree = await add();
    const { atime, mtime } = lstatSync(inside(worktree, "src/a.ts"));
    writeFileSync(inside(worktree, "src/a.ts"), "9\n");
    utimesSync(inside(worktree, "src/a.ts"), atime, mtime);
    expect(await changes(worktree)).toEqual(["modified src/a.ts"]);
  });

  test("contains links that leave the worktree as links, never their targets", async () => {
    writeFileSync(join(project.base, "secret"), "secret");
    const worktree = await add();
    symlinkSync(join(project.base, "secret"), inside(worktree, "file"));
    rmSync(inside(worktree, "src"), { recursive: true });
    symlinkSync(project.base, inside(worktree, "src"));
    const { tree } = await treeOf(repository, worktree, { exclude: [] });
    const listing = project.git("ls-tree", "-r", tree);
    expect(listing).toMatch(/^120000 blob \w+\tfile$/m);
    expect(listing).toMatch(/^120000 blob \w+\tsrc$/m);
    expect(listing).not.toContain("src/");
  });

  test("lists repositories that the attempt created, and leaves out excluded paths", async () => {
    const worktree = await add();
    mkdirSync(inside(worktree, "app"));
    project.gitIn(inside(worktree, "app"), "init", "-q");
    writeFileSync(inside(worktree, "app/x"), "1");
    mkdirSync(inside(worktree, ".gemini"));
    writeFileSync(inside(worktree, ".gemini/x"), "1");
    const { nested, tree } = await treeOf(repository, worktree, { exclude: [".gemini"] });
    expect(nested).toEqual(["app/"]);
    expect(await changesBetween(repository, worktree.commit, tree)).toEqual([]);
  });

  test.each([
    ["removed everything", (path: string) => rmSync(path, { recursive: true })],
    [
      "replaced it with a link",
      (path: string) => {
        rmSync(path, { recursive: true });
        symlinkSync(project.path, path);
      },
    ],
  ])("is lost when the attempt %s, and the name can be used again", async (_what, mischief) => {
    const worktree = await add();
    mischief(worktree.path);
    await expect(treeOf(repository, worktree, { exclude: [] })).rejects.toMatchObject({
      code: "not_found",
      message: "The worktree p1-1 no longer exists",
    });
    expect(adoptWorktree(repository, "p1-1")).toBeUndefined();
    await removeWorktree(repository, "p1-1");
    expect(workFiles(project.path)["src/a.ts"]).toBe("- 1\n");
    await add();
  });
});

describe("resetting a worktree to another tree", () => {
  test("changes what differs and keeps ignored files", async () => {
    project.write("node_modules/x/index.js", "x");
    const worktree = await add();
    writeFileSync(inside(worktree, "src/a.ts"), "agent\n");
    writeFileSync(inside(worktree, "extra"), "agent\n");
    writeFileSync(inside(worktree, ".env"), "kept");
    project.write("src/b.ts", "2\n");
    project.write("later", "1\n");
    const { commit } = await snapshot(repository, nothing);
    const reset = await resetWorktree(repository, worktree, commit);
    const { ".env": env, node_modules: linked, ...files } = workFiles(reset.path);
    const { "node_modules/x/index.js": _, ...expected } = workFiles(project.path);
    expect(files).toEqual(expected);
    expect([env, linked]).toEqual(["- kept", `-> ${join(project.path, "node_modules")}`]);
    expect(await changes(reset)).toEqual([]);
    expect(adoptWorktree(repository, "p1-1")?.commit).toBe(commit);
  });
});

describe("removing a worktree", () => {
  test("handles directories without permissions, links, and depths beyond the descriptor limit", async () => {
    writeFileSync(join(project.base, "outside"), "kept");
    const worktree = await add();
    symlinkSync(project.base, inside(worktree, "link"));
    mkdirSync(inside(worktree, "closed/in"), { recursive: true });
    writeFileSync(inside(worktree, "closed/in/file"), "1");
    chmodSync(inside(worktree, "closed/in"), 0o000);
    chmodSync(inside(worktree, "closed"), 0o555);
    const script = "for i in $(seq 300); do mkdir d && cd d || exit 1; done; echo 1 > file";
    expect(spawnSync("bash", ["-c", script], { cwd: worktree.path }).status).toBe(0);
    expect(await removeWorktree(repository, "p1-1")).toBe(true);
    expect(existsSync(join(repository.place, "p1-1"))).toBe(false);
    expect(readFileSync(join(project.base, "outside"), "utf8")).toBe("kept");
  });

  test("retries while a process still writes to it", async () => {
    const worktree = await add();
    const writer = spawn(process.execPath, [
      "-e",
      `const fs = require("node:fs");
       const until = Date.now() + 500;
       const attempt = (work) => { try { work(); } catch {} };
       for (let n = 0; Date.now() < until; n++) {
         attempt(() => fs.mkdirSync(process.argv[1] + "/" + (n % 7)));
         attempt(() => fs.writeFileSync(process.argv[1] + "/" + (n % 7) + "/" + n, "x"));
         if (n === 10) fs.writeSync(1, ".");
       }`,
      worktree.path,
    ]);
    await new Promise((resolve) => writer.stdout.once("data", resolve));
    const ended = new Promise((resolve) => writer.once("exit", resolve));
    await Promise.all([removeWorktree(repository, "p1-1"), ended]);
    expect(readdirSync(repository.place)).toEqual(["git"]);
    expect(registered()).toBe(1);
  });

  test("does nothing without a marker of Maestro", async () => {
    mkdirSync(join(repository.place, "precious"));
    writeFileSync(join(repository.place, "precious", "file"), "1");
    expect(await removeWorktree(repository, "precious")).toBe(false);
    await pruneWorktrees(repository);
    expect(existsSync(join(repository.place, "precious", "file"))).toBe(true);
  });

  test("removes a locked registration", async () => {
    const worktree = await add();
    project.git("worktree", "lock", worktree.path);
    await removeWorktree(repository, "p1-1");
    expect(registered()).toBe(1);
  });
});

describe("pruning worktrees", () => {
  const die = (name: string) => {
    const file = join(repository.place, `${name}.worktree.json`);
    const marker = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...marker, owner: { ...ownIdentity(), start: "another" } }));
  };

  test("keeps other sessions' worktrees until they are old, and those that are needed", async () => {
    for (const name of ["a-1", "a-2", "b-1", "b-2"]) {
      await add(name);
      die(name);
    }
    const old = (Date.now() - 15 * 24 * 60 * 60 * 1000) / 1000;
    utimesSync(join(repository.place, "b-2.worktree.json"), old, old);
    expect((await pruneWorktrees(repository, "a-", new Set(["a-2"]))).sort()).toEqual(["a-1", "b-2"]);
  });

  test("removes worktrees of dead processes, and none of living processes or of the user", async () => {
    await add("dead-1");
    await add("dead-2");
    await add("alive");
    for (const name of ["dead-1", "dead-2"]) die(name);
    rmSync(join(repository.place, "dead-2"), { recursive: true });
    const theirs = join(project.base, "theirs");
    project.git("worktree", "add", "-q", "-b", "theirs", theirs);
    // A worktree of the user on a disk that is not mounted: `git worktree prune` would forget it.
    const away = join(project.base, "away");
    project.git("worktree", "add", "-q", "-b", "away", away);
    rmSync(away, { recursive: true });
    expect((await pruneWorktrees(repository)).sort()).toEqual(["dead-1", "dead-2"]);
    expect(readdirSync(repository.place).sort()).toEqual(["alive", "alive.worktree.json", "git"]);
    const list = project.git("worktree", "list", "--porcelain");
    for (const path of [join(repository.place, "alive"), theirs, away]) expect(list).toContain(path);
    expect(list).not.toContain("dead-");
    expect(existsSync(theirs)).toBe(true);
  });

  test("removes registrations without directory and marker, and temporary files of dead processes", async () => {
    await add();
    rmSync(join(repository.place, "p1-1"), { recursive: true });
    rmSync(join(repository.place, "p1-1.worktree.json"));
    const { pid, start } = { ...ownIdentity(), start: "1" };
    const live = readdirSync(repository.place);
    const dead = `.maestro-00000000-00000000-${pid}-${start}-${"0".repeat(24)}.tmp`;
    writeFileSync(join(repository.place, `${dead}.lock`), "");
    expect(await pruneWorktrees(repository)).toEqual([]);
    expect(registered()).toBe(1);
    expect(readdirSync(repository.place)).toEqual(live);
  });

  test("deletes temporary files of a killed process in all of Maestro's directories", async () => {
    const places = ["", "git", "git/info"].map((path) => join(repository.place, path));
    const before = places.map((path) => readdirSync(path));
    const dead = newTemporaryName().replace(/-[^-]+-([0-9a-f]{24}\.tmp)$/, "-1-$1");
    for (const path of places) writeFileSync(join(path, dead), "");
    await pruneWorktrees(repository);
    expect(places.map((path) => readdirSync(path))).toEqual(before);
  });

  test("keeps an adopted worktree, so work survives the process that started it", async () => {
    const worktree = await add();
    writeFileSync(inside(worktree, "src/a.ts"), "2\n");
    die("p1-1");
    const adopted = adoptWorktree(repository, "p1-1");
    expect(adopted).toEqual({ ...worktree, warnings: [] });
    expect(await pruneWorktrees(repository)).toEqual([]);
    expect(await changes(adopted as Worktree)).toEqual(["modified src/a.ts"]);
    expect(adoptWorktree(repository, "p9-1")).toBeUndefined();
  });

  test("removes the cache directory of a repository that no longer exists", async () => {
    await add();
    expect(await prunePlaces(project.cache)).toEqual([]);
    rmSync(project.path, { recursive: true });
    expect(await prunePlaces(project.cache)).toEqual([]);
    die("p1-1");
    expect(await prunePlaces(project.cache)).toHaveLength(1);
    expect(readdirSync(project.cache)).toEqual([]);
  });

  test("fails when a marker cannot be read", async () => {
    await add();
    writeFileSync(join(repository.place, "p1-1.worktree.json"), "{");
    await expect(pruneWorktrees(repository)).rejects.toThrow(/^The marker of the worktree p1-1 is damaged: /);
    writeFileSync(join(repository.place, "p1-1.worktree.json"), '{"v":2}');
    await expect(removeWorktree(repository, "p1-1")).rejects.toThrow("written by a newer Maestro");
  });
});

describe("an ignored file that is requested by name", () => {
  const seen = async (worktree: Worktree, force: string[]) => {
    const { tree } = await treeOf(repository, worktree, { exclude: [], force });
    const found = await changesBetween(repository, worktree.commit, tree);
    return found.map(({ kind, path }) => `${kind} ${path}`);
  };

  test("counts when it is created, changed or deleted; copied files never do", async () => {
    project.write(".gitignore", "*.gen\n.env\n");
    project.write("kept.gen", "1\n");
    project.write("gone.gen", "1\n");
    project.write(".env", "1\n");
    const force = ["kept.gen", "gone.gen", "new.gen"];
    const taken = await snapshot(repository, { exclude: [], include: [".env"], force });
    const worktree = await addWorktree(repository, "s", "p1-1", taken);
    expect(await seen(worktree, force)).toEqual([]);
    writeFileSync(inside(worktree, "kept.gen"), "2\n");
    rmSync(inside(worktree, "gone.gen"));
    for (const name of ["new.gen", "noise.gen", ".env"]) writeFileSync(inside(worktree, name), "2\n");
    expect(await seen(worktree, force)).toEqual(["deleted gone.gen", "modified kept.gen", "created new.gen"]);
  });

  test("counts even in a copied directory", async () => {
    project.write(".gitignore", "local\n");
    project.write("local/owned", "1\n");
    project.write("local/other", "1\n");
    const force = ["local/owned"];
    const worktree = await addWorktree(
      repository,
      "s",
      "p1-1",
      await snapshot(repository, { exclude: [], include: ["local"], force }),
    );
    expect(await seen(worktree, force)).toEqual([]);
    for (const name of ["owned", "other"]) writeFileSync(inside(worktree, `local/${name}`), "2\n");
    expect(await seen(worktree, force)).toEqual(["modified local/owned"]);
  });

  test("is restored with the commit that a worktree is reset to", async () => {
    project.write(".gitignore", "*.gen\n");
    const worktree = await add();
    writeFileSync(inside(worktree, "new.gen"), "agent\n");
    const { commit } = await treeOf(repository, worktree, { exclude: [], force: ["new.gen"] });
    const back = await resetWorktree(repository, worktree, commit);
    expect(await seen(back, ["new.gen"])).toEqual([]);
    expect(readFileSync(inside(back, "new.gen"), "utf8")).toBe("agent\n");
    writeFileSync(inside(back, "new.gen"), "more\n");
    const other = await resetWorktree(repository, back, commit);
    expect(readFileSync(inside(other, "new.gen"), "utf8")).toBe("agent\n");
  });
});

describe("a project without files in its repository", () => {
  test("has its directory in a worktree, even after a reset", async () => {
    const root = join(project.path, "packages", "new");
    mkdirSync(root, { recursive: true });
    const inner = await project.open(root);
    const taken = await snapshot(inner, nothing);
    const worktree = await addWorktree(inner, "s", "p1-1", taken);
    expect(readdirSync(worktree.root)).toEqual([]);
    writeFileSync(join(worktree.root, "made"), "1\n");
    const { commit } = await treeOf(inner, worktree, { exclude: [] });
    await resetWorktree(inner, worktree, commit);
    await resetWorktree(inner, worktree, taken.commit);
    expect(readdirSync(worktree.root)).toEqual([]);
  });
});

describe("a merged tree", () => {
  test("can be checked out like any other", async () => {
    const taken = await snapshot(repository, nothing);
    const commit = await commitTree(repository, { tree: taken.tree, parents: [taken.commit], message: "merged" });
    const worktree = await addWorktree(repository, "s", "merged", { commit, ignored: [], links: [] });
    expect(workFiles(worktree.path)).toEqual(workFiles(project.path));
  });
});

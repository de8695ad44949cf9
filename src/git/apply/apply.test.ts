import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { crashPoints, STRIDE } from "../../../test/support/crash-points.ts";
import { filesBelow, GitProject, workFiles } from "../../../test/support/git-repository.ts";
import { programPath } from "../../../test/support/project.ts";
import type { Repository } from "../repository.ts";
import { snapshot } from "../snapshot/snapshot.ts";
import { executePlan, finish } from "./apply.ts";
import { planApply } from "./apply-plan.ts";

let project: GitProject;
let repository: Repository;
beforeEach(async () => {
  project = new GitProject();
  repository = await project.open();
});
afterEach(() => project.remove());

type Files = Record<string, string>;

/** Makes the project contain exactly these files: "- text", "x text" for an executable, "-> target" for a link. */
const restore = (files: Files, root = project.path) => {
  for (const name of readdirSync(root)) if (name !== ".git") rmSync(join(root, name), { recursive: true });
  for (const [name, content] of Object.entries(files)) put(name, content, root);
};
const put = (name: string, content: string, root = project.path) => {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  if (content.startsWith("-> ")) return symlinkSync(content.slice(3), path);
  writeFileSync(path, content.slice(2), "latin1");
  chmodSync(path, content.startsWith("x") ? 0o755 : 0o644);
};
const tree = async () => (await snapshot(repository, { exclude: [], include: [] })).tree;

/** Trees of two states; the project is left in the first. */
const between = async (before: Files, after: Files) => {
  restore(after);
  const to = await tree();
  restore(before);
  return { from: await tree(), to };
};
const apply = async (from: string, to: string) => executePlan(repository, await planApply(repository, from, to));
const files = () => workFiles(project.path);
const litter = () => Object.keys(filesBelow(project.path)).filter((name) => name.includes(".maestro-"));

const cases: [what: string, before: Files, after: Files][] = [
  ["creates a file", {}, { a: "- 1" }],
  ["creates a file in new directories", { z: "- 1" }, { z: "- 1", "x/y/a": "- 1" }],
  ["changes a file", { a: "- 1" }, { a: "- 2" }],
  ["deletes a file", { a: "- 1", b: "- 1" }, { b: "- 1" }],
  ["deletes a file and the directories that become empty", { "x/y/a": "- 1", "x/b": "- 1" }, { "x/b": "- 1" }],
  ["deletes everything", { "x/y/a": "- 1", b: "- 1" }, {}],
  ["makes a file executable", { a: "- 1" }, { a: "x 1" }],
  ["removes the executable bit and changes the content", { a: "x 1" }, { a: "- 2" }],
  ["creates a link, whatever its target", {}, { a: "-> ../../etc/passwd" }],
  ["changes the target of a link", { a: "-> b" }, { a: "-> c" }],
  ["replaces a file with a link and a link with a file", { a: "- 1", b: "-> a" }, { a: "-> b", b: "- 1" }],
  ["moves a file", { "x/a": "- 1" }, { "y/a": "- 1" }],
  ["replaces a file with a directory", { a: "- 1" }, { "a/b/c": "- 1", "a/d": "- 2" }],
  ["replaces a directory with a file", { "a/b/c": "- 1", "a/d": "- 2" }, { a: "- 1" }],
  ["replaces a directory with a link", { "a/b": "- 1", c: "- 1" }, { a: "-> c", c: "- 1" }],
  ["replaces a link with a directory", { a: "-> c", c: "- 1" }, { "a/b": "- 1", c: "- 1" }],
  ["writes any content", { a: "- \0\xff" }, { a: "- \r\n\0", b: "- " }],
  ["writes any name", {}, { "new\nline": "- 1", " \u00fc/-rf": "- 1", "$(touch PWNED)": "- 1" }],
  ["writes the same content many times", {}, { a: "- 1", b: "x 1", "c/d": "- 1" }],
];

describe("an integration", () => {
  test.each(cases)("%s, and reverts it", async (_what, before, after) => {
    const { from, to } = await between(before, after);
    expect(await apply(from, to)).toEqual({ kind: "done", left: [] });
    expect(files()).toEqual(after);
    expect(await apply(to, from)).toEqual({ kind: "done", left: [] });
    expect(files()).toEqual(before);
    expect(litter()).toEqual([]);
    expect(readdirSync(project.path).sort()).toEqual(
      [...new Set([".git", ...Object.keys(before).map((name) => name.split("/")[0])])].sort(),
    );
  });

  test("leaves the user's index alone, so the change is not staged", async () => {
    const { from, to } = await between({ a: "- 1", b: "- 1" }, { a: "- 2", c: "- 1" });
    project.git("add", "-A");
    project.git("commit", "-qm", "x");
    const index = readFileSync(join(project.path, ".git/index"));
    await apply(from, to);
    expect(readFileSync(join(project.path, ".git/index")).equals(index)).toBe(true);
    expect(project.git("status", "--porcelain").split("\n")).toEqual([" M a", " D b", "?? c"]);
  });

  test("changes nothing when the trees are equal or the project already has the files", async () => {
    const { from, to } = await between({ a: "- 1" }, { a: "- 2", b: "- 1" });
    expect(await planApply(repository, from, from)).toEqual({ from, to: from, steps: [], refused: [] });
    put("a", "- 2");
    expect(await apply(from, to)).toEqual({ kind: "done", left: [] });
    expect(files()).toEqual({ a: "- 2", b: "- 1" });
    expect(await apply(from, to)).toEqual({ kind: "done", left: [] });
  });

  test("touches only the paths that differ, and keeps their permissions", async () => {
    const { from, to } = await between({ a: "- 1", same: "- 1", run: "- 1" }, { a: "- 2", same: "- 1", run: "x 1" });
    put("same", "- changed by the user");
    chmodSync(join(project.path, "a"), 0o600);
    chmodSync(join(project.path, "run"), 0o640);
    const { ino } = statSync(join(project.path, "same"));
    await apply(from, to);
    expect(files().same).toBe("- changed by the user");
    expect(statSync(join(project.path, "same")).ino).toBe(ino);
    expect(statSync(join(project.path, "a")).mode & 0o777).toBe(0o600);
    expect(statSync(join(project.path, "run")).mode & 0o777).toBe(0o750);
  });

  test("writes large files and many files", async () => {
    const large = `- ${"x".repeat(40 * 1024 * 1024)}`;
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`many/${at}`, `- ${at}`]));
    const { from, to } = await between({}, { large, ...many });
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 5);
    expect(await apply(from, to)).toEqual({ kind: "done", left: [] });
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);
    expect(statSync(join(project.path, "large")).size).toBe(large.length - 2);
    expect(readdirSync(join(project.path, "many"))).toHaveLength(300);
  });

  test("recognizes files on a disk without links and modes", async () => {
    const { from, to } = await between({ a: "-> b", c: "x 1" }, { a: "-> d", c: "- 1", e: "x 2" });
    restore({ a: "- b", c: "- 1" });
    const plain = { ...repository, symlinks: false, fileMode: false };
    expect(await executePlan(plain, await planApply(plain, from, to))).toEqual({ kind: "done", left: [] });
    expect(files().a).toBe("- d");
    expect(files().c).toBe("- 1");
  });
});

describe("an integration that finds unexpected files", () => {
  const before: Files = { a: "- 1", "x/b": "- 1", link: "-> a", gone: "- 1", "d/e": "- 1" };
  const after: Files = { a: "- 2", "x/b": "- 2", link: "-> b", "new/file": "- 1", d: "- 1" };

  test.each<[what: string, paths: string[], edit: () => void]>([
    ["a changed file", ["a"], () => put("a", "- 3")],
    ["a changed mode", ["a"], () => chmodSync(join(project.path, "a"), 0o755)],
    ["a deleted file", ["a"], () => rmSync(join(project.path, "a"))],
    [
      "a file that was replaced by a link to the same content",
      ["a"],
      () => {
        put("copy", "- 1");
        rmSync(join(project.path, "a"));
        put("a", "-> copy");
      },
    ],
    [
      "a file that was replaced by a directory",
      ["a"],
      () => {
        rmSync(join(project.path, "a"));
        mkdirSync(join(project.path, "a"));
      },
    ],
    [
      "a link with another target",
      ["link"],
      () => {
        rmSync(join(project.path, "link"));
        put("link", "-> c");
      },
    ],
    ["a file at the path of a new one", ["new/file"], () => put("new/file", "- mine")],
    ["a link at the path of a new directory", ["new/file"], () => put("new", "-> x")],
    ["a file at the path of a new directory", ["new/file"], () => put("new", "- mine")],
    ["a changed file that would be deleted", ["gone"], () => put("gone", "- mine")],
    [
      "a directory that was replaced by a link",
      ["x/b"],
      () => {
        rmSync(join(project.path, "x"), { recursive: true });
        mkdirSync(join(project.base, "outside"));
        writeFileSync(join(project.base, "outside", "b"), "1");
        put("x", `-> ${join(project.base, "outside")}`);
      },
    ],
    [
      "a FIFO",
      ["a"],
      () => {
        rmSync(join(project.path, "a"));
        spawnSync("mkfifo", [join(project.path, "a")]);
      },
    ],
  ])("touches nothing: %s", async (_what, paths, edit) => {
    const { from, to } = await between(before, after);
    edit();
    const found = filesBelow(project.base);
    expect(await apply(from, to)).toEqual({ kind: "changed", paths });
    expect(filesBelow(project.base)).toEqual(found);
    // If the integration has already begun, it leaves this path alone and does the rest.
    const theirs = paths.map((path) => filesBelow(join(project.path, path)));
    expect(await finish(repository, from, to)).toEqual({ left: paths });
    expect(paths.map((path) => filesBelow(join(project.path, path)))).toEqual(theirs);
    const rest = Object.keys(after).filter((name) => !paths.includes(name));
    for (const name of rest) expect(files()[name]).toBe(after[name]);
  });

  test("touches nothing: a file of the user in a directory that would be deleted", async () => {
    const { from, to } = await between(before, after);
    put("d/mine", "- mine");
    const found = filesBelow(project.base);
    expect(await apply(from, to)).toEqual({ kind: "changed", paths: ["d"] });
    expect(filesBelow(project.base)).toEqual(found);
    expect(await finish(repository, from, to)).toEqual({ left: ["d"] });
    expect(filesBelow(join(project.path, "d"))).toEqual({ mine: "- mine" });
  });

  test("never writes through a link, even one that is created at the last moment", async () => {
    const { from, to } = await between({ "x/b": "- 1" }, { "x/b": "- 2", "x/c": "- 3" });
    mkdirSync(join(project.base, "outside"));
    writeFileSync(join(project.base, "outside", "b"), "1");
    const plan = await planApply(repository, from, to);
    rmSync(join(project.path, "x"), { recursive: true });
    put("x", `-> ${join(project.base, "outside")}`);
    expect(await executePlan(repository, plan)).toMatchObject({ kind: "changed" });
    expect(filesBelow(join(project.base, "outside"))).toEqual({ b: "- 1" });
    expect((await finish(repository, from, to)).left.sort()).toEqual(["x/b", "x/c"]);
    expect(filesBelow(join(project.base, "outside"))).toEqual({ b: "- 1" });
  });

  test("keeps ignored files in a directory whose other files are deleted", async () => {
    put(".gitignore", "- *.o\n");
    const { from, to } = await between({ ".gitignore": "- *.o\n", "d/a": "- 1" }, { ".gitignore": "- *.o\n" });
    put("d/a.o", "- built");
    expect(await apply(from, to)).toEqual({ kind: "done", left: [] });
    expect(files()["d/a.o"]).toBe("- built");
  });
});

describe("an integration during which the user works", () => {
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`many/${at}`, `- ${at}`]));
  /** Runs as soon as `look` returns true, in a turn of the event loop between two steps. */
  const as = async (look: () => boolean, edit: () => void) => {
    while (!look()) await new Promise((resolve) => setImmediate(resolve));
    edit();
  };

  test("touches nothing when a file changes while the new contents are being written", async () => {
    const { from, to } = await between({ a: "- 1" }, { a: "- 2", ...many });
    const [outcome] = await Promise.all([
      apply(from, to),
      as(
        () => litter().length > 0,
        () => put("a", "- mine"),
      ),
    ]);
    expect(outcome).toEqual({ kind: "changed", paths: ["a"] });
    expect(files()).toEqual({ a: "- mine" });
    expect(litter()).toEqual([]);
  });

  test("leaves alone and reports files that change or appear after it has begun", async () => {
    const { from, to } = await between({ z: "- 1", zz: "- 1" }, { ...many, z: "- 2", "new/file": "- 2" });
    const edit = () => {
      put("z", "- mine");
      put("zz", "- mine");
      put("new/file", "- mine");
    };
    const [outcome] = await Promise.all([apply(from, to), as(() => existsSync(join(project.path, "many")), edit)]);
    expect(outcome).toEqual({ kind: "done", left: ["new/file", "z", "zz"] });
    expect(files()).toEqual({ ...many, z: "- mine", zz: "- mine", "new/file": "- mine" });
    expect(litter()).toEqual([]);
  });
});

describe("an integration on a full disk", () => {
  test("reports it, touches nothing and leaves no temporary file (F5, P11)", async (context) => {
    const { from, to } = await between(
      { a: "- 1", "full/b": "- 1" },
      { a: "- 2", "full/b": "- 2", "full/c": `- ${"x".repeat(300_000)}` },
    );
    const script = `mkdir ../kept && cp full/b ../kept && mount -t tmpfs -o size=64k none full && cp ../kept/b full || exit 9
      "$@" || echo "failed with $?"; cat a full/b; find . -name ".maestro-*"`;
    const program = [process.execPath, programPath("git-apply"), project.path, project.cache, from, to];
    const [namespace, ...words] = [
      "unshare",
      "--user",
      "--map-root-user",
      "--mount",
      "sh",
      "-c",
      script,
      "sh",
      ...program,
    ];
    const { stdout, stderr } = spawnSync(namespace, words, { cwd: project.path, encoding: "utf8" });
    if (/unshare:|mount:/.test(stderr)) context.skip("user namespaces are not available here");
    expect(stderr).toContain("Cannot write full/c: no space left on device (ENOSPC)");
    expect(stdout).toBe("failed with 1\n11");
  });
});

describe("a plan refuses", () => {
  /** Writes a tree by hand, because git would refuse to create it. */
  const forged = (entries: [mode: string, type: string, id: string, name: string][]) => {
    const input = entries.map(([mode, type, id, name]) => `${mode} ${type} ${id}\t${name}\0`).join("");
    const { stdout, stderr } = spawnSync("git", ["mktree", "-z", "--missing"], {
      cwd: project.path,
      input,
      encoding: "utf8",
    });
    if (stdout === "") throw new Error(stderr);
    return stdout.trim();
  };
  const blob = () =>
    spawnSync("git", ["hash-object", "-w", "--stdin"], {
      cwd: project.path,
      input: "x",
      encoding: "utf8",
    }).stdout.trim();

  test.each([
    [".git", "it is in a .git directory"],
    [".GIT", "it is in a .git directory"],
    [".g\u200cit", "it is in a .git directory"],
    ["git~1", "it is in a .git directory"],
    ["..", "it is outside the project"],
    [".", "it is not a valid path"],
  ])("a directory named %j", async (name, reason) => {
    const inner = forged([["100644", "blob", blob(), "config"]]);
    const to = forged([["040000", "tree", inner, name]]);
    const from = await tree();
    const plan = await planApply(repository, from, to);
    expect(plan).toMatchObject({ steps: [], refused: [{ reason }] });
    const before = filesBelow(project.base);
    await expect(executePlan(repository, plan)).rejects.toMatchObject({ code: "path" });
    await expect(finish(repository, from, to)).rejects.toThrow(/^Cannot change .* in the project: /);
    expect(filesBelow(project.base)).toEqual(before);
  });

  test("a submodule, and a name that is not UTF-8", async () => {
    const id = "1".repeat(40);
    const link = forged([["160000", "commit", id, "lib"]]);
    expect((await planApply(repository, await tree(), link)).refused).toEqual([
      { path: "lib", reason: "it is a submodule" },
    ]);
    writeFileSync(Buffer.concat([Buffer.from(`${project.path}/`), Buffer.from([0xff])]), "1");
    const odd = await tree();
    rmSync(Buffer.concat([Buffer.from(`${project.path}/`), Buffer.from([0xff])]));
    expect((await planApply(repository, await tree(), odd)).refused).toMatchObject([
      { reason: "its name is not UTF-8" },
    ]);
  });

  test("a path outside the project, although in its repository", async () => {
    put("packages/api/a", "- 1");
    put("b", "- 1");
    repository = await project.open(join(project.path, "packages/api"));
    const from = await tree();
    put("packages/api/a", "- 2");
    put("b", "- 2");
    const to = await tree();
    const plan = await planApply(repository, from, to);
    expect(plan.refused).toEqual([{ path: "../../b", reason: "it is outside the project" }]);
    expect(plan.steps.map(({ path }) => path)).toEqual(["a"]);
    await expect(executePlan(repository, plan)).rejects.toThrow(
      "Cannot change ../../b in the project: it is outside the project",
    );
  });

  test("a rename that only changes case, on a case-insensitive disk", async () => {
    const { from, to } = await between({ Name: "- 1" }, { name: "- 1" });
    const { refused } = await planApply({ ...repository, ignoreCase: true }, from, to);
    expect(refused.map(({ path }) => path)).toEqual(["Name", "name"]);
    expect((await planApply(repository, from, to)).refused).toEqual([]);
  });
});

describe("an integration killed with SIGKILL at every step (F1)", () => {
  const before: Files = {
    "src/changed": "- old",
    "src/mode": "- same",
    "src/gone/deep/file": "- old",
    "to-directory": "- old",
    "to-file/a": "- old",
    "to-file/b/c": "- old",
    link: "-> src",
    untouched: "- kept",
  };
  const after: Files = {
    "src/changed": "- new content",
    "src/mode": "x same",
    "fresh/dir/file": "- new",
    "to-directory/x": "- new",
    "to-file": "- new",
    link: "-> fresh",
    untouched: "- kept",
    "other-link": "-> fresh/dir",
  };

  /** Kills the process at its n-th step, for n = 1, 2, ... until a run finishes. */
  const killAtEveryStep = (from: string, to: string, what: string[], check: (point: number) => Promise<void>) =>
    killLoop(
      (point) =>
        spawnSync(process.execPath, [programPath("git-apply"), project.path, project.cache, from, to, ...what], {
          encoding: "utf8",
          env: { ...process.env, NODE_ENV: "test", MAESTRO_CRASH_AT: `any:${point}` },
        }),
      check,
    );
  const expectFinished = async (from: string, to: string, point: number) => {
    expect(await finish(repository, from, to), `killed at step ${point}`).toEqual({ left: [] });
    expect(files(), `finished after step ${point}`).toEqual(after);
    expect(litter(), `finished after step ${point}`).toEqual([]);
    expect(existsSync(join(project.path, "src/gone")), "no empty directory is left").toBe(false);
  };

  test("leaves every file old or new, and `finish` completes the new tree without temporary files", async () => {
    const { from, to } = await between(before, after);
    const seen = { before: 0, between: 0, after: 0 };
    await killAtEveryStep(from, to, [], async (point) => {
      const found = Object.entries(files()).filter(([name]) => !name.includes(".maestro-"));
      for (const [name, content] of found) {
        expect([before[name], after[name]], `${name} killed at step ${point}`).toContain(content);
      }
      const is = (state: Files) => JSON.stringify(Object.fromEntries(found)) === JSON.stringify(sorted(state, found));
      seen[is(before) ? "before" : is(after) ? "after" : "between"] += 1;
      await expectFinished(from, to, point);
      restore(before);
    });
    // The test proves something only if kills happened before, during and after the change.
    expect(seen.before).toBeGreaterThan(10 / STRIDE);
    expect(seen.between).toBeGreaterThan(10 / STRIDE);
    expect(seen.after).toBeGreaterThan(0);
  }, 300_000);

  test("can be finished even if the finishing process was killed too", async () => {
    const { from, to } = await between(before, after);
    const halfway: Files = { ...before, "src/changed": "- new content", "to-directory/x": "- new" };
    delete halfway["to-directory"];
    delete halfway["src/gone/deep/file"];
    const arrange = () => {
      restore(halfway);
      mkdirSync(join(project.path, "src/gone/deep"), { recursive: true });
    };
    arrange();
    await killAtEveryStep(from, to, ["finish"], async (point) => {
      await expectFinished(from, to, point);
      arrange();
    });
  }, 300_000);
});

async function killLoop(run: (point: number) => SpawnSyncReturns<string>, check: (point: number) => Promise<void>) {
  for (const point of crashPoints(400)) {
    const { signal, stdout, stderr } = run(point);
    if (signal !== "SIGKILL") {
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toMatchObject({ left: [] });
      expect(point).toBeGreaterThan(20);
      return;
    }
    await check(point);
  }
}

/** A state with its names in the order of `order`. */
function sorted(state: Files, order: [string, string][]): Files {
  const names = order.map(([name]) => name);
  return Object.fromEntries(Object.entries(state).sort(([a], [b]) => names.indexOf(a) - names.indexOf(b)));
}

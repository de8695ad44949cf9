import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { filesBelow, GitProject, workFiles } from "../../../test/support/git-repository.ts";
import { until } from "../../../test/support/processes.ts";
import { readIncludes } from "../worktree/ignored.ts";
import { addWorktree } from "../worktree/worktree.ts";
import { snapshot } from "./snapshot.ts";

let project: GitProject;
beforeEach(() => {
  project = new GitProject();
});
afterEach(() => project.remove());

const nothing = { exclude: [], include: [] };

/** The files of a snapshot, as checked out in a worktree. */
const roundTrip = async (root = project.path, options: { exclude: string[]; include: string[] } = nothing) => {
  const repository = await project.open(root);
  const taken = await snapshot(repository, options);
  const worktree = await addWorktree(repository, "s", "trip", { ...taken, ignored: [], links: [] });
  return { taken, worktree, files: workFiles(worktree.path) };
};

describe("a snapshot", () => {
  test("contains committed, staged, unstaged and untracked files, modes, links and deletions, but no ignored files", async () => {
    project.write("committed", "1");
    project.write("staged", "1");
    project.write("unstaged", "1");
    project.write("deleted", "1");
    project.write("removed", "1");
    project.write("script", "#!", 0o644);
    project.write("becomes-link", "1");
    project.write(".gitignore", "*.log\nbuild/\n");
    project.commit();
    project.write("staged", "2");
    project.git("add", "staged");
    project.write("unstaged", "2");
    rmSync(join(project.path, "deleted"));
    project.git("rm", "-q", "removed");
    chmodSync(join(project.path, "script"), 0o755);
    rmSync(join(project.path, "becomes-link"));
    symlinkSync("committed", join(project.path, "becomes-link"));
    project.write("new/deep/file", "3");
    symlinkSync("/nowhere/at/all", join(project.path, "dangling"));
    project.write("noise.log", "x");
    project.write("build/out", "x");
    const before = project.untouchables();
    const { files, taken } = await roundTrip();
    expect(files).toEqual({
      ".gitignore": "- *.log\nbuild/\n",
      committed: "- 1",
      staged: "- 2",
      unstaged: "- 2",
      script: "x #!",
      "becomes-link": "-> committed",
      "new/deep/file": "- 3",
      dangling: "-> /nowhere/at/all",
    });
    expect(project.untouchables()).toEqual(before);
    expect(project.git("rev-parse", `${taken.commit}^`)).toBe(project.git("rev-parse", "HEAD"));
    expect(project.git("log", "-1", "--format=%an <%ae> %cn <%ce> %G?", taken.commit)).toBe(
      "Maestro <maestro@localhost> Maestro <maestro@localhost> N",
    );
  });

  test("leaves index, reflog, stash and branches byte for byte unchanged, whatever their state", async () => {
    project.write("a", "1");
    project.commit();
    project.write("a", "2");
    project.git("stash", "-q");
    project.write("a", "3");
    project.git("add", "a");
    project.write("a", "4");
    project.git("branch", "other");
    const before = project.untouchables();
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining([".git/index", ".git/logs/HEAD", ".git/refs/stash", ".git/refs/heads/other"]),
    );
    const repository = await project.open();
    for (let round = 0; round < 3; round++) await snapshot(repository, nothing);
    expect(project.untouchables()).toEqual(before);
    expect(project.git("stash", "list")).toContain("stash@{0}");
  });

  test.each([
    ["an empty repository", () => undefined, {}],
    ["a repository without a commit", () => project.write("a", "1"), { a: "- 1" }],
    [
      "staged files before the first commit",
      () => {
        project.write("a", "1");
        project.git("add", "a");
        project.write("a", "2");
      },
      { a: "- 2" },
    ],
    [
      "a detached HEAD",
      () => {
        project.write("a", "1");
        project.commit();
        project.git("checkout", "-q", "--detach");
        project.write("b", "2");
      },
      { a: "- 1", b: "- 2" },
    ],
    [
      "a merge in progress that has no conflicts",
      () => {
        project.write("a", "1");
        project.commit();
        project.git("checkout", "-q", "-b", "side");
        project.write("b", "2");
        project.commit();
        project.git("checkout", "-q", "main");
        project.git("merge", "-q", "--no-ff", "--no-commit", "side");
      },
      { a: "- 1", b: "- 2" },
    ],
    [
      "files marked assume-unchanged or skip-worktree",
      () => {
        project.write("assumed", "1");
        project.write("skipped", "1");
        project.commit();
        project.git("update-index", "--assume-unchanged", "assumed");
        project.git("update-index", "--skip-worktree", "skipped");
        project.write("assumed", "22");
        project.write("skipped", "22");
      },
      { assumed: "- 22", skipped: "- 22" },
    ],
    [
      "a file that was added with intent-to-add",
      () => {
        project.write("a", "1");
        project.git("add", "-N", "a");
      },
      { a: "- 1" },
    ],
    [
      "a tracked file that is ignored",
      () => {
        project.write(".gitignore", "kept\n");
        project.write("kept", "1");
        project.git("add", "-f", "kept", ".gitignore");
        project.write("kept", "2");
      },
      { ".gitignore": "- kept\n", kept: "- 2" },
    ],
    [
      "a directory that replaced a file, and a file that replaced a directory",
      () => {
        project.write("a", "1");
        project.write("b/c", "1");
        project.commit();
        rmSync(join(project.path, "a"));
        rmSync(join(project.path, "b"), { recursive: true });
        project.write("a/x", "2");
        project.write("b", "2");
      },
      { "a/x": "- 2", b: "- 2" },
    ],
    [
      "a link that replaced a directory",
      () => {
        project.write("a/x", "1");
        project.write("b/x", "2");
        project.commit();
        rmSync(join(project.path, "a"), { recursive: true });
        symlinkSync("b", join(project.path, "a"));
      },
      { a: "-> b", "b/x": "- 2" },
    ],
    [
      "a FIFO, new or replacing a file",
      () => {
        project.write("a", "1");
        project.write("b", "1");
        project.commit();
        rmSync(join(project.path, "a"));
        spawnSync("mkfifo", [join(project.path, "a"), join(project.path, "fifo")]);
      },
      { b: "- 1" },
    ],
    [
      "a split index",
      () => {
        project.write("a", "1");
        project.write("b", "1");
        project.commit();
        project.git("update-index", "--split-index");
        project.write("c", "1");
        project.git("add", "c");
        project.write("b", "2");
      },
      { a: "- 1", b: "- 2", c: "- 1" },
    ],
    [
      "an index of version 4",
      () => {
        for (const name of ["a", "dir/one", "dir/other", "dir/sub/three"]) project.write(name, name);
        project.commit();
        project.git("update-index", "--index-version", "4");
        project.git("update-index", "--assume-unchanged", "dir/other");
        project.write("dir/other", "changed");
      },
      { a: "- a", "dir/one": "- dir/one", "dir/other": "- changed", "dir/sub/three": "- dir/sub/three" },
    ],
    [
      "an untracked cache and a file system monitor that reports no changes",
      () => {
        project.write("a", "1");
        project.commit();
        // The monitor always answers that nothing changed.
        project.write(".git/hooks/quiet", "#!/bin/sh\nprintf 'token\\0'\n", 0o755);
        project.git("config", "core.fsmonitor", ".git/hooks/quiet");
        project.git("config", "core.untrackedCache", "true");
        project.git("status");
        project.git("update-index", "--untracked-cache", "--fsmonitor");
        project.git("status");
        project.write("a", "2");
        project.write("b", "3");
      },
      { a: "- 2", b: "- 3" },
    ],
  ])("handles %s", async (_what, prepare, expected) => {
    prepare();
    const { files } = await roundTrip();
    expect(files).toEqual(expected);
  });

  test.each([
    "with space",
    " leading and trailing ",
    "new\nline",
    "tab\there",
    "quote\"and'",
    "back\\slash",
    "umlaut-\u00fc-\u6f22\u5b57-\ud83c\udfbb",
    "-rf",
    ":(top)magic",
    "star*?[a]",
    "$(touch PWNED)",
    "a -> b",
  ])("includes a file named %j, tracked and untracked", async (name) => {
    project.write(`tracked/${name}`, "1");
    project.commit();
    project.write(`tracked/${name}`, "2");
    project.write(`untracked/${name}`, "3");
    const { files } = await roundTrip();
    expect(files).toEqual({ [`tracked/${name}`]: "- 2", [`untracked/${name}`]: "- 3" });
  });

  test("keeps names that are not UTF-8 byte for byte", async () => {
    const name = Buffer.concat([Buffer.from(`${project.path}/`), Buffer.from([0x66, 0xff, 0xfe])]);
    writeFileSync(name, "1");
    const { taken } = await roundTrip();
    expect(project.git("-c", "core.quotePath=true", "ls-tree", "--name-only", taken.tree)).toBe('"f\\377\\376"');
  });

  test("detects a change of the same size that was made in the same second as the index", async () => {
    const repository = await project.open();
    project.write("a", "1");
    project.git("add", "a");
    project.write("a", "2");
    const second = Math.floor(Date.now() / 1000);
    await until("the next second", () => Math.floor(Date.now() / 1000) > second);
    const { tree } = await snapshot(repository, nothing);
    expect(project.git("cat-file", "-p", `${tree}:a`)).toBe("2");
  });

  test("has the same tree as HEAD and as the previous snapshot when nothing changed", async () => {
    project.write("a", "1");
    project.commit();
    const repository = await project.open();
    const { tree } = await snapshot(repository, nothing);
    expect(tree).toBe(project.git("rev-parse", "HEAD^{tree}"));
    expect((await snapshot(repository, nothing)).tree).toBe(tree);
  });

  test("succeeds while files vanish and appear", async () => {
    for (let n = 0; n < 50; n++) project.write(`steady/${n}`, `${n}`);
    project.commit();
    const restless = spawn(process.execPath, [
      "-e",
      `const fs = require("node:fs"); process.chdir(process.argv[1]);
       for (let n = 0; ; n++) {
         const name = "flicker-" + (n % 40);
         fs.writeFileSync(name, "x".repeat(n % 5000));
         if (n === 100) fs.writeSync(1, ".");
         fs.rmSync("flicker-" + ((n + 20) % 40), { force: true });
       }`,
      project.path,
    ]);
    await new Promise((resolve) => restless.stdout.once("data", resolve));
    try {
      const repository = await project.open();
      for (let round = 0; round < 5; round++) {
        const { tree } = await snapshot(repository, nothing);
        const steady = project
          .git("ls-tree", "-r", "--name-only", tree)
          .split("\n")
          .filter((name) => name.startsWith("steady/"));
        expect(steady).toHaveLength(50);
      }
    } finally {
      restless.kill("SIGKILL");
    }
  });

  test("fails when a merge with conflicts began after the repository was opened", async () => {
    project.write("a", "1");
    project.commit();
    const repository = await project.open();
    project.git("checkout", "-q", "-b", "side");
    project.write("a", "2");
    project.commit();
    project.git("checkout", "-q", "main");
    project.write("a", "3");
    project.commit();
    expect(() => project.git("merge", "side")).toThrow();
    await expect(snapshot(repository, nothing)).rejects.toMatchObject({
      code: "conflict",
      message: "The project cannot be read: a merge is in progress and has conflicts in a: finish or abort it first",
    });
  });

  test("fails when a submodule was added after the repository was opened, without reading it", async () => {
    project.write("a", "1");
    const commit = project.commit();
    const repository = await project.open();
    mkdirSync(join(project.path, "lib"));
    project.gitIn(join(project.path, "lib"), "init", "-q");
    project.gitIn(
      join(project.path, "lib"),
      "-c",
      "user.name=x",
      "-c",
      "user.email=x",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    );
    project.gitIn(join(project.path, "lib"), "config", "core.fsmonitor", `touch ${join(project.base, "PWNED")}`);
    project.git("update-index", "--add", "--cacheinfo", `160000,${commit},lib`);
    await expect(snapshot(repository, nothing)).rejects.toThrow("The project cannot be read: it has submodules (lib)");
    expect(readdirSync(project.base)).not.toContain("PWNED");
  });

  test("leaves no temporary file behind", async () => {
    project.write("a", "1");
    const repository = await project.open();
    await snapshot(repository, { exclude: [], include: ["x"] });
    expect(Object.keys(filesBelow(repository.place)).filter((name) => !name.startsWith("git/"))).toEqual([]);
  });
});

describe("bytes on disk are preserved", () => {
  const crlf = "one\r\ntwo\r\n";
  /** Makes files old, so that git trusts its index about them. */
  const settle = (...names: string[]) => {
    for (const name of names) utimesSync(join(project.path, name), 1e9, 1e9);
    project.git("update-index", "--refresh");
  };
  const settings: [what: string, arrange: () => void][] = [
    ["core.autocrlf=true", () => project.git("config", "core.autocrlf", "true")],
    ["core.autocrlf=input", () => project.git("config", "core.autocrlf", "input")],
    [
      "core.eol=crlf and text=auto",
      () => {
        project.git("config", "core.eol", "crlf");
        project.write(".gitattributes", "* text=auto\n");
      },
    ],
    ["* text eol=lf", () => project.write(".gitattributes", "* text eol=lf\n")],
    ["* text eol=crlf", () => project.write(".gitattributes", "* text eol=crlf\n")],
    [
      "text=auto in the user's attributes",
      () => {
        project.git("config", "--global", "core.attributesFile", "~/attributes");
        writeFileSync(join(project.base, "home", "attributes"), "* text=auto eol=crlf\n");
      },
    ],
    ["attributes in .git/info", () => project.write(".git/info/attributes", "* text eol=crlf\n")],
  ];

  test.each(settings)("with %s, committed and changed", async (_what, arrange) => {
    arrange();
    project.write("dos", crlf);
    project.write("unix", "one\ntwo\n");
    project.write("mixed", "one\r\ntwo\n");
    project.git("add", "-A");
    project.git("commit", "-qm", "x");
    settle("dos", "unix", "mixed");
    project.write("changed", crlf);
    const { files } = await roundTrip();
    const expected = { dos: `- ${crlf}`, unix: "- one\ntwo\n", mixed: "- one\r\ntwo\n", changed: `- ${crlf}` };
    expect(files).toMatchObject(expected);
    expect(project.read("dos")).toBe(crlf);
  });

  test("with a working-tree-encoding, even when both encodings have the same size", async () => {
    project.write(".gitattributes", "*.txt working-tree-encoding=UTF-16LE\n");
    // U+00FC: two bytes in UTF-8 and two in UTF-16.
    const bytes = Buffer.from("\u00fc\u00fc\u00fc", "utf16le");
    project.write("a.txt", bytes);
    project.commit();
    settle("a.txt");
    const { files } = await roundTrip();
    expect(files["a.txt"]).toBe(`- ${bytes.toString("latin1")}`);
  });

  test("with keywords", async () => {
    project.write(".gitattributes", "* ident\n");
    project.write("a", "$Id$\n");
    project.commit();
    project.git("rm", "-q", "--cached", "a");
    project.git("reset", "-q", "--hard");
    expect(project.read("a")).toMatch(/^\$Id: [0-9a-f]{40} \$\n$/);
    settle("a");
    const { files } = await roundTrip();
    expect(files.a).toBe(`- ${project.read("a")}`);
  });

  test("except with a content filter, which does not run: the file is as in the repository", async () => {
    project.git("config", "filter.lfs.clean", "printf pointer; cat >/dev/null");
    project.git("config", "filter.lfs.smudge", "printf 'a large content'; cat >/dev/null");
    project.write(".gitattributes", "*.bin filter=lfs\n");
    project.write("a.bin", "a large content");
    project.commit();
    settle("a.bin");
    const { files } = await roundTrip();
    expect(files["a.bin"]).toBe("- pointer");
    expect(project.read("a.bin")).toBe("a large content");
  });
});

describe("a snapshot leaves out", () => {
  test("excluded paths, even tracked ones", async () => {
    project.write(".gemini/settings.json", "{}");
    project.write(".gemini/state/progress.jsonl", "1");
    project.write(".gemini/state-of-mind", "kept");
    project.commit();
    project.write(".gemini/state/new", "2");
    const { files } = await roundTrip(project.path, { exclude: [".gemini/state"], include: [] });
    expect(Object.keys(files).sort()).toEqual([".gemini/settings.json", ".gemini/state-of-mind"]);
  });

  test("nested repositories, with and without a commit, and lists them", async () => {
    project.write("a", "1");
    for (const name of ["inner", "deep/er"]) {
      mkdirSync(join(project.path, name), { recursive: true });
      project.gitIn(join(project.path, name), "init", "-q");
      project.write(`${name}/file`, "1");
    }
    project.gitIn(join(project.path, "inner"), "add", "-A");
    project.gitIn(join(project.path, "inner"), "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x");
    const { files, taken } = await roundTrip();
    expect(files).toEqual({ a: "- 1" });
    expect(taken.nested.sort()).toEqual(["deep/er/", "inner/"]);
  });

  test("what the user ignores globally or for this repository", async () => {
    project.git("config", "--global", "core.excludesFile", "~/ignore");
    writeFileSync(join(project.base, "home", "ignore"), "*.swp\n");
    project.write(".git/info/exclude", "private\n");
    project.write("a.swp", "x");
    project.write("private", "x");
    project.write("a", "1");
    expect((await roundTrip()).files).toEqual({ a: "- 1" });
  });

  test("temporary files of a killed Maestro process", async () => {
    project.write(`.maestro-00000000-00000000-1-1-${"0".repeat(24)}.tmp`, "x");
    project.write("a", "1");
    expect((await roundTrip()).files).toEqual({ a: "- 1" });
  });

  test("Maestro's own cache, when the repository is the user's home", async () => {
    const repository = await project.open(project.base).catch(() => undefined);
    expect(repository).toBeUndefined();
    project.gitIn(project.base, "init", "-q");
    renameSync(join(project.path, ".git"), join(project.base, "aside"));
    project.write("a", "1");
    const { taken } = await roundTrip(project.base);
    expect(project.gitIn(project.base, "ls-tree", "-r", "--name-only", taken.tree)).not.toContain("cache");
  });
});

describe("a project below the top of its repository", () => {
  test("is snapshotted with the whole repository, and paths are relative to the project", async () => {
    project.write("packages/api/a", "1");
    project.write("packages/web/b", "1");
    project.write(".gitignore", "node_modules/\n.env\n.state/\n");
    project.commit();
    project.write("packages/api/a", "2");
    project.write("packages/web/new", "3");
    project.write("packages/api/.state/x", "x");
    project.write("packages/api/.env", "KEY=1");
    project.write("packages/api/sub/.env", "KEY=2");
    project.write("packages/web/.env", "KEY=3");
    project.write("packages/api/node_modules/x/index.js", "x");
    project.write("node_modules/y/index.js", "x");
    const root = join(project.path, "packages/api");
    const { taken, files, worktree } = await roundTrip(root, { exclude: [".state"], include: [".env"] });
    expect(files).toEqual({
      ".gitignore": "- node_modules/\n.env\n.state/\n",
      "packages/api/a": "- 2",
      "packages/web/b": "- 1",
      "packages/web/new": "- 3",
    });
    expect(worktree.root).toBe(join(worktree.path, "packages/api"));
    expect(taken.ignored.sort()).toEqual([".env", "sub/"]);
    expect(taken.links.sort()).toEqual(["../../node_modules", "node_modules"]);
  });
});

describe("ignored files", () => {
  beforeEach(() => {
    project.write(".gitignore", ".env*\nnode_modules/\nlocal/\n*.log\ntarget/\nvendor/\n.venv\n");
    project.write("a", "1");
    project.commit();
  });
  const taken = async (include: string[]) => {
    const { ignored, links } = await snapshot(await project.open(), { exclude: [], include });
    return { ignored: ignored.sort(), links: links.sort() };
  };

  test("are copied when .maestroinclude names them, in gitignore syntax", async () => {
    for (const name of [".env", ".env.local", "sub/.env", "local/a", "local/b/c", "x.log"]) project.write(name, "x");
    project.write(".maestroinclude", "# for the tests\n.env*\n!.env.local\nlocal/\n\n");
    expect((await taken(readIncludes(project.path))).ignored).toEqual([".env", "local/", "sub/"]);
    expect((await taken(["/.env"])).ignored).toEqual([".env"]);
    expect((await taken(["/a", ".gitignore"])).ignored).toEqual([]);
    expect((await taken([])).ignored).toEqual([]);
    rmSync(join(project.path, ".maestroinclude"));
    expect(readIncludes(project.path)).toEqual([]);
  });

  test("in dependency directories are not copied: the directory is linked", async () => {
    for (const name of [
      "node_modules/x/.env",
      "node_modules/x/i.js",
      "packages/a/node_modules/y/i.js",
      "vendor/z",
      ".venv/bin/python",
    ])
      project.write(name, "x");
    expect(await taken([".env"])).toEqual({
      ignored: [],
      links: [".venv", "node_modules", "packages/a/node_modules", "vendor"],
    });
  });

  test("are copied, even dependencies, when the directory itself is named", async () => {
    project.write("node_modules/x/i.js", "x");
    expect(await taken(["node_modules/"])).toEqual({ ignored: ["node_modules/"], links: [] });
  });

  test("are copied file by file when some of them are excluded", async () => {
    for (const name of ["local/a", "local/state/b", "local/c/d"]) project.write(name, "x");
    const repository = await project.open();
    const { ignored } = await snapshot(repository, { exclude: ["local/state"], include: ["local/"] });
    expect(ignored.sort()).toEqual(["local/a", "local/c/d"]);
  });

  test("in a build directory are linked only for Rust", async () => {
    project.write("rust/Cargo.toml", "x");
    project.write("rust/target/debug/x", "x");
    project.write("java/pom.xml", "x");
    project.write("java/target/classes/x", "x");
    expect((await taken([])).links).toEqual(["rust/target"]);
  });

  test("that are tracked belong to the snapshot and are not linked", async () => {
    project.write("vendor/lib.go", "1");
    project.git("add", "-f", "vendor/lib.go");
    expect((await taken([])).links).toEqual([]);
  });
});

describe("an ignored file that is requested by name", () => {
  const names = async (force: string[], more: { exclude?: string[]; include?: string[]; root?: string } = {}) => {
    const repository = await project.open(more.root ?? project.path);
    const taken = await snapshot(repository, { exclude: more.exclude ?? [], include: more.include ?? [], force });
    return project.git("ls-tree", "-r", "--name-only", "-z", "--full-tree", taken.tree).split("\0").filter(Boolean);
  };

  beforeEach(() => {
    project.write(".gitignore", "*.gen\nbuild/\n");
    project.write("a", "1");
    project.commit();
    project.write("one.gen", "1");
    project.write("two.gen", "1");
    project.write("build/deep/out", "1");
    project.write("build/noise", "1");
  });

  test("is part of the snapshot, even in an ignored directory, without its neighbours", async () => {
    const before = project.untouchables();
    expect(await names(["one.gen", "build/deep/out"])).toEqual([".gitignore", "a", "build/deep/out", "one.gen"]);
    expect(await names([])).toEqual([".gitignore", "a"]);
    expect(project.untouchables()).toEqual(before);
  });

  test("adds nothing when it is missing, a directory, a link or a pattern", async () => {
    symlinkSync("/etc/passwd", join(project.path, "link.gen"));
    const force = ["gone.gen", "build", "build/deep", "link.gen", "*.gen", "a/below", "one.gen/below", "new"];
    expect(await names(force)).toEqual([".gitignore", "a"]);
  });

  test("is left out below an excluded path", async () => {
    expect(await names(["build/deep/out", "one.gen"], { exclude: ["build"] })).toEqual([".gitignore", "a", "one.gen"]);
  });

  test("is not copied in addition", async () => {
    const repository = await project.open();
    const options = { exclude: [], include: ["*.gen"], force: ["one.gen"] };
    expect((await snapshot(repository, options)).ignored).toEqual(["two.gen"]);
  });

  test("is named relative to the project", async () => {
    project.write("sub/größe ☃.gen", "1");
    project.write("sub/b", "1");
    const root = join(project.path, "sub");
    expect(await names(["größe ☃.gen"], { root })).toEqual([".gitignore", "a", "sub/b", "sub/größe ☃.gen"]);
  });
});

describe("a worktree of the user as the project", () => {
  test("is snapshotted like any other", async () => {
    project.write("a", "1");
    project.commit();
    const other = join(project.base, "other");
    project.git("worktree", "add", "-q", other);
    writeFileSync(join(other, "b"), "2");
    const { files } = await roundTrip(realpathSync(other));
    expect(files).toEqual({ a: "- 1", b: "- 2" });
  });
});

describe("a repository with SHA-256", () => {
  test("is snapshotted like any other", async () => {
    project.remove();
    project = new GitProject(["--object-format=sha256"]);
    project.write("a", "1");
    project.commit();
    project.write("b", "2");
    rmSync(join(project.path, "a"));
    const { files, taken } = await roundTrip();
    expect(files).toEqual({ b: "- 2" });
    expect(taken.tree).toHaveLength(64);
  });
});

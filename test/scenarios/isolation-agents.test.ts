// Agents, users and commands that change files while attempts run in worktrees: real processes, real git, the built command.

import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { filesBelow } from "../support/git-repository.ts";
import {
  again,
  agent,
  bystander,
  IsolatedProject,
  numbered,
  only,
  ready,
  started,
  withIsolated,
} from "../support/isolated.ts";
import { processesOf, spawned, TEST_TIMEOUT_MS, until } from "../support/processes.ts";
import { maestroPath, type PhaseSpec, planPath, planText } from "../support/project.ts";
import { scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

describe("what an agent leaves in its worktree", () => {
  const files = {
    "tool.sh": "#!/bin/sh\n",
    "old.txt": numbered(9),
    "gone.txt": "gone\n",
    "dir/a.txt": "a\n",
    "dir/b.txt": "b\n",
    thing: "a file\n",
    "crlf.txt": "one\r\ntwo\r\n",
  };
  const bytes = Buffer.from([0, 255, 13, 10, 0, 200]);
  const phases = [
    agent("modes", ["tool.sh"], ["chmod", ["tool.sh", 0o755]]),
    agent("links", ["link", "dead"], ["symlink", ["tool.sh", "link"]], ["symlink", ["/nowhere/at/all", "dead"]]),
    agent("renames", ["old.txt", "deep/er/new.txt"], ["rename", ["old.txt", "deep/er/new.txt"]]),
    scripted(
      "deletes",
      {
        "*": [
          ["remove", "gone.txt"],
          ["remove", "dir"],
          ["report", { deleted: "gone.txt, dir/a.txt, dir/b.txt" }],
        ],
      },
      { files_modified: ["gone.txt", "dir/"] },
    ),
    agent(
      "names",
      ["odd/"],
      ["write", ["odd/größe 日本 ☃.txt", "x\n"]],
      ["write", ["odd/it's & so.txt", "y\n"]],
      ["write", ["odd/-rf", "z\n"]],
    ),
    agent(
      "bytes",
      ["pic.bin", "crlf.txt"],
      ["bytes", ["pic.bin", bytes.toString("base64")]],
      ["write", ["crlf.txt", "one\r\nTWO\r\n"]],
    ),
    scripted(
      "kinds",
      {
        "*": [
          ["remove", "thing"],
          ["write", ["thing/in.txt", "i\n"]],
          ["report", { created: "thing/in.txt", deleted: "thing" }],
        ],
      },
      { files_modified: ["thing"] },
    ),
    agent("empties", ["empty.txt"], ["write", ["empty.txt", ""]]),
  ];

  test.concurrent("reaches the project as it is: names, modes, links, bytes, renames and deletions", () =>
    withIsolated(files, phases, async (project) => {
      const before = project.belongings();
      const run = await project.begin().ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      const warnings = run.stderr.split("\n").filter((line) => line.includes("WARNING"));
      expect(warnings).toEqual([expect.stringContaining("Links that lead out of the project: ")]);
      const all = Object.entries(filesBelow(project.path)).filter(([name]) => !/^\.(git|gemini|bin|home)\//.test(name));
      expect(Object.fromEntries(all)).toEqual({
        "tool.sh": "x #!/bin/sh\n",
        link: "-> tool.sh",
        dead: "-> /nowhere/at/all",
        "deep/er/new.txt": `- ${numbered(9)}`,
        "odd/größe 日本 ☃.txt": "- x\n",
        "odd/it's & so.txt": "- y\n",
        "odd/-rf": "- z\n",
        "pic.bin": `- ${bytes.toString("latin1")}`,
        "crlf.txt": "- one\r\nTWO\r\n",
        "thing/in.txt": "- i\n",
        "empty.txt": "- ",
      });
      expect(project.belongings()).toEqual(before);
      expect(project.eventsOf("renames", "attempt.changed")[0]?.files).toEqual([
        { path: "deep/er/new.txt", from: "old.txt", kind: "renamed", added: 0, removed: 0 },
      ]);
      const binary = { path: "pic.bin", kind: "created", added: null, removed: null };
      expect(project.eventsOf("bytes", "attempt.changed")[0]?.files).toContainEqual(binary);
      const renamed = status(project).phases.find((phase: { id: string }) => phase.id === "renames");
      expect(renamed).toMatchObject({ files_created: ["deep/er/new.txt"], files_deleted: ["old.txt"] });
      expect(project.health()).toEqual({ worktrees: 1, damage: "" });
    }));

  const identity = "-c user.name=A -c user.email=a";
  const gitUsers = [
    agent("unlinks", ["a.txt"], ["append", ["a.txt", "more\n"]], ["remove", ".git"]),
    agent("commits", ["b.txt"], ["append", ["b.txt", "more\n"]], ["shell", `git ${identity} commit -qam work`]),
    agent(
      "stages",
      ["c.txt"],
      ["append", ["c.txt", "staged\n"]],
      ["shell", "git add c.txt"],
      ["append", ["c.txt", "more\n"]],
    ),
    agent("hides", ["d.txt"], ["append", ["d.txt", "more\n"]], ["shell", "git update-index --assume-unchanged d.txt"]),
    agent("branches", ["e.txt"], ["shell", "git checkout -q -b of-the-agent"], ["append", ["e.txt", "more\n"]]),
    agent(
      "ignores",
      ["new/.gitignore", "new/f.txt"],
      ["write", ["new/.gitignore", "*\n"]],
      ["write", ["new/f.txt", "f\n"]],
    ),
    agent(
      "cleans",
      ["g.txt"],
      ["write", ["g.txt", "g\n"]],
      ["shell", `git add -A; git ${identity} stash -q; git stash pop -q`],
    ),
    agent(
      "wanders",
      ["h.txt"],
      ["shell", `git ${identity} commit -q --allow-empty -m x; git checkout -q HEAD~1`],
      ["write", ["h.txt", "h\n"]],
    ),
  ];

  test.concurrent("counts whatever it did with git: removed .git, committed, staged, hid, ignored, branched, stashed", () =>
    withIsolated(
      { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n", "e.txt": "e\n" },
      gitUsers,
      async (project) => {
        const before = project.belongings();
        const run = await project.begin().ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(run.stderr).not.toContain("WARNING");
        for (const name of ["a", "b", "d", "e"]) expect(project.read(`${name}.txt`)).toBe(`${name}\nmore\n`);
        expect(project.read("c.txt")).toBe("c\nstaged\nmore\n");
        expect(project.read("new/f.txt") + project.read("g.txt") + project.read("h.txt")).toBe("f\ng\nh\n");
        const { branches = "", ...now } = project.belongings();
        expect({ branches: branches.replace(/^.*of-the-agent$/m, "").trim(), ...now }).toEqual(before);
        expect(project.worktrees()).toEqual([]);
        expect(project.health()).toEqual({ worktrees: 1, damage: "" });
      },
    ));

  const nest = `git init -q nests && cd nests && git add -A && git ${identity} commit -qm x`;
  const unlucky = [
    again(
      "dies",
      ["dies.txt"],
      [
        ["write", ["dies.txt", "half a li"]],
        ["kill", "SIGKILL"],
      ],
      ["append", ["dies.txt", "ne\n"]],
    ),
    again("hangs", ["hangs.txt"], [["write", ["hangs.txt", "1\n"]], ["hang"]], ["append", ["hangs.txt", "2\n"]]),
    again(
      "fails",
      ["fails.txt"],
      [
        ["write", ["fails.txt", "1\n"]],
        ["exit", 7],
      ],
      ["append", ["fails.txt", "2\n"]],
    ),
    again(
      "vanishes",
      ["v.txt"],
      [
        ["write", ["v.txt", "1\n"]],
        ["shell", 'rm -rf "$PWD"'],
      ],
      ["write", ["v.txt", "2\n"]],
    ),
    again(
      "swaps",
      ["s.txt"],
      [["shell", 'here="$PWD"; cd /; mv "$here" "$here.away"; ln -s /etc "$here"']],
      ["write", ["s.txt", "2\n"]],
    ),
    again(
      "nests",
      ["nests/"],
      [
        ["write", ["nests/a.txt", "a\n"]],
        ["shell", nest],
      ],
      ["shell", "rm -rf nests/.git"],
      ["write", ["nests/a.txt", "a\n"]],
    ),
    bystander,
  ];

  test.concurrent("is where the next attempt starts after a kill, a failure or a timeout, and is not in the project before", () =>
    withIsolated({ "README.md": "hello\n" }, unlucky, async (project) => {
      const ids = ["dies", "hangs", "fails", "vanishes", "swaps", "nests"];
      const run = await project.begin("--timeout", "5s", ...only(...ids)).ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(project.read("dies.txt")).toBe("half a line\n");
      expect(project.read("hangs.txt")).toBe("1\n2\n");
      expect(project.read("fails.txt")).toBe("1\n2\n");
      expect(project.read("v.txt") + project.read("s.txt") + project.read("nests/a.txt")).toBe("2\n2\na\n");
      expect(project.exists("nests/.git")).toBe(false);
      expect(project.errorsOf("hangs")).toContain('"type":"timeout"');
      expect(project.errorsOf("vanishes")).toContain("The agent's changes cannot be read");
      expect(project.errorsOf("nests")).toContain("It created nested git repositories");
      expect(project.git("show", "refs/maestro/2026-02-14-task-api/dies/1:dies.txt")).toBe("half a li");
      expect(project.eventsOf("dies", "phase.integrated").map(({ attempt }) => attempt)).toEqual([2]);
      expect(project.worktrees()).toEqual([]);
      expect(project.health()).toEqual({ worktrees: 1, damage: "" });
    }));

  const latin = "latin\\344";
  const oddlyNamed = [
    agent("lines", ["odd/"], ["write", ["odd/we\nird", "x\n"]], ["write", ["odd/bell\u0007", "y\n"]]),
    agent("latin", ["bad/"], ["shell", `mkdir bad; printf x > "bad/$(printf '${latin}')"`]),
    agent("pipes", ["real.txt"], ["shell", "mkfifo pipe; mkdir empty"], ["write", ["real.txt", "r\n"]]),
    agent(
      "states",
      [".gemini/notes.json"],
      ["write", [".gemini/notes.json", "{}"]],
      ["write", [".gemini/state/x", "x\n"]],
    ),
    bystander,
  ];

  test.concurrent("is refused when its names are not UTF-8; pipes, empty directories and the state directory are left out", () =>
    withIsolated({ "README.md": "hello\n" }, oddlyNamed, async (project) => {
      const words = ["--keep-going", ...only("lines", "latin", "pipes", "states")];
      const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...words).ended;
      expect(run.code, run.stderr).toBe(4);
      expect(project.list("odd")).toEqual(["bell\u0007", "we\nird"]);
      expect(project.errorsOf("latin")).toContain("its name is not UTF-8");
      expect(project.exists("bad") || project.exists("pipe") || project.exists("empty")).toBe(false);
      expect(project.read("real.txt") + project.read(".gemini/notes.json")).toBe("r\n{}");
      expect(project.exists(".gemini/state/x")).toBe(false);
      expect(project.eventsOf("latin", "phase.moved").at(-1)?.to).toBe("failed");
      expect(run.stderr).not.toContain("could not be removed");
      expect(project.worktrees()).toEqual([]);
    }));

  const wreck = 'rm -rf "$(git rev-parse --path-format=absolute --git-common-dir)"';

  test.concurrent("is not integrated when the agent removed the repository itself: the phase fails and says why", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [agent("wrecks", ["a.txt"], ["write", ["a.txt", "a\n"]], ["shell", wreck]), bystander],
      async (project) => {
        const run = await project.begin(...only("wrecks")).ended;
        expect(run.code, run.stdout + run.stderr).toBe(4);
        expect(run.stdout + run.stderr).not.toMatch(/\.(js|ts):\d+/);
        expect(project.errorsOf("wrecks")).toMatch(/cannot be read|could not be prepared/);
        expect(project.read("README.md")).toBe("hello\n");
        expect(project.exists("a.txt")).toBe(false);
      },
    ));
});

describe("the worktree of an attempt", () => {
  const look = "cat .env; readlink node_modules; cat node_modules/pad.js; ls build secret.pem 2>/dev/null || true";
  const builder = agent(
    "builds",
    ["build/out.txt", "code.gen"],
    ["shell", look],
    ["write", ["build/out.txt", "built\n"]],
    ["write", ["build/noise.txt", "noise\n"]],
    ["write", ["code.gen", "made\n"]],
    ["write", [".env", "TOKEN=changed\n"]],
  );

  test.concurrent("has the ignored files of .maestroinclude and a link to dependencies; ignored files that the plan declares are integrated", () =>
    withIsolated(
      { ".gitignore": "node_modules/\n.env\nbuild/\n*.gen\nsecret.pem\n", ".maestroinclude": ".env\n" },
      [builder, agent("changes", ["kept.gen"], ["append", ["kept.gen", "more\n"]])],
      async (project) => {
        project.write(".env", "TOKEN=mine\n");
        project.write("secret.pem", "key\n");
        project.write("node_modules/pad.js", "pad\n");
        project.write("build/old.txt", "old\n");
        project.write("kept.gen", "there\n");
        const run = await project.begin().ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(run.stderr).not.toContain("WARNING");
        expect(project.notes("shell")[0]?.stdout).toBe(`TOKEN=mine\n${project.path}/node_modules\npad\n`);
        expect(project.read("build/out.txt") + project.read("code.gen")).toBe("built\nmade\n");
        expect(project.read("kept.gen")).toBe("there\nmore\n");
        expect(project.list("build")).toEqual(["old.txt", "out.txt"]);
        expect(project.read(".env")).toBe("TOKEN=mine\n");
        expect(lstatSync(join(project.path, "node_modules")).isDirectory()).toBe(true);
        expect(project.read("node_modules/pad.js")).toBe("pad\n");
      },
    ));

  test.concurrent("is prepared by a setup command, whose files do not count as the agent's work", () =>
    withIsolated(
      { "a.txt": numbered(9) },
      [agent("one", ["a.txt"], ["shell", "cat new.txt"], ["append", ["a.txt", "more\n"]]), bystander],
      async (project) => {
        const setup = `echo ready > new.txt; sed -i '1s/^/setup: /' a.txt; test -d "$MAESTRO_STATE_DIR"`;
        const run = await project.beginWith({ MAESTRO_WORKTREE_SETUP: setup }, ...only("one")).ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(project.notes("shell")[0]?.stdout).toBe("ready\n");
        expect(project.exists("new.txt")).toBe(false);
        expect(project.read("a.txt")).toBe(`${numbered(9)}more\n`);
        expect(project.eventsOf("one", "attempt.changed")[0]).toMatchObject({
          total: 1,
          added: 1,
          removed: 0,
          outside: [],
        });
      },
    ));

  test.concurrent("fails the attempt when the setup command fails, with its output, and no agent starts", () =>
    withIsolated({ "a.txt": "a\n" }, [agent("one", []), bystander], async (project) => {
      const env = { MAESTRO_WORKTREE_SETUP: "echo no network >&2; exit 9", MAESTRO_MAX_RETRIES: "1" };
      const run = await project.beginWith(env, ...only("one")).ended;
      expect(run.code, run.stdout + run.stderr).toBe(4);
      expect(run.stdout).toContain("The setup command of the worktree failed (exit code 9)");
      expect(project.errorsOf("one")).toContain("no network");
      expect(project.events("attempt.started")).toHaveLength(2);
      expect(project.notes("start")).toEqual([]);
      expect(project.worktrees()).toEqual([]);
    }));
});

describe("an engine that is stopped", () => {
  test.concurrent.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("by %s keeps the work of its attempts, and the next attempts start from it", (signal, code) =>
    withIsolated(
      { "README.md": "hello\n" },
      ["one", "two"].map((id) =>
        again(
          id,
          [`${id}.txt`],
          [["write", [`${id}.txt`, "half\n"]], ready, ["hang"]],
          ["append", [`${id}.txt`, "whole\n"]],
        ),
      ),
      async (project) => {
        const engine = project.begin();
        await started(project, 2);
        engine.child.kill(signal);
        expect((await engine.ended).code).toBe(code);
        expect(project.exists("one.txt") || project.exists("two.txt")).toBe(false);
        expect(project.worktrees()).toEqual([]);
        expect(project.refs()).toHaveLength(2);
        const resumed = project.resume();
        expect(resumed, resumed.stdout + resumed.stderr).toMatchObject({ code: 0 });
        expect(project.read("one.txt") + project.read("two.txt")).toBe("half\nwhole\nhalf\nwhole\n");
      },
    ),
  );
});

describe("a repository", () => {
  const two = ["one", "two"].map((id) => agent(id, [`${id}.txt`], ["write", [`${id}.txt`, `${id}\n`]]));

  test("that cannot have worktrees is refused in one line, before anything is created", async () => {
    const library = new IsolatedProject({ "lib.txt": "lib\n" }, []);
    const cases: [string, (project: IsolatedProject) => void, RegExp][] = [
      [
        "submodules",
        ({ git }) => git("-c", "protocol.file.allow=always", "submodule", "add", "-q", library.path, "lib"),
        /it has submodules \(lib\)/,
      ],
      ["a sparse checkout", ({ git }) => git("sparse-checkout", "set", "dir"), /the checkout is sparse/],
      [
        "a merge with conflicts",
        (project) => divide(project, "theirs\n"),
        /a merge is in progress and has conflicts in a\.txt/,
      ],
    ];
    try {
      for (const [what, prepare, reason] of cases) {
        await withIsolated({ "a.txt": "a\n", "dir/b.txt": "b\n" }, two, async (project) => {
          prepare(Object.assign(project, { git: project.git.bind(project) }));
          const before = [project.list(), project.list(".gemini"), project.belongings()];
          const run = await project.begin().ended;
          expect(run.code, what + run.stderr).toBe(3);
          expect(run.stderr.trimEnd().split("\n")[0], what).toMatch(reason);
          expect(run.stderr.trimEnd().split("\n").length, run.stderr).toBeLessThanOrEqual(2);
          expect([project.list(), project.list(".gemini"), project.belongings()], what).toEqual(before);
          expect(project.events()).toEqual([]);
          expect(project.notes("start")).toEqual([]);
        });
      }
    } finally {
      library.remove();
    }
  });

  /** A merge that is not concluded: of `text` in a.txt, which is "ours" here. */
  function divide(project: IsolatedProject, text: string): void {
    project.git("checkout", "-q", "-b", "theirs");
    project.write(text === "theirs\n" ? "a.txt" : "theirs.txt", text);
    project.git("add", "-A");
    project.git("commit", "-q", "-m", "theirs");
    project.git("checkout", "-q", "main");
    project.write("a.txt", "ours\n");
    project.git("commit", "-q", "-a", "-m", "ours");
    project.run("git", ["merge", "--no-commit", "--no-ff", "theirs"]);
  }

  function born(project: IsolatedProject): void {
    rmSync(join(project.path, ".git"), { recursive: true });
    project.git("-c", "init.defaultBranch=main", "init", "-q");
    project.write(".git/info/exclude", ".bin\n.home\n.gemini\n");
    // The index does not exist before the first of these.
    project.git("add", "a.txt");
  }

  function dirty(project: IsolatedProject): void {
    project.write("a.txt", "staged\n");
    project.write("staged.txt", "new\n");
    project.git("add", "a.txt", "staged.txt");
    project.write("a.txt", "and changed again\n");
    project.git("rm", "-q", "--cached", "dir/b.txt");
    project.write("planned.txt", "");
    project.git("add", "-N", "planned.txt");
  }

  test.concurrent.each<[string, (project: IsolatedProject) => void]>([
    ["with a detached HEAD", (project) => project.git("checkout", "-q", "--detach")],
    ["without a commit", born],
    ["in which a merge waits to be committed", (project) => divide(project, "more\n")],
    ["whose index differs from HEAD and from the files", dirty],
  ])("%s works, and stays as it is", (_, prepare) =>
    withIsolated({ "a.txt": "a\n", "dir/b.txt": "b\n" }, two, async (project) => {
      prepare(project);
      const [before, shown] = [project.belongings(), project.git("status", "--porcelain")];
      const run = await project.begin().ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(project.read("one.txt") + project.read("two.txt")).toBe("one\ntwo\n");
      expect(project.belongings()).toEqual(before);
      const now = project.git("status", "--porcelain", "--", ":!one.txt", ":!two.txt");
      expect(now).toBe(shown);
      expect(project.worktrees()).toEqual([]);
    }),
  );

  test.concurrent.each<[string, string, (project: IsolatedProject, path: string) => void]>([
    ["a directory of one", "packages/api", (_, path) => void mkdirSync(path, { recursive: true })],
    [
      "a path with spaces and letters of many alphabets",
      "Größe mit 日本 'x' $HOME",
      (project, path) => project.git("clone", "-q", project.path, path),
    ],
    ["a worktree of the user", "linked", (project, path) => project.git("worktree", "add", "-q", path)],
  ])("may be %s", (_, name, prepare) =>
    withIsolated({ "a.txt": "a\n" }, two, async (project) => {
      const path = join(project.path, name);
      prepare(project, path);
      project.write(join(name, planPath), planText(two));
      const inside = [
        "-c",
        'cd "$0" && exec "$@"',
        path,
        process.execPath,
        maestroPath,
        "run",
        planPath,
        "--keep-open",
      ];
      const { ended } = spawned(project, "sh", inside, project.agents.env());
      const run = await ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(project.read(`${name}/one.txt`) + project.read(`${name}/two.txt`)).toBe("one\ntwo\n");
      expect(project.exists("one.txt")).toBe(false);
      for (const { cwd } of project.notes("start")) expect(cwd.startsWith(project.cache)).toBe(true);
      expect(project.worktrees()).toEqual([]);
    }),
  );

  test.concurrent("may be worked on in two of its directories at the same time", () =>
    withIsolated({ "a.txt": "a\n" }, [], async (project) => {
      const runs = ["api", "web"].map((name) => {
        project.write(`${name}/README.md`, "hello\n");
        project.write(join(name, planPath), planText(two));
        const inside = [
          "-c",
          'cd "$0" && exec "$@"',
          name,
          process.execPath,
          maestroPath,
          "run",
          planPath,
          "--keep-open",
        ];
        return spawned(project, "sh", inside, project.agents.env()).ended;
      });
      for (const run of await Promise.all(runs)) {
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(run.stderr).not.toMatch(/WARNING|attempt 2/);
      }
      for (const name of ["api", "web"])
        expect(project.list(name)).toEqual([".gemini", "README.md", "one.txt", "two.txt"]);
      expect(project.worktrees()).toEqual([]);
    }));

  test.concurrent("with two projects keeps the worktrees of the running engine when the other engine was killed", () =>
    withIsolated({ "a.txt": "a\n" }, [], async (project) => {
      const run = (name: string, verb: string[], phases: PhaseSpec[]) => {
        project.write(`${name}/README.md`, "hello\n");
        if (verb[0] === "run") project.write(join(name, planPath), planText(phases));
        const inside = [
          "-c",
          'cd "$0" && exec "$@"',
          name,
          process.execPath,
          maestroPath,
          ...verb,
          "--keep-open",
          ...only("one"),
        ];
        return spawned(project, "sh", inside, project.agents.env());
      };
      const killed = [
        again("one", ["one.txt"], [["write", ["one.txt", "1\n"]], ready, ["hang"]], ["write", ["one.txt", "api\n"]]),
        bystander,
      ];
      const engine = run("api", ["run", planPath], killed);
      await started(project, 1);
      engine.child.kill("SIGKILL");
      await engine.ended;
      const agents = () => processesOf(project).filter(({ command }) => command.includes("stand-in"));
      await until("its agent is ended", () => agents().length === 0);
      const living = [agent("one", ["one.txt"], ["write", ["one.txt", "web\n"]], ready, ["signal", "go"]), bystander];
      const other = run("web", ["run", planPath], living);
      await started(project, 2);
      const resumed = await run("api", ["resume"], []).ended;
      expect(resumed, resumed.stdout + resumed.stderr).toMatchObject({ code: 0 });
      project.signal("go");
      const end = await other.ended;
      expect(end, end.stdout + end.stderr).toMatchObject({ code: 0 });
      expect(project.read("api/one.txt") + project.read("web/one.txt")).toBe("api\nweb\n");
      expect(end.stderr).not.toContain("attempt 2");
      expect(project.worktrees()).toEqual([]);
    }));
});

// Which files an attempt may change, and which warnings follow: in worktrees, in the project itself, outside git. Real processes, real git.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { again, agent, bystander, type IsolatedProject, only, withIsolated } from "../support/isolated.ts";
import { TEST_TIMEOUT_MS } from "../support/processes.ts";
import { type PhaseSpec, planPath } from "../support/project.ts";
import { type Steps, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const SESSION = "2026-02-14-task-api";
const outsideGit = (project: IsolatedProject) => rmSync(join(project.path, ".git"), { recursive: true });
const warnings = (project: IsolatedProject) =>
  project.events("phase.warned").map(({ phase, code, message }) => `${phase} ${code}: ${message}`);
const places = (project: IsolatedProject) =>
  Object.fromEntries(project.events("attempt.placed").map(({ phase, worktree }) => [phase, worktree !== null]));
const roots = (project: IsolatedProject) =>
  Object.fromEntries(
    project.notes("prompt").map(({ phase, prompt }) => [phase, /PROJECT ROOT: (.*)/.exec(prompt)?.[1] ?? ""]),
  );
const phaseOf = (project: IsolatedProject, id: string) =>
  status(project).phases.find((phase: { id: string }) => phase.id === id);

/** Owns a.txt; changes theirs.txt too, and makes extra.txt. */
const straying: Steps = [
  ["append", ["a.txt", "more\n"]],
  ["append", ["theirs.txt", "more\n"]],
  ["write", ["extra.txt", "extra\n"]],
  ["report", { modified: "a.txt, theirs.txt", created: "extra.txt" }],
];
const look: Steps = [["prompt"], ["shell", "cat a.txt theirs.txt; ls extra.txt 2>&1 || true"]];
/** .bin: outside git the notes of the stand-in are files of the project like any other. */
const strayer = scripted("strays", { "*": [...look, ...straying] }, { files_modified: ["a.txt", ".bin/"] });
const files = { "a.txt": "a\n", "theirs.txt": "t\n" };

describe("an agent that changes files outside of its phase's", () => {
  test.concurrent("has all of its work refused, learns what was out of scope, keeps the rest, and is escalated at last", () =>
    withIsolated(files, [strayer, bystander], async (project) => {
      const before = project.belongings();
      const run = await project.begin(...only("strays")).ended;
      expect(run.code, run.stderr).toBe(4);
      expect(run.stdout).toContain("Attempt: 2 of 2\nError Type: validation\n");
      expect(run.stdout).toContain("Changed outside of its files:\n- extra.txt\n- theirs.txt\n");
      expect(project.read("a.txt") + project.read("theirs.txt")).toBe("a\nt\n");
      expect(project.exists("extra.txt")).toBe(false);
      expect(project.belongings()).toEqual(before);
      expect(project.eventsOf("strays", "attempt.changed")[0]?.outside).toEqual(["extra.txt", "theirs.txt"]);
      expect(project.eventsOf("strays", "phase.integrated")).toEqual([]);
      expect(project.refs()).toEqual([1, 2, 3].map((attempt) => `refs/maestro/${SESSION}/strays/${attempt}`));
      expect(project.git("show", `refs/maestro/${SESSION}/strays/1:extra.txt`)).toBe("extra");
      const [first, second, third] = project.notes("prompt").map(({ prompt }) => prompt);
      expect(first).not.toContain("Out of scope");
      expect(second).toContain('Out of scope are the files listed below after "Changed outside of its files:"');
      expect(second).toContain("- extra.txt\n- theirs.txt");
      expect(third).toContain("This is retry 2 of 2");
      const seen = project.notes("shell").map(({ stdout }) => stdout.replace(/ls: .*\n/, ""));
      expect(seen).toEqual(["a\nt\n", "a\nmore\nt\n", "a\nmore\nmore\nt\n"]);
      expect(phaseOf(project, "strays")).toMatchObject({
        status: "failed",
        retry_count: 2,
        files_modified: [],
        files_created: [],
      });
      expect(project.worktrees()).toEqual([]);
    }));

  test.concurrent("gets a warning with --ownership warn: the work is in the project, and every view says so", () =>
    withIsolated(files, [strayer, bystander], async (project) => {
      const run = await project.begin("--ownership", "warn", ...only("strays")).ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(project.read("a.txt") + project.read("theirs.txt") + project.read("extra.txt")).toBe(
        "a\nmore\nt\nmore\nextra\n",
      );
      expect(run.stderr).toContain("WARNING: Changed outside of its files: extra.txt, theirs.txt");
      expect(warnings(project)).toEqual(["strays outside_scope: Changed outside of its files: extra.txt, theirs.txt"]);
      expect(project.maestro(["report"]).stdout).toContain(
        "- phase strays, outside scope: Changed outside of its files: extra.txt, theirs.txt",
      );
      expect(phaseOf(project, "strays")).toMatchObject({
        files_modified: ["a.txt", "theirs.txt"],
        files_created: ["extra.txt"],
      });
    }));

  const asks = (path: string): Steps[number] => [
    "tool",
    ["maestro_request_scope", { paths: [path], reason: "needed" }],
  ];

  test.concurrent("has asked for them before: granted if no open phase owns them, and then they are its own", () =>
    withIsolated(
      files,
      [
        agent(
          "asks",
          ["a.txt", "extra.txt"],
          asks("extra.txt"),
          asks("theirs.txt"),
          ["append", ["a.txt", "more\n"]],
          ["write", ["extra.txt", "extra\n"]],
        ),
        agent("owner", ["theirs.txt"]),
        bystander,
      ].map((phase) => (phase.id === "asks" ? { ...phase, files_modified: ["a.txt"] } : phase)),
      async (project) => {
        const run = await project.begin(...only("asks")).ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        const answers = project.notes("tool").map(({ answer }) => answer);
        expect(answers).toMatchObject([
          { granted: true, paths: ["extra.txt"] },
          { granted: false, owner: "owner" },
        ]);
        expect(project.read("a.txt") + project.read("extra.txt")).toBe("a\nmore\nextra\n");
        expect(project.events("phase.scope_requested").map(({ granted }) => granted)).toEqual([true, false]);
        expect(project.maestro(["report"]).stdout).toContain("Granted beyond their files:\n- phase asks: extra.txt");
      },
    ));
});

describe("a phase that declares no files", () => {
  const reader = (id: string, agentName: string): PhaseSpec => ({
    ...agent(id, [], ["write", [`${id}.log`, "x\n"]]),
    agent: agentName,
  });

  test.concurrent("owns nothing: the changes of a writing agent are refused, those of a reading agent are discarded with a warning", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [
        agent("silent", []),
        agent("writes", [], ["write", ["made.txt", "made\n"]]),
        reader("reads", "code-reviewer"),
        reader("runs", "debugger"),
        bystander,
      ],
      async (project) => {
        const words = ["--keep-going", ...only("silent", "writes", "reads", "runs")];
        const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...words).ended;
        expect(run.code, run.stderr).toBe(4);
        const { phases } = status(project);
        expect(
          Object.fromEntries(phases.map((phase: { id: string; status: string }) => [phase.id, phase.status])),
        ).toEqual({
          silent: "completed",
          writes: "failed",
          reads: "completed",
          runs: "completed",
          bystander: "pending",
        });
        expect(project.errorsOf("writes")).toContain("Changed outside of its files:\\n- made.txt");
        for (const name of ["made.txt", "reads.log", "runs.log"]) expect(project.exists(name)).toBe(false);
        expect(warnings(project)).toEqual(
          expect.arrayContaining([
            "reads not_applied: Its agent is read-only, and its changes were not integrated: reads.log",
            "runs not_applied: Its agent is read-only, and its changes were not integrated: runs.log",
          ]),
        );
        expect(phaseOf(project, "reads").files_created).toEqual([]);
        expect(project.git("show", `refs/maestro/${SESSION}/reads/1:reads.log`)).toBe("x");
      },
    ));
});

describe("a report that differs from the tree", () => {
  test.concurrent("is reported in the output, the session and the summary, and the session lists the files of the tree", () =>
    withIsolated(
      { "a.txt": "a\n", "old.txt": "old\n" },
      [
        scripted(
          "lies",
          {
            "*": [
              ["write", ["made.txt", "made\n"]],
              ["remove", "old.txt"],
              ["report", { created: "dreamt.txt", modified: "a.txt" }],
            ],
          },
          { files_modified: ["a.txt", "made.txt", "old.txt", "dreamt.txt"] },
        ),
        bystander,
      ],
      async (project) => {
        const run = await project.begin(...only("lies")).ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        const message =
          "The report names a.txt, dreamt.txt, which did not change; made.txt, old.txt changed and are not in it";
        expect(warnings(project)).toEqual([
          `lies claims_differ: ${message}`,
          "lies not_modified: Declared as modified but untouched: a.txt, dreamt.txt",
        ]);
        expect(run.stderr).toContain(`WARNING: ${message}`);
        expect(phaseOf(project, "lies")).toMatchObject({
          files_created: ["made.txt"],
          files_modified: [],
          files_deleted: ["old.txt"],
        });
        const report = JSON.parse(project.maestro(["report", "--json"]).stdout);
        expect(report.phases[0].warnings).toMatchObject([{ code: "claims_differ", message }, { code: "not_modified" }]);
        expect(project.maestro(["report"]).stdout).toContain(
          "- phase lies, claims differ: The report names a.txt, dreamt.txt",
        );
        expect(report.phases[0].changes).toMatchObject({ total: 2, added: 1, removed: 1, in_project: true });
      },
    ));
});

describe("a phase that is to run alone, or is alone in its plan", () => {
  const own = (id: string, over: Partial<PhaseSpec> = {}): PhaseSpec => ({
    ...agent(id, [`${id}.txt`], ["prompt"], ["write", [`${id}.txt`, `${id}\n`]]),
    ...over,
  });
  const plan = [
    own("first"),
    own("left", { blocked_by: ["first"] }),
    own("right", { blocked_by: ["first"] }),
    own("solo", { blocked_by: ["first"], parallel: false }),
    own("last", { blocked_by: ["left", "right", "solo"] }),
  ];

  test.concurrent("works in the project itself, unlike other phases, and its changes are still known", () =>
    withIsolated({ "README.md": "hello\n" }, plan, async (project) => {
      const before = project.belongings();
      const run = await project.begin().ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(places(project)).toEqual({ first: true, left: true, right: true, solo: false, last: true });
      const { solo, ...others } = roots(project);
      expect(solo).toBe(project.path);
      for (const root of Object.values(others)) expect(root?.startsWith(project.cache)).toBe(true);
      for (const { phase, cwd } of project.notes("start")) expect(cwd).toBe(roots(project)[phase]);
      const changed = project.events("attempt.changed").map(({ phase, total, outside }) => [phase, total, outside]);
      expect(changed).toHaveLength(5);
      for (const [, ...change] of changed) expect(change).toEqual([1, []]);
      expect(project.refs()).toHaveLength(5);
      expect(phaseOf(project, "first").files_created).toEqual(["first.txt"]);
      expect(project.belongings()).toEqual(before);
    }));

  test.concurrent("has a worktree too with --isolation worktree, also when phases run one after another", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [own("first"), own("next", { blocked_by: ["first"] })],
      async (project) => {
        const run = await project.begin("--isolation", "worktree", "--mode", "sequential").ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(places(project)).toEqual({ first: true, next: true });
        expect(project.read("first.txt") + project.read("next.txt")).toBe("first\nnext\n");
        expect(project.worktrees()).toEqual([]);
      },
    ));

  test.concurrent("has changes outside its files refused, with a message that they are in the project", () =>
    withIsolated(files, [strayer], async (project) => {
      const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }).ended;
      expect(run.code, run.stderr).toBe(4);
      expect(run.stdout).toContain(
        "Changed outside of its files:\n- extra.txt\n- theirs.txt\nThey are in the project: revert those that you do not want.",
      );
      expect(project.exists("extra.txt")).toBe(true);
    }));

  test.concurrent("may take back in the next attempt what was not its own", () =>
    withIsolated(
      files,
      [
        again(
          "strays",
          ["a.txt"],
          [
            ["append", ["theirs.txt", "more\n"]],
            ["write", ["extra.txt", "extra\n"]],
          ],
          ["write", ["theirs.txt", "t\n"]],
          ["remove", "extra.txt"],
          ["append", ["a.txt", "more\n"]],
        ),
      ],
      async (project) => {
        const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "1" }).ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(project.read("a.txt") + project.read("theirs.txt")).toBe("a\nmore\nt\n");
        expect(phaseOf(project, "strays").files_modified).toContain("a.txt");
      },
    ));

  test.concurrent("is not completed silently when a failed attempt left changes outside its files", () =>
    withIsolated(
      files,
      [
        again(
          "strays",
          ["a.txt"],
          [
            ["write", ["extra.txt", "extra\n"]],
            ["exit", 7],
          ],
          ["append", ["a.txt", "more\n"]],
        ),
      ],
      async (project) => {
        const run = await project.begin().ended;
        expect(run.code, run.stdout + run.stderr).toBe(4);
        expect(project.errorsOf("strays")).toContain("Changed outside of its files:\\n- extra.txt");
      },
    ));

  test.concurrent("answers only for its own attempts when other phases ran between them", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [
        {
          ...again("solo", ["solo.txt"], [["exit", 7]], ["write", ["solo.txt", "s\n"]]),
          parallel: false,
          estimate: { minutes: 90 },
        },
        agent("one", ["one.txt"], ["write", ["one.txt", "1\n"]]),
        agent("two", ["two.txt"], ["write", ["two.txt", "2\n"]], ["signal", "go"]),
      ],
      async (project) => {
        const engine = project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, "--keep-going");
        await vi.waitUntil(() => project.exists("one.txt"), 20_000);
        expect(project.notes("start")[0]?.phase).toBe("solo");
        expect(project.maestro(["retry", "solo"]).code).toBe(0);
        project.signal("go");
        const run = await engine.ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(phaseOf(project, "solo")).toMatchObject({ files_created: ["solo.txt"], warnings: [] });
      },
    ));

  test.concurrent("starts from its earlier work in a worktree when all other phases are done", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [
        again(
          "one",
          ["one.txt"],
          [
            ["write", ["one.txt", "1\n"]],
            ["signal", "go"],
            ["exit", 7],
          ],
          ["append", ["one.txt", "2\n"]],
        ),
        agent("two", ["two.txt"], ["write", ["two.txt", "2\n"]]),
      ],
      async (project) => {
        const engine = project.begin();
        await vi.waitUntil(() => project.eventsOf("two", "phase.moved").some(({ to }) => to === "completed"), 20_000);
        project.signal("go");
        const run = await engine.ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(project.read("one.txt")).toBe("1\n2\n");
        expect(phaseOf(project, "one").files_created).toEqual(["one.txt"]);
      },
    ));
});

describe("agents that share the project's files", () => {
  const scope =
    "Agents share the project's files; changes outside a phase's own files are reported, but cannot be rejected.";
  const beside = agent("beside", ["b.txt"], ["write", ["b.txt", "b\n"]]);
  const stray =
    "strays unjudged: Changed during the attempt, and not owned by any running phase: extra.txt, theirs.txt. Without isolation, Maestro cannot tell what changed it";

  test.concurrent.each<[string, (project: IsolatedProject) => void, string[], string]>([
    ["with --isolation none", () => undefined, ["--isolation", "none"], `Isolation: none. ${scope}`],
    ["outside git", outsideGit, [], `Isolation: none (the project is not in a git repository). ${scope}`],
  ])("%s are warned, also about files that no phase owns", (_, prepare, words, said) =>
    withIsolated(files, [strayer, beside], async (project) => {
      prepare(project);
      const run = await project.begin(...words).ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(run.stderr.split("\n")).toContain(said);
      for (const { cwd } of project.notes("start")) expect(cwd).toBe(project.path);
      expect(warnings(project).filter((warning) => warning.startsWith("strays"))).toEqual([stray]);
      expect(project.read("a.txt") + project.read("b.txt") + project.read("extra.txt")).toBe("a\nmore\nb\nextra\n");
    }),
  );

  test.concurrent.each<[string, (project: IsolatedProject) => void, string[]]>([
    ["with --isolation none", () => undefined, ["--isolation", "none"]],
    ["outside git", outsideGit, []],
  ])(
    "%s, one at a time, are held to their files: refused, or warned about with --ownership warn",
    (_, prepare, words) =>
      withIsolated(files, [strayer, beside], async (project) => {
        prepare(project);
        const one = [...words, "--max-concurrent", "1"];
        const strict = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...one).ended;
        expect(strict.code, strict.stderr).toBe(4);
        expect(strict.stderr).not.toContain("can only be told");
        expect(project.errorsOf("strays")).toContain("Changed outside of its files:\\n- extra.txt\\n- theirs.txt");
        const kinds = project.eventsOf("strays", "attempt.changed")[0]?.files as { path: string; kind: string }[];
        const seen = kinds.map(({ path, kind }) => `${path} ${kind}`).filter((line) => !line.startsWith(".bin/"));
        expect(seen).toEqual(["a.txt modified", "extra.txt created", "theirs.txt modified"]);
        expect(project.maestro(["retry", "strays"]).code).toBe(0);
        rmSync(join(project.path, "extra.txt"));
        const warned = project.resume("--ownership", "warn", ...one);
        expect(warned, warned.stdout + warned.stderr).toMatchObject({ code: 0 });
        expect(warnings(project)).toContain(
          "strays outside_scope: Changed outside of its files: extra.txt, theirs.txt",
        );
      }),
  );

  test.concurrent("are compared with the files at their start, which is known from the last look while nothing changes", () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`many/${at % 30}/${at}.txt`, "1\n"]));
    const ids = ["a", "b", "c", "writes", "d", "e", "f"];
    const phases = ids.map((id, at) => ({
      ...agent(id, [`${id}.txt`]),
      blocked_by: at === 0 ? [] : ids.slice(at - 1, at),
    }));
    return withIsolated(many, phases, async (project) => {
      const report = `## Task Report\n- Status: success\n- Files Created: none\n- Files Modified: none\n- Files Deleted: none\n- Summary: done\n\n## Downstream Context\n- Warnings: none\n`;
      // Unlike the stand-in, it notes nothing in the project.
      const body = 'cat >/dev/null; [ "$MAESTRO_PHASE" != writes ] || echo w >writes.txt';
      const answer = JSON.stringify({ session_id: "s", response: report });
      project.write(".bin/gemini", `#!/bin/sh\n${body}\ncat <<'END'\n${answer}\nEND\n`);
      const run = await project.begin("--isolation", "none", "--max-concurrent", "2").ended;
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      const bases = ids.map((id) => project.eventsOf(id, "attempt.placed")[0]?.base);
      expect(new Set(bases.slice(0, 4)).size).toBe(1);
      expect(new Set(bases.slice(4)).size).toBe(1);
      expect(bases[4]).not.toBe(bases[3]);
      const changed = ids.map((id) => project.eventsOf(id, "attempt.changed")[0]?.files);
      expect(changed.map((files) => (files as object[]).length)).toEqual([0, 0, 0, 1, 0, 0, 0]);
    });
  });

  test.concurrent("outside git cannot have worktrees: asked for, that is refused before anything starts", () =>
    withIsolated(files, [strayer, beside], async (project) => {
      outsideGit(project);
      for (const words of [["--isolation", "worktree"], ["--allow-overlap"]]) {
        const run = await project.begin(...words).ended;
        expect(run.code, run.stderr).toBe(3);
        expect(run.stderr).toContain("Cannot create worktrees for attempts: the project is not in a git repository");
      }
      expect(project.list(".gemini")).toEqual(["plans"]);
      expect(project.notes("start")).toEqual([]);
    }));

  test.concurrent("one after another are warned by default, and still known by what they did", () =>
    withIsolated(files, [strayer], async (project) => {
      const run = project.maestro(["run", planPath, "--keep-open", "--mode", "sequential"], {
        env: project.agents.env(),
      });
      expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
      expect(warnings(project)).toEqual(["strays outside_scope: Changed outside of its files: extra.txt, theirs.txt"]);
      expect(places(project)).toEqual({ strays: false });
    }));
});

describe("a change of a sensitive file", () => {
  const sensitive = [".husky/pre-commit", ".gemini/settings.json", "conf/server.pem", ".envrc"];
  const steps: Steps = [
    ["write", ["a.txt", "new\n"]],
    ...sensitive.map((path): Steps[number] => ["write", [path, "x\n"]]),
    ["report", { created: ["a.txt", ...sensitive].join(", ") }],
  ];
  // The plan gives the phase all of them, by name.
  const phase = scripted("hooks", { "*": steps }, { files_created: ["a.txt", ...sensitive] });

  test.concurrent.each(["strict", "warn"])(
    "is brought in only when a person applies it, with ownership %s",
    (ownership) =>
      withIsolated({ "b.txt": "b\n" }, [phase, bystander], async (project) => {
        const run = await project.begin(...only("hooks"), "--ownership", ownership).ended;
        expect(run.code, run.stderr).toBe(4);
        for (const path of sensitive) expect(run.stdout).toContain(`- ${path} (`);
        expect(run.stdout).toContain(" apply hooks applies the work unchanged, by your decision");
        expect(["a.txt", ...sensitive].filter((path) => project.exists(path))).toEqual([]);
        const applied = project.maestro(["apply", "hooks"]);
        expect(applied.code, applied.stderr).toBe(0);
        expect(["a.txt", ...sensitive].filter((path) => project.exists(path))).toHaveLength(5);
      }),
  );
});

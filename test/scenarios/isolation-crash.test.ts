// The engine is killed while attempts are placed, examined and integrated. The next engine finds every file old or new, and leaves every
// phase in the project as a whole or not at all. MAESTRO_CHAOS_ROUNDS visits all points and runs more rounds, MAESTRO_CHAOS_SEED repeats a
// run.

import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { chaosRounds as chaos } from "../support/crash-points.ts";
import type { IsolatedProject } from "../support/isolated.ts";
import {
  before,
  below,
  changed,
  changing,
  eachOf,
  expectClean,
  expectNothingTorn,
  expectRecovery,
  expectWhole,
  filesOf,
  hasOpenAttempt,
  killedAt,
  killing,
  LONG_MS,
  nextWords,
  one,
  resuming,
  running,
  seed,
  sessionOf,
  startsOf,
  startsOfFinished,
  three,
  undisturbed,
  untilItEnds,
  untouched,
  within,
} from "../support/killed-engine.ts";
import { allGone, background, isAlive, maestro, spawned, TEST_TIMEOUT_MS, until } from "../support/processes.ts";
import { maestroPath } from "../support/project.ts";
import type { Steps } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

/** The steps of an integration, and how often each is reached in the change of one phase. */
const integrationSteps = [
  ["integrate-open", 6],
  ["integrate-write", 5],
  ["integrate-write-half", 5],
  ["integrate-write-done", 5],
  ["integrate-fsync", 1],
  ["integrate-begin", 1],
  ["integrate-step", 8],
  ["integrate-create", 4],
  ["integrate-created", 4],
  ["integrate-directory", 1],
  ["integrate-sync", 1],
  ["integrate-end", 1],
  ["integrate-record", 1],
] as const;
const allPoints = integrationSteps.flatMap(([step, times]) =>
  Array.from({ length: times }, (_, at) => `${step}:${at + 1}`),
);

/** One of each state to be killed in: nothing ready, half a file, all ready, in between, two names for one file, all applied and not recorded. */
const somePoints = [
  "integrate-open:3",
  "integrate-write-half:2",
  "integrate-begin:1",
  "integrate-step:4",
  "integrate-created:2",
  "integrate-record:1",
];
const every = (stride: number) => (chaos > 0 ? 1 : stride);
const named = (what: string, stride: number) => (every(stride) === 1 ? `every ${what}` : `one ${what} in ${stride}`);

describe("an engine that is killed and resumed (F1, F22, P1, P3)", () => {
  test(
    `at ${chaos > 0 ? "all steps" : "steps of each kind"} of an integration: leaves no torn file, and the phase is integrated without another attempt`,
    async () => {
      const points = chaos > 0 ? allPoints : somePoints;
      await eachOf(points, async (at) => expect(await killedAt(one, at), `${at} is reached`).toBe(true));
      const beyond = chaos > 0 ? integrationSteps.map(([step, times]) => `${step}:${times + 1}`) : [];
      await eachOf(beyond, async (at) => expect(await killedAt(one, at), `${at} is not reached`).toBe(false));
    },
    LONG_MS,
  );

  test(
    `at ${named("write", 131)} of a run of three phases: all as if nothing had happened`,
    async () => {
      const killed = await untilItEnds(every(131), (n) => killedAt(three, `any:${n}`));
      expect(killed).toBeGreaterThan(chaos > 0 ? 200 : 2);
    },
    LONG_MS,
  );

  test(
    "while objects are copied to the repository: each is complete, and none is left without a reference",
    async () => {
      const points = ["copied:1", "linked:1", "linked:4", "moved:1", "copied:2", "linked:9", "moved:2"];
      await eachOf(points, async (at) => expect(await killedAt(one, `objects-${at}`), at).toBe(true));
    },
    LONG_MS,
  );

  test("while it writes its summary: the half-written file is deleted by a resume, and by archiving alike", async () => {
    await eachOf(["resume", "archive"], (next) =>
      within(one, async (project) => {
        const belongings = project.belongings();
        const run = await maestro(project, running, project.agents.env(killing("summary:1")));
        expect(run.signal, run.stderr).toBe("SIGKILL");
        const results = () => project.list(".gemini/parallel/2026-02-14-task-api/results");
        expect(results()).toContainEqual(expect.stringMatching(/^\.maestro-.*\.tmp$/));
        if (next === "resume") return expectRecovery(project, one, belongings, "killed at the summary");
        expect(await commandLine(project, ["archive"], { env: project.agents.env() })).toMatchObject({ code: 0 });
        await expectClean(project, belongings, "archived after a kill at the summary");
      }),
    );
  });

  /** Kills the engine at the n-th call of git and resumes; false when there are fewer calls. */
  const killedByGit = (n: number, when: "before" | "after" | "late") =>
    within(one, async (project) => {
      const belongings = project.belongings();
      const what = `killed by call ${n} of git (${when})`;
      const heal = putDeadlyGit(project, n, when);
      const run = await maestro(project, running, project.agents.env());
      if (run.signal !== "SIGKILL") {
        expect(run.code, run.stderr).toBe(0);
        return false;
      }
      heal();
      expectNothingTorn(project, one, what);
      if (when !== "late") {
        await expectRecovery(project, one, belongings, what);
        return true;
      }
      const again = await maestro(project, nextWords(project), project.agents.env());
      expect(again.code, `${what}: ${again.stdout}${again.stderr}`).toBe(0);
      project.write(".bin/now", "");
      await allGone(project);
      expect(filesOf(project), what).toEqual((await undisturbed(one)).files);
      expect((await maestro(project, ["archive"])).code, what).toBe(0);
      await expectClean(project, belongings, what);
      return true;
    });

  test.each(["before", "after"] as const)(
    `%s ${named("call", 13)} of git, from the first look at the repository to the last removal: all as if nothing had happened`,
    async (when) => {
      const killed = await untilItEnds(every(13), (n) => killedByGit(n, when));
      expect(killed).toBeGreaterThan(chaos > 0 ? 20 : 1);
    },
    LONG_MS,
  );

  test(
    `over ${named("call", 13)} of git that does its work when the session is resumed and done: the project stands, and archiving clears up`,
    async () => {
      const killed = await untilItEnds(every(13), (n) => killedByGit(n, "late"));
      expect(killed).toBeGreaterThan(chaos > 0 ? 20 : 1);
    },
    LONG_MS,
  );
});

/**
 * Puts a wrapper in front of git whose n-th call kills the calling process: before git runs, after it has run, or "late", when
 * git runs although the caller is dead: once the file .bin/now exists. Returns a function that removes the wrapper.
 */
function putDeadlyGit(project: IsolatedProject, n: number, when: "before" | "after" | "late"): () => void {
  const git = project.run("sh", ["-c", "command -v git"]).stdout.trim();
  const calls = join(project.path, ".bin", "calls");
  const deeds = {
    before: "kill -9 $PPID; exit 1",
    after: `'${git}' "$@"; code=$?; kill -9 $PPID; exit $code`,
    late: `kill -9 $PPID; until [ -e '${join(project.path, ".bin", "now")}' ]; do sleep 0.05; done; exec '${git}' "$@"`,
  };
  const script = `#!/bin/sh
echo >>'${calls}'; count=0; while read -r _; do count=$((count + 1)); done <'${calls}'
if [ $count -ge ${n} ] && mkdir '${calls}.killed' 2>/dev/null; then ${deeds[when]}; fi
exec '${git}' "$@"
`;
  const path = project.write(".bin/git", script);
  chmodSync(path, 0o755);
  return () => rmSync(path);
}

describe("an integration that is killed, and one of its files edited before the session is resumed", () => {
  const points = chaos > 0 ? allPoints : ["integrate-step:5"];
  const mine = "text of the user's\n";
  const append = (project: IsolatedProject, path: string, otherwise = "") =>
    project.write(path, (project.exists(path) ? project.read(path) : otherwise) + mine);

  /** Killed at each point, edited, resumed. */
  const edited = (
    edit: (project: IsolatedProject) => void,
    check: (project: IsolatedProject, code: number | null, what: string) => Promise<void> | void,
  ) =>
    eachOf(points, (at) =>
      within(one, async (project) => {
        const belongings = project.belongings();
        const killed = await maestro(project, running, project.agents.env(killing(at)));
        expect(killed.signal, at).toBe("SIGKILL");
        edit(project);
        const run = await maestro(project, resuming, project.agents.env());
        await check(project, run.code, `${at}: ${run.stdout}${run.stderr}`);
        expect(startsOf(project, "one"), at).toBe(1);
        await expectClean(project, belongings, at);
      }),
    );

  test.concurrent(
    "ends with both changes when the user edited another part of the file",
    async () => {
      await edited(
        (project) => append(project, "one/text.txt"),
        (project, code, what) => {
          expect(code, what).toBe(0);
          const { "one/text.txt": content, ...rest } = below(filesOf(project), "one");
          const { "one/text.txt": expected, ...others } = changed("one");
          expect(content, what).toBe(expected + mine);
          expect(rest, what).toEqual(others);
        },
      );
    },
    LONG_MS,
  );

  const kinds: [string, string][] = [
    ["that it changes, all of it", "text.txt"],
    ["that it makes in a directory of its own", "new/deep/made.txt"],
    ["that it makes", "made.txt"],
    ["that it takes away", "old/gone.txt"],
  ];

  test.concurrent.each(kinds)(
    "keeps the user's text in a file %s, and the rest of the phase is there as a whole or not at all",
    async (_, file) => {
      const path = `one/${file}`;
      await edited(
        (project) => project.write(path, mine),
        (project, code, what) => {
          expect([0, 4], what).toContain(code);
          const files = below(filesOf(project), "one");
          expect(files[path], what).toBe(`- ${mine}`);
          const whole = code === 0 ? changed("one") : untouched("one");
          const parents = path
            .split("/")
            .slice(1, -1)
            .map((_part, at) =>
              path
                .split("/")
                .slice(0, at + 2)
                .join("/"),
            );
          const directories = Object.fromEntries(parents.map((parent) => [parent, "d"]));
          expect(files, what).toEqual({ ...whole, ...directories, [path]: `- ${mine}` });
          if (code === 4) expect(what).toContain(`${path} (modified externally since phase start)`);
        },
      );
    },
    LONG_MS,
  );

  test.concurrent(
    "keeps the user's text in the file that it moves",
    async () => {
      await edited(
        (project) => append(project, "one/before.txt", before("one")["one/before.txt"]),
        (project, code, what) => {
          expect([0, 4], what).toContain(code);
          const files = filesOf(project);
          const all = `${files["one/before.txt"]}${files["one/after.txt"]}`;
          expect(all, what).toContain(mine);
        },
      );
    },
    LONG_MS,
  );
});

describe("an integration that is killed and not resumed", () => {
  const points = chaos > 0 ? allPoints : ["integrate-step:5"];
  const killed = (use: (project: IsolatedProject, belongings: Record<string, string>, what: string) => Promise<void>) =>
    eachOf(points, (at) =>
      within(three, async (project) => {
        const belongings = project.belongings();
        const run = await maestro(project, running, project.agents.env(killing(at)));
        expect(run.signal, at).toBe("SIGKILL");
        await allGone(project);
        await use(project, belongings, at);
      }),
    );

  test.concurrent(
    "is finished by `maestro archive`: each phase is in the project or not, and only the work in refs is left",
    async () => {
      await killed(async (project, belongings, what) => {
        const { code, stdout, stderr } = await maestro(project, ["archive"]);
        expect(code, `${what}: ${stdout}${stderr}`).toBe(0);
        expect(stderr, what).toMatch(
          /Integrating attempt 1 of phase (one|two) .* had been interrupted; it is finished now/,
        );
        expect(expectWhole(project, three, what).length, what).toBeGreaterThan(0);
        await expectClean(project, belongings, what);
        expect(project.refs().length, what).toBeGreaterThan(0);
      });
    },
    LONG_MS,
  );

  test.concurrent(
    "is finished by `maestro doctor --fix`, and the session can still be resumed",
    async () => {
      await killed(async (project, belongings, what) => {
        const look = await maestro(project, ["doctor"], project.agents.env());
        expect(look.stdout, what).toMatch(/Integrating attempt 1 of phase (one|two) .* was started but not finished/);
        const { code, stdout } = await maestro(project, ["doctor", "--fix"], project.agents.env());
        expect(code, `${what}: ${stdout}`).toBe(0);
        expect(expectWhole(project, three, what).length, what).toBeGreaterThan(0);
        // The resume finishes the other phase.
        if (!hasOpenAttempt(project)) await expectClean(project, belongings, what);
        await expectRecovery(project, three, belongings, what);
      });
    },
    LONG_MS,
  );
});

describe("a recovering engine that is killed once more", () => {
  /** The first engine dies during an integration; the caller chooses where the second one is killed. */
  const killedTwice = (
    first: string,
    second: string,
    edit: (project: IsolatedProject) => void,
    check: (project: IsolatedProject, belongings: Record<string, string>, what: string) => Promise<void>,
  ) =>
    within(one, async (project) => {
      const belongings = project.belongings();
      const what = `killed at ${first}, then at ${second}`;
      expect((await maestro(project, running, project.agents.env(killing(first)))).signal, what).toBe("SIGKILL");
      edit(project);
      const again = await maestro(project, resuming, project.agents.env(killing(second)));
      if (again.signal !== "SIGKILL") {
        expect(again.code, `${what}: ${again.stderr}`).toBe(0);
        return false;
      }
      await check(project, belongings, what);
      return true;
    });

  test(
    `at ${named("write", 41)}: all as if nothing had happened`,
    async () => {
      const nothing = () => undefined;
      const killed = await untilItEnds(every(41), (n) =>
        killedTwice("integrate-step:4", `any:${n}`, nothing, async (project, belongings, what) => {
          expectNothingTorn(project, one, what);
          await expectRecovery(project, one, belongings, what);
        }),
      );
      expect(killed).toBeGreaterThan(1);
    },
    LONG_MS,
  );

  test(
    "while it undoes a change because of the user's edit ends with both changes in the project",
    async () => {
      const points = ["integrate-back:1", ...(chaos > 0 ? [1, 2, 3, 4, 5, 6] : [2]).map((n) => `integrate-step:${n}`)];
      const mine = "text of the user's\n";
      await eachOf(points, async (second) => {
        const edit = (project: IsolatedProject) => project.write("one/text.txt", project.read("one/text.txt") + mine);
        const isKilled = await killedTwice("integrate-step:6", second, edit, async (project, belongings, what) => {
          const run = await maestro(project, resuming, project.agents.env());
          expect(run.code, `${what}: ${run.stdout}${run.stderr}`).toBe(0);
          const expected = { ...changed("one"), "one/text.txt": `${changed("one")["one/text.txt"]}${mine}` };
          expect(below(filesOf(project), "one"), what).toEqual(expected);
          await expectClean(project, belongings, what);
        });
        expect(isKilled, second).toBe(true);
      });
    },
    LONG_MS,
  );
});

describe("an engine in worktrees that is killed at random times (F2, P1-P4)", () => {
  const four = [...three, changing("four", {}, [["sleep", 200]])];
  const rounds = chaos || 5;
  const random = generator(seed);
  const plans = Array.from({ length: rounds }, (_, round) => ({ round, moments: [random(), random()] }));

  test(
    `in ${rounds} rounds, seed ${seed}: killed twice, resumed to the end, all as if nothing had happened`,
    async () => {
      await undisturbed(four);
      await eachOf(plans, ({ round, moments }) =>
        within(four, async (project) => {
          const belongings = project.belongings();
          const finished = new Map<string, number>();
          const what = `seed ${seed}, round ${round}`;
          for (const moment of moments) {
            const engine = background(project, nextWords(project), project.agents.env());
            const timer = setTimeout(() => engine.child.kill("SIGKILL"), moment * 3000);
            await engine.ended;
            clearTimeout(timer);
            expectNothingTorn(project, four, what);
            for (const [phase, starts] of startsOfFinished(project))
              if (!finished.has(phase)) finished.set(phase, starts);
          }
          const run = await maestro(project, nextWords(project), project.agents.env());
          expect(run.code, `${what}: ${run.stdout}${run.stderr}`).toBe(0);
          const expected = await undisturbed(four);
          expect(filesOf(project), what).toEqual(expected.files);
          expect(sessionOf(project), what).toEqual(expected.session);
          for (const [phase, starts] of finished) expect(startsOf(project, phase), what).toBe(starts);
          await expectClean(project, belongings, what);
        }),
      );
    },
    LONG_MS,
  );
});

describe("a kill while an agent works in its worktree", () => {
  /** It has done half of its work and keeps running; it ignores TERM. */
  const half: Steps = [
    ["ignore", "SIGTERM"],
    ["command", ["sh", "-c", "sed -i 's/^line 2$/changed/' one/text.txt && echo more > one/more.txt"]],
    ["command", ["sh", "-c", 'touch "$MAESTRO_STATE_DIR/half"']],
    ["shell", "trap '' TERM; while :; do echo more >> one/more.txt; sleep 0.05; done"],
  ];
  const phases = [changing("one", {}, half)];

  async function atWork(project: IsolatedProject) {
    const engine = spawned(project, "setsid", [process.execPath, maestroPath, ...running], project.agents.env());
    await until("the agent has done half of its work", () => project.exists(".gemini/half"));
    return { engine, agent: project.agents.notes("start")[0]?.pid ?? 0 };
  }

  test.concurrent.each(["the engine", "its whole process group"])(
    "of %s ends the agent, and the next attempt does the phase",
    async (whom) => {
      await within(phases, async (project) => {
        const belongings = project.belongings();
        const { engine, agent } = await atWork(project);
        expect(isAlive(agent)).toBe(true);
        process.kill(whom === "the engine" ? engine.pid : -engine.pid, "SIGKILL");
        await engine.ended;
        await until("the agent is ended", () => !isAlive(agent));
        await allGone(project);
        expect(expectWhole(project, phases, whom)).toEqual([]);
        const run = await maestro(project, resuming, project.agents.env());
        expect(run.code, run.stderr).toBe(0);
        // The second attempt began with the work of the first one.
        const { "one/more.txt": more, ...rest } = below(filesOf(project), "one");
        expect(more).toMatch(/^- (more\n)+$/);
        expect(rest).toEqual(changed("one"));
        expect(startsOf(project, "one")).toBe(2);
        await expectClean(project, belongings, whom);
      });
    },
  );

  test.concurrent("keeps the work of the agent visible when the session is aborted and archived", async () => {
    await within(phases, async (project) => {
      const belongings = project.belongings();
      const { engine, agent } = await atWork(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      const early = await maestro(project, ["diff", "one"], project.agents.env());
      expect(early.stderr).toMatch(
        /attempt 1 has no recorded end: `node ".*maestro\.js" resume` or `node ".*" abort` records its changes/,
      );
      const aborted = await maestro(project, ["abort"], project.agents.env());
      expect(aborted.code, aborted.stderr).toBe(0);
      expect(isAlive(agent)).toBe(false);
      expect(aborted.stderr).toContain('maestro.js" diff one --attempt 1` shows its changes');
      const shown = await maestro(project, ["diff", "one", "--attempt", "1"], project.agents.env());
      expect(shown.stdout).toContain("-line 2\n+changed\n");
      await maestro(project, ["archive"], project.agents.env());
      expect(project.refs()).toHaveLength(1);
      const later = await maestro(project, ["diff", "one", "--attempt", "1"], project.agents.env());
      expect(later.stdout).toBe(shown.stdout);
      expect(below(filesOf(project), "one")).not.toEqual(changed("one"));
      await expectClean(project, belongings, "aborted");
    });
  });

  test.concurrent("does not let the session be archived while the work cannot be kept", async () => {
    await within(phases, async (project) => {
      const belongings = project.belongings();
      const { engine } = await atWork(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      const obstacle = project.write(".git/refs/maestro/2026-02-14-task-api/one", "in the way\n");
      const refused = await maestro(project, ["archive"], project.agents.env());
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      const [, place = ""] =
        /The work of phase one could not be kept: .*The work is in (\S+)\. /s.exec(refused.stderr) ?? [];
      const half = () => readFileSync(join(place, "one/text.txt"), "utf8");
      expect(half()).toContain("changed\n");
      const aborted = await maestro(project, ["abort"], project.agents.env());
      expect([aborted.code, aborted.stderr]).toEqual([0, expect.stringContaining(`The work is in ${place}.`)]);
      await maestro(project, ["doctor", "--fix"], project.agents.env());
      expect(half()).toContain("changed\n");
      rmSync(obstacle);
      const archived = await maestro(project, ["archive"], project.agents.env());
      expect(archived.code, archived.stderr).toBe(0);
      const shown = await maestro(project, ["diff", "one", "--attempt", "1"], project.agents.env());
      expect(shown.stdout).toContain("-line 2\n+changed\n");
      await expectClean(project, belongings, "archived");
    });
  });

  test.concurrent.each([
    ["abort", ["abort"], ["abort"]],
    ["resume", resuming, ["abort"]],
    ["archive", ["archive"], ["abort"]],
  ])("loses nothing when one terminal runs %s while another runs abort", async (_, one, other) => {
    await within(phases, async (project) => {
      const belongings = project.belongings();
      const { engine, agent } = await atWork(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      const ends = await Promise.all([one, other].map((words) => maestro(project, words, project.agents.env())));
      const said = ends.map(({ code, stdout, stderr }) => `${code}: ${stdout}${stderr}`).join("\n");
      expect(
        ends.some(({ code }) => code === 0),
        said,
      ).toBe(true);
      expect(said).not.toMatch(/defect|cannot be read/);
      expect(isAlive(agent)).toBe(false);
      const shown = await maestro(project, ["diff", "one", "--attempt", "1"], project.agents.env());
      expect(shown.stdout, said).toContain("-line 2\n+changed\n");
      const { "one/more.txt": _more, ...rest } = below(filesOf(project), "one");
      expect([untouched("one"), changed("one")], said).toContainEqual(rest);
      await maestro(project, ["archive"], project.agents.env());
      await expectClean(project, belongings, said);
    });
  });

  test.concurrent("makes an immediate resume end the agent before it examines the work", async () => {
    await within(phases, async (project) => {
      const belongings = project.belongings();
      const { engine, agent } = await atWork(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      const run = await maestro(project, resuming, project.agents.env());
      expect(run.code, run.stderr).toBe(0);
      expect(isAlive(agent)).toBe(false);
      const { "one/more.txt": _, ...rest } = below(filesOf(project), "one");
      expect(rest).toEqual(changed("one"));
      await expectClean(project, belongings, "resumed at once");
    });
  });
});

/** Mulberry32: the same numbers for the same seed. */
function generator(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { crashPoints, STRIDE } from "../../../test/support/crash-points.ts";
import { filesBelow, GitProject as GitDirectory, workFiles } from "../../../test/support/git-repository.ts";
import { programPath } from "../../../test/support/project.ts";
import { snapshot } from "../../git/snapshot/snapshot.ts";
import { type Intent, readIntent, writeIntent } from "../../store/files/integration-file.ts";
import { locateState } from "../../store/location.ts";
import { finishIntent } from "../recovery/finish-change.ts";
import { bringIn, type GitProject } from "./bring-in.ts";

let directory: GitDirectory;
let project: GitProject;
beforeEach(async () => {
  directory = new GitDirectory();
  project = { repository: await directory.open(), location: locateState(directory.path, ".gemini") };
});
afterEach(() => directory.remove());

type Files = Record<string, string>;
const options = { exclude: [".gemini"], include: [] };
const tree = async () => (await snapshot(project.repository, options)).tree;
const put = (name: string, content: string) => {
  mkdirSync(dirname(join(directory.path, name)), { recursive: true });
  writeFileSync(join(directory.path, name), content);
};
const restore = (files: Files) => {
  for (const name of readdirSync(directory.path)) {
    if (![".git", ".gemini"].includes(name)) rmSync(join(directory.path, name), { recursive: true });
  }
  for (const [name, content] of Object.entries(files)) put(name, content);
};
/** The project's files that the user sees. */
const files = () =>
  Object.fromEntries(
    Object.entries(workFiles(directory.path))
      .filter(([name]) => !name.startsWith(".gemini/"))
      .map(([name, content]) => [name, content.slice(2)]),
  );
const stateFiles = () => Object.keys(filesBelow(join(directory.path, ".gemini")));

/** The intent for a change from one state to the other; the project is left in the first. */
const between = async (before: Files, after: Files): Promise<Intent> => {
  restore(after);
  const to = await tree();
  restore(before);
  return { session: "s", phase: "1", attempt: 1, what: "integrate", from: await tree(), to };
};

const before: Files = { changed: "old", "gone/file": "old", kept: "same" };
const after: Files = { changed: "new", "fresh/file": "new", kept: "same" };

describe("applying a change", () => {
  test("changes all files and leaves no record", async () => {
    const intent = await between(before, after);
    expect(await bringIn(project, intent)).toEqual({ kind: "applied" });
    expect(files()).toEqual(after);
    expect(stateFiles()).toEqual([]);
  });

  test("writes nothing when nothing changes", async () => {
    const { from, ...intent } = await between(before, after);
    expect(await bringIn(project, { ...intent, from, to: from })).toEqual({ kind: "applied" });
    expect(directory.exists(".gemini")).toBe(false);
  });

  test("changes nothing when another program has changed a file", async () => {
    const intent = await between(before, after);
    put("changed", "mine");
    expect(await bringIn(project, intent)).toEqual({ kind: "changed", paths: ["changed"] });
    expect(files()).toEqual({ ...before, changed: "mine" });
    expect(stateFiles()).toEqual([]);
  });

  test("undoes everything when another program changes a file at the same moment", async () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`many/${at}`, String(at)]));
    const intent = await between({ z: "old", zz: "old" }, { ...many, z: "new" });
    const edit = async () => {
      while (!directory.exists("many")) await new Promise((resolve) => setImmediate(resolve));
      put("z", "mine");
    };
    const [outcome] = await Promise.all([bringIn(project, intent), edit()]);
    expect(outcome).toEqual({ kind: "changed", paths: ["z"] });
    expect(files()).toEqual({ z: "mine", zz: "old" });
    expect(stateFiles()).toEqual([]);
  });

  test("rejects files that must not reach the project, and leaves no record", async () => {
    const intent = await between(before, after);
    const inner = forged([["100644", "blob", blob("x"), "config"]]);
    const to = forged([["040000", "tree", inner, ".git"]]);
    await expect(bringIn(project, { ...intent, to })).rejects.toThrow("it is in a .git directory");
    expect(files()).toEqual(before);
    expect(directory.exists(".gemini")).toBe(false);
  });

  test("leaves the project as it was, and no record, when it fails", async () => {
    const intent = await between(before, after);
    const to = forged([["100644", "blob", "1".repeat(40), "changed"]]);
    await expect(bringIn(project, { ...intent, to })).rejects.toThrow("The repository has no object 1111");
    expect(files()).toEqual(before);
    expect(stateFiles()).toEqual([]);
  });

  test("does not begin before an unfinished change is finished", async () => {
    const intent = await between(before, after);
    writeIntent(project.location, { ...intent, phase: "7" });
    await expect(bringIn(project, intent)).rejects.toThrow("attempt 1 of phase 7 (session s) was started");
    expect(files()).toEqual(before);
    expect(readIntent(project.location)).toEqual({ ...intent, phase: "7" });
  });
});

describe("finishing an interrupted change", () => {
  test("does nothing when no change was begun", async () => {
    expect(await finishIntent(project)).toBeUndefined();
    expect(directory.exists(".gemini")).toBe(false);
  });

  test("applies the rest of it", async () => {
    const intent = await between(before, after);
    writeIntent(project.location, intent);
    put("changed", "new");
    expect(await finishIntent(project)).toEqual({ intent, outcome: "applied", left: [] });
    expect(files()).toEqual(after);
    expect(stateFiles()).toEqual([]);
  });

  test("undoes it when another program has changed one of its files since", async () => {
    const intent = await between(before, after);
    writeIntent(project.location, intent);
    put("fresh/file", "new");
    put("changed", "mine");
    expect(await finishIntent(project)).toEqual({ intent, outcome: "undone", left: ["changed"] });
    expect(files()).toEqual({ ...before, changed: "mine" });
    expect(stateFiles()).toEqual([]);
  });

  test("keeps its record when it cannot be finished now", async () => {
    const intent = await between(before, after);
    const to = forged([["100644", "blob", "1".repeat(40), "changed"]]);
    writeIntent(project.location, { ...intent, to });
    await expect(finishIntent(project)).rejects.toMatchObject({
      message: expect.stringContaining("Integrating attempt 1 of phase 1 (session s) is not finished: "),
      hint: expect.stringContaining("maestro doctor --fix"),
    });
    expect(readIntent(project.location)).toEqual({ ...intent, to });
    expect(files()).toEqual(before);
  });

  test.each<[what: string, to: () => string, why: RegExp]>([
    ["a tree that no longer exists", () => "1".repeat(40), /cannot be finished: the repository no longer has 1{40}/],
    [
      "a change that must not happen",
      () => forged([["040000", "tree", forged([["100644", "blob", blob("x"), "a"]]), ".."]]),
      /cannot be finished: it would change .*, and it is outside the project/,
    ],
  ])("reports %s as damage", async (_what, to, why) => {
    const intent = await between(before, after);
    writeIntent(project.location, { ...intent, to: to() });
    await expect(finishIntent(project)).rejects.toMatchObject({
      code: "parse_failed",
      message: expect.stringMatching(why),
    });
    expect(files()).toEqual(before);
  });
});

describe("kill -9 at every step (F1)", () => {
  const run = (point: number, ...trees: string[]) =>
    spawnSync(process.execPath, [programPath("bring-in"), directory.path, directory.cache, ...trees], {
      encoding: "utf8",
      env: { ...process.env, NODE_ENV: "test", MAESTRO_CRASH_AT: `any:${point}` },
    });
  /** Kills the program at its first step, its second and so on, until it ends by itself. */
  const everyStep = async (trees: string[], check: (point: number) => Promise<void>) => {
    for (const point of crashPoints(300)) {
      const { status, signal, stdout, stderr } = run(point, ...trees);
      if (signal !== "SIGKILL") {
        // It must have printed an answer: a program that did nothing would also end without being killed.
        expect({ status, stderr, hasAnswered: stdout !== "" }).toEqual({ status: 0, stderr: "", hasAnswered: true });
        expect(point).toBeGreaterThan(20);
        return JSON.parse(stdout);
      }
      await check(point);
    }
  };
  const expectClean = (point: number) => {
    const litter = Object.keys(filesBelow(directory.path)).filter((name) => /\.maestro-|integration\.json/.test(name));
    // Temporary state files of a killed process are deleted by the next command that reads the session.
    expect(
      litter.filter((name) => !name.startsWith(".gemini/state/.maestro-")),
      `after step ${point}`,
    ).toEqual([]);
  };

  test("of applying: recovery leaves the project in the state before or after", async () => {
    const { from, to } = await between(before, after);
    const seen = { untouched: 0, finished: 0 };
    const outcome = await everyStep([from, to], async (point) => {
      const settled = await finishIntent(project);
      const isAfter = settled !== undefined || JSON.stringify(files()) === JSON.stringify(sorted(after));
      expect(files(), `settled after step ${point}`).toEqual(isAfter ? after : before);
      if (settled !== undefined) expect(settled).toMatchObject({ outcome: "applied", left: [] });
      seen[settled === undefined ? "untouched" : "finished"] += 1;
      expectClean(point);
      restore(before);
    });
    expect(outcome).toEqual({ kind: "applied" });
    expect(seen.untouched).toBeGreaterThan(3 / STRIDE);
    expect(seen.finished).toBeGreaterThan(20 / STRIDE);
  }, 300_000);

  test("of applying, when the user changes a file before recovery: nothing of the change remains", async () => {
    const { from, to } = await between(before, after);
    const outcome = await everyStep([from, to], async (point) => {
      put("changed", "mine");
      const settled = await finishIntent(project);
      if (settled !== undefined) {
        expect(settled, `after step ${point}`).toMatchObject({ outcome: "undone", left: ["changed"] });
        expect(files(), `after step ${point}`).toEqual({ ...before, changed: "mine" });
      } else {
        // Killed before the intent was written, or after the change was complete.
        const { "fresh/file": fresh } = files();
        expect(files(), `after step ${point}`).toEqual({ ...(fresh === undefined ? before : after), changed: "mine" });
      }
      expectClean(point);
      restore(before);
    });
    expect(outcome).toEqual({ kind: "applied" });
  }, 300_000);

  test("of recovery, while it applies and while it undoes", async () => {
    const intent = await between(before, after);
    const arrange = () => {
      restore(before);
      put("fresh/file", "new");
      put("changed", "mine");
      if (readIntent(project.location) === undefined) writeIntent(project.location, intent);
    };
    arrange();
    const outcome = await everyStep([], async (point) => {
      await finishIntent(project);
      expect(files(), `after step ${point}`).toEqual({ ...before, changed: "mine" });
      expectClean(point);
      arrange();
    });
    expect(outcome).toEqual({ intent, outcome: "undone", left: ["changed"] });
  }, 300_000);
});

function sorted(state: Files): Files {
  return Object.fromEntries(Object.entries(state).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A tree that git itself would not create. */
function forged(entries: [mode: string, type: string, id: string, name: string][]): string {
  const input = entries.map(([mode, type, id, name]) => `${mode} ${type} ${id}\t${name}\0`).join("");
  const { stdout, stderr } = spawnSync("git", ["mktree", "-z", "--missing"], {
    cwd: directory.path,
    input,
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return stdout.trim();
}

function blob(input: string): string {
  const args = ["hash-object", "-w", "--stdin"];
  return spawnSync("git", args, { cwd: directory.path, input, encoding: "utf8" }).stdout.trim();
}

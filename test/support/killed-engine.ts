// Engines that are killed while they work in worktrees: the plan they run, what they must leave, and how the session recovers.

import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { commandLine } from "./command-line.ts";
import { chaosRounds as chaos } from "./crash-points.ts";
import { IsolatedProject } from "./isolated.ts";
import { allGone, journalOf, maestro, processesOf } from "./processes.ts";
import { type PhaseSpec, planPath } from "./project.ts";
import { played, type Steps } from "./stand-in.ts";
import { status } from "./status.ts";

export const seed = Number(process.env.MAESTRO_CHAOS_SEED ?? Date.now() % 1_000_000);
export const LONG_MS = chaos > 0 ? 3_600_000 : 300_000;
const flags = ["--isolation", "worktree", "--grace", "300ms", "--keep-open"];
export const running = ["run", planPath, ...flags];
export const resuming = ["resume", "--yes", ...flags];

/** What a path of the project holds; a directory holds nothing. */
type Files = Record<string, string>;

const text = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join("");

/** A directory before its phase, and after: a file of every fate. */
export const before = (name: string): Files => ({
  [`${name}/text.txt`]: text,
  [`${name}/old/gone.txt`]: `of ${name}, not needed\n`,
  [`${name}/before.txt`]: `moved in ${name}\n${text}`,
  [`${name}/run.sh`]: "#!/bin/sh\n",
});
const change = (name: string) =>
  [
    `cd ${name}`,
    "sed -i 's/^line 2$/changed/' text.txt",
    "rm -rf old",
    "if [ -e before.txt ]; then mv before.txt after.txt; fi",
    "chmod +x run.sh",
    "mkdir -p new/deep",
    `echo made in ${name} > made.txt`,
    `echo deep in ${name} > new/deep/made.txt`,
    "ln -sf text.txt link",
  ].join(" && ");
export const changed = (name: string): Files => ({
  [`${name}/text.txt`]: `- ${text.replace("line 2\n", "changed\n")}`,
  [`${name}/after.txt`]: `- moved in ${name}\n${text}`,
  [`${name}/run.sh`]: "x #!/bin/sh\n",
  [`${name}/made.txt`]: `- made in ${name}\n`,
  [`${name}/new`]: "d",
  [`${name}/new/deep`]: "d",
  [`${name}/new/deep/made.txt`]: `- deep in ${name}\n`,
  [`${name}/link`]: "> text.txt",
});

/** Also works where an earlier attempt was killed halfway and left some of the files. */
export const changing = (name: string, over: Partial<PhaseSpec> = {}, first: Steps = []) => {
  // When it is killed with all its processes, it does not continue and report a success.
  const steps: Steps = [["shell", change(name)]];
  return played(name, [...first, ...steps], { files_modified: [`${name}/**`], ...over }, steps);
};

export const one = [changing("one")];
/** Two phases in parallel, and one after them with a validation. */
export const three = [
  changing("one"),
  changing("two"),
  changing("three", { blocked_by: ["one", "two"], validation: ["test -x three/run.sh"] }),
];
const names = (phases: PhaseSpec[]) => phases.map(({ id }) => String(id));

export async function within<T>(phases: PhaseSpec[], use: (project: IsolatedProject) => Promise<T>): Promise<T> {
  const files = Object.assign({ "README.md": "hello\n" }, ...names(phases).map(before));
  const project = new IsolatedProject(files, phases);
  // Something of the user's in every state that git knows.
  project.write("README.md", "changed\n");
  project.write("staged.txt", "staged\n");
  project.git("add", "staged.txt");
  project.write("untracked.txt", "untracked\n");
  try {
    return await use(project);
  } finally {
    for (const { pid } of processesOf(project)) kill(pid);
    project.remove();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was deleted in between.
  }
}

/** Everything in the project that is the user's. */
export function filesOf(project: IsolatedProject): Files {
  const found: Files = {};
  const look = (directory: string) => {
    for (const entry of readdirSync(join(project.path, directory))) {
      const path = directory === "" ? entry : `${directory}/${entry}`;
      if ([".git", ".gemini", ".bin", ".home"].includes(path)) continue;
      const full = join(project.path, path);
      const stat = lstatSync(full);
      if (stat.isSymbolicLink()) found[path] = `> ${readlinkSync(full)}`;
      else if (stat.isDirectory()) {
        found[path] = "d";
        look(path);
      } else found[path] = `${stat.mode & 0o100 ? "x" : "-"} ${readFileSync(full, "utf8")}`;
    }
  };
  look("");
  return found;
}

export const below = (files: Files, name: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => path.startsWith(`${name}/`)));
export const untouched = (name: string): Files => ({
  ...Object.fromEntries(Object.entries(before(name)).map(([path, content]) => [path, `- ${content}`])),
  [`${name}/old`]: "d",
});

/** For each phase, whether all of its change is in the project; fails when only a part is. */
export function expectWhole(project: IsolatedProject, phases: PhaseSpec[], what: string): string[] {
  const files = filesOf(project);
  return names(phases).filter((name) => {
    const isIn = files[`${name}/made.txt`] !== undefined;
    expect(below(files, name), `${what}: phase ${name}`).toEqual(isIn ? changed(name) : untouched(name));
    return isIn;
  });
}

/** Every file is old or new; any other file has a name that Maestro gives. */
export function expectNothingTorn(project: IsolatedProject, phases: PhaseSpec[], what: string): void {
  const files = filesOf(project);
  for (const [path, content] of Object.entries(files)) {
    if (content === "d" || /(^|\/)\.maestro-[^/]*\.tmp$/.test(path)) continue;
    const name = path.split("/")[0] ?? "";
    if (!names(phases).includes(name)) continue;
    expect([untouched(name)[path], changed(name)[path]], `${what}: ${path}`).toContain(content);
  }
  for (const name of names(phases)) {
    for (const path of ["text.txt", "run.sh"]) expect(files[`${name}/${path}`], `${what}: ${path}`).toBeDefined();
    const moved = files[`${name}/before.txt`] ?? files[`${name}/after.txt`];
    expect(moved, `${what}: the moved file is there under one name at least`).toBeDefined();
  }
}

export function hasOpenAttempt(project: IsolatedProject): boolean {
  const count = (type: string) => journalOf(project).filter((record) => record.type === type).length;
  return count("attempt.started") > count("attempt.finished");
}

/** Nothing of a run is left, in the project, in its repository or in the cache; and nothing of the user's was touched. */
export async function expectClean(
  project: IsolatedProject,
  belongings: Record<string, string>,
  what: string,
): Promise<void> {
  await allGone(project);
  expect(project.belongings(), what).toEqual(belongings);
  const litter = project.run("find", [
    ".",
    "-name",
    ".maestro-*",
    "-o",
    "-name",
    "integration.json",
    "-o",
    "-name",
    "*.lock",
  ]);
  expect(litter.stdout, what).toBe("");
  expect(project.git("worktree", "list").split("\n"), what).toHaveLength(1);
  expect(existsSync(join(project.path, ".git/worktrees")), what).toBe(false);
  const places = readdirSync(join(project.cache, "maestro"));
  expect(places, what).toHaveLength(1);
  expect(readdirSync(join(project.cache, "maestro", places[0] ?? "")), what).toEqual(["git"]);
  expect(project.run("find", [project.cache, "-name", "*.tmp", "-o", "-name", "*.lock"]).stdout, what).toBe("");
  const fsck = project.run("git", ["fsck", "--full", "--dangling", "--no-reflogs"]);
  expect([fsck.code, fsck.stdout], what).toEqual([0, ""]);
}

export const startsOf = (project: IsolatedProject, phase: string) =>
  project.agents.notes("start").filter((note) => note.phase === phase).length;

/** How often the agents of finished phases were started: completed phases, or phases with a result in their files. */
export function startsOfFinished(project: IsolatedProject): Map<string, number> {
  const completed = recordsOf(project).flatMap((record) =>
    record.type === "phase.moved" && record.to === "completed" ? [String(record.phase)] : [],
  );
  const written = project.agents.notes("start").flatMap(({ phase, attempt }) => {
    const file = `.gemini/parallel/2026-02-14-task-api/results/coder.p${phase}-${attempt}.exit`;
    return project.exists(file) && project.read(file) === "0\n" ? [phase] : [];
  });
  return new Map([...new Set([...completed, ...written])].map((phase) => [phase, startsOf(project, phase)]));
}

interface PhaseJson {
  id: string;
  status: string;
  retry_count: number;
  files_created: string[];
  files_modified: string[];
  files_deleted: string[];
}

/** The facts about the phases that do not depend on when they ran. */
export function sessionOf(project: IsolatedProject) {
  const { status: session, phases } = status(project) as { status: string; phases: PhaseJson[] };
  return {
    status: session,
    phases: phases.map(({ id, status: state, retry_count, files_created, files_modified, files_deleted }) => ({
      id,
      state,
      retry_count,
      created: files_created.toSorted(),
      modified: files_modified.toSorted(),
      deleted: files_deleted.toSorted(),
    })),
  };
}

interface Undisturbed {
  files: Files;
  session: ReturnType<typeof sessionOf>;
}

const runs = new Map<PhaseSpec[], Promise<Undisturbed>>();

/** The result of a run of the phases in which nothing is killed. */
export function undisturbed(phases: PhaseSpec[]): Promise<Undisturbed> {
  const known = runs.get(phases);
  if (known !== undefined) return known;
  const run = within(phases, async (project) => {
    const belongings = project.belongings();
    const { code, stderr } = await maestro(project, running, project.agents.env());
    expect(code, stderr).toBe(0);
    expect(recordsOf(project).filter(({ type }) => type === "phase.error_added")).toEqual([]);
    expect(expectWhole(project, phases, "undisturbed")).toEqual(names(phases));
    await expectClean(project, belongings, "undisturbed");
    return { files: filesOf(project), session: sessionOf(project) };
  });
  runs.set(phases, run);
  return run;
}

export const killing = (at: string) => ({ NODE_ENV: "test", MAESTRO_CRASH_AT: at });

/** The command that continues: a crash may have been too early for a session. */
export const nextWords = (project: IsolatedProject) =>
  recordsOf(project).some(({ type }) => type === "session.created") ? resuming : running;

/** The complete lines of the journal: half of a record may follow the last line break. */
function recordsOf(project: IsolatedProject): Record<string, unknown>[] {
  const path = ".gemini/state/progress.jsonl";
  const lines = project.exists(path) ? project.read(path).split("\n").slice(0, -1) : [];
  return lines.map((line) => JSON.parse(line));
}

/** Resumes after a kill, and checks that the result is the same as without one. */
export async function expectRecovery(
  project: IsolatedProject,
  phases: PhaseSpec[],
  belongings: Record<string, string>,
  what: string,
): Promise<void> {
  const expected = await undisturbed(phases);
  const finished = startsOfFinished(project);
  const run = await commandLine(project, nextWords(project), { env: project.agents.env() });
  expect(run.code, `${what}: ${run.stdout}${run.stderr}`).toBe(0);
  expect(filesOf(project), what).toEqual(expected.files);
  expect(sessionOf(project), what).toEqual(expected.session);
  for (const [phase, starts] of finished) {
    expect(startsOf(project, phase), `${what}: phase ${phase} was done and is not started again`).toBe(starts);
  }
  for (const phase of names(phases)) expect(startsOf(project, phase), what).toBeLessThanOrEqual(2);
  await expectClean(project, belongings, what);
}

/** One round: kill, check that no change is torn, resume. False when the engine was not killed. */
export function killedAt(phases: PhaseSpec[], at: string): Promise<boolean> {
  return within(phases, async (project) => {
    const belongings = project.belongings();
    const run = await maestro(project, running, project.agents.env(killing(at)));
    if (run.signal !== "SIGKILL") {
      expect(run.code, `${at}: ${run.stderr}`).toBe(0);
      return false;
    }
    expectNothingTorn(project, phases, at);
    await expectRecovery(project, phases, belongings, `killed at ${at}`);
    return true;
  });
}

/** Runs `work` for every item, a few at a time: a good part of a round is waiting. All of them, also when one fails. */
export async function eachOf<T>(items: Iterable<T>, work: (item: T) => Promise<void>, atOnce = 3): Promise<void> {
  const queue = [...items];
  const failures: unknown[] = [];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failures.length > 1) throw new AggregateError(failures, failures.map((error) => String(error)).join("\n"));
  if (failures.length > 0) throw failures[0];
}

/** For n = stride, 2 * stride, ... until a run ends by itself; returns how often it was killed. Two at a time: more would run past the end. */
export async function untilItEnds(stride: number, round: (n: number) => Promise<boolean>): Promise<number> {
  let killed = 0;
  let hasEnded = false;
  const points = Array.from({ length: 2000 }, (_, at) => (at + 1) * stride);
  await eachOf(
    points,
    async (n) => {
      if (hasEnded) return;
      if (await round(n)) killed += 1;
      else hasEnded = true;
    },
    2,
  );
  expect(hasEnded, "the loop ends").toBe(true);
  return killed;
}

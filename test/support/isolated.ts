// A project that is a git repository, with agents that edit its files, as a user has one: for runs in worktrees.

import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initRepository } from "./empty-repository.ts";
import { type Background, background, until, withRemoved } from "./processes.ts";
import { type PhaseSpec, Project, planPath, planText, type Run } from "./project.ts";
import { StandIn, type Start, type Steps, scripted } from "./stand-in.ts";

export interface JournalEvent {
  seq: number;
  type: string;
  phase?: string;
  [key: string]: unknown;
}

/** What the stand-in notes of the steps that are about files and tools. */
export interface Note extends Start {
  cwd: string;
  stdout: string;
  answer: Record<string, unknown>;
}

export class IsolatedProject extends Project {
  /** Where worktrees go. */
  readonly cache = realpathSync(mkdtempSync(join(tmpdir(), "maestro-test-cache-")));
  readonly agents: StandIn;

  /** Committed with `files`; the plan is not. */
  constructor(files: Record<string, string>, phases: PhaseSpec[]) {
    super();
    this.agents = new StandIn(this);
    initRepository(this.path);
    this.write(".git/info/exclude", ".bin\n.home\n.gemini\n");
    for (const [path, content] of Object.entries(files)) this.write(path, content);
    this.git("add", "-A");
    this.git("commit", "-q", "--allow-empty", "-m", "begin");
    this.plan(phases);
  }

  plan(phases: PhaseSpec[]): void {
    this.write(planPath, planText(phases));
  }

  git(...args: string[]): string {
    const { code, stdout, stderr } = this.run("git", args);
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.trimEnd();
  }

  override environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
    return super.environment({ XDG_CACHE_HOME: this.cache, GIT_CONFIG_NOSYSTEM: "1", ...extra });
  }

  /** `maestro run` in parallel mode, with the session left open. */
  runPlan(...options: string[]): Run {
    return this.maestro(["run", planPath, "--keep-open", ...options], { env: this.agents.env() });
  }

  /** As `runPlan`, without waiting for it: `ended` of the answer does. */
  begin(...options: string[]): Background {
    return this.beginWith({}, ...options);
  }

  beginWith(env: Record<string, string>, ...options: string[]): Background {
    return background(this, ["run", planPath, "--keep-open", "--grace", "500ms", ...options], this.agents.env(env));
  }

  /** Lets the agents that wait for it continue. */
  signal(name: string): void {
    this.write(`.bin/${name}`, "");
  }

  notes(event: string): Note[] {
    return this.agents.notes(event) as Note[];
  }

  resume(...options: string[]): Run {
    return this.maestro(["resume", "--keep-open", ...options], { env: this.agents.env() });
  }

  events(type?: string): JournalEvent[] {
    const path = ".gemini/state/progress.jsonl";
    if (!this.exists(path)) return [];
    const all: JournalEvent[] = this.read(path)
      .split("\n")
      // An incomplete line may follow the last line break.
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    return type === undefined ? all : all.filter((event) => event.type === type);
  }

  eventsOf(phase: string, type: string): JournalEvent[] {
    return this.events(type).filter((event) => event.phase === phase);
  }

  /** The errors of a phase, as one text. */
  errorsOf(phase: string): string {
    return JSON.stringify(this.eventsOf(phase, "phase.error_added"));
  }

  /** The worktrees that are left in the cache. */
  worktrees(): string[] {
    const root = join(this.cache, "maestro");
    if (!existsSync(root)) return [];
    return readdirSync(root).flatMap((place) =>
      readdirSync(join(root, place)).filter((name) => name !== "git" && !name.startsWith(".")),
    );
  }

  /** Reports damage that the files do not show: damaged objects, registrations of worktrees. */
  health(): { worktrees: number; damage: string } {
    const worktrees = this.git("worktree", "list", "--porcelain").match(/^worktree /gm)?.length ?? 0;
    return { worktrees, damage: this.git("fsck", "--no-dangling", "--no-progress") };
  }

  /** Objects in the repository that nothing refers to, and how many of all objects `refs/maestro` alone keeps. */
  objects(): { dangling: string; loose: number; kept: number } {
    const loose = Number(/^count: (\d+)/m.exec(this.git("count-objects", "-v"))?.[1]);
    const listed = this.git("rev-list", "--objects", "--glob=refs/maestro/*", "--not", "--branches", "HEAD");
    const dangling = this.git("fsck", "--dangling", "--no-reflogs", "--no-progress");
    return { dangling, loose, kept: listed.split("\n").filter(Boolean).length };
  }

  refs(): string[] {
    return this.git("for-each-ref", "--format=%(refname)", "refs/maestro").split("\n").filter(Boolean);
  }

  /** Everything in the repository that only the user may change. */
  belongings(): Record<string, string> {
    const index = readFileSync(join(this.path, ".git/index")).toString("base64");
    const reflog = this.exists(".git/logs/HEAD") ? this.read(".git/logs/HEAD") : "";
    const branches = this.git("for-each-ref", "refs/heads", "refs/stash", "refs/tags");
    return { index, reflog, branches, head: this.read(".git/HEAD"), config: this.read(".git/config") };
  }

  override remove(): void {
    super.remove();
    rmSync(this.cache, { recursive: true, force: true });
  }
}

/** A phase whose agent owns `files`, takes the steps in every attempt, and reports all of the files as modified. */
export function agent(id: string, files: string[], ...steps: Steps): PhaseSpec {
  return scripted(id, { "*": [...steps, reporting(files)] }, { files_modified: files });
}

/** The same with other steps in the first attempt, which may run forever. */
export function again(id: string, files: string[], first: Steps, ...others: Steps): PhaseSpec {
  const script = { 1: [...first, reporting(files)], "*": [...others, reporting(files)] };
  return scripted(id, script, { files_modified: files });
}

function reporting(files: string[]): Steps[number] {
  return ["report", { modified: files.join(", ") || "none" }];
}

/** A phase that never ends. While it runs, every other attempt gets a worktree, the last one too. */
export const bystander = agent("bystander", []);
/** `--phases` with all phases but that one. */
export const only = (...ids: string[]) => ["--phases", ids.join(",")];

/** Runs `use` in such a project, which is removed afterwards, with whatever still runs in it. */
export function withIsolated<T>(
  files: Record<string, string>,
  phases: PhaseSpec[],
  use: (project: IsolatedProject) => T | Promise<T>,
): Promise<T> {
  return withRemoved(new IsolatedProject(files, phases), use);
}

/** A text of `count` lines, each of which says its number. */
export const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");

/** Waits until `count` agents have reached their step `ready`. */
export const started = (project: IsolatedProject, count: number) =>
  until("the agents are at work", () => project.notes("shell").length >= count);

/** A step that tells the test that the steps before it are done. */
export const ready: Steps[number] = ["shell", "true"];

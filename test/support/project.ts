// A throw-away project and the built command, as a user has them.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const maestroPath = join(root, "dist", "maestro.js");
export const programPath = (name: string) => join(root, "node_modules", ".cache", "maestro-test", `${name}.cjs`);

export interface Run {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
}

export class Project {
  readonly path: string;

  constructor() {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), "maestro-test-")));
  }

  /** Runs `maestro ...args` in the project. */
  maestro(args: string[], options: RunOptions = {}): Run {
    return this.run(process.execPath, [maestroPath, ...args], options);
  }

  script(name: string, args: string[] = [], options: RunOptions = {}): Run {
    return this.run(join(root, "scripts", name), args, options);
  }

  run(command: string, args: string[], options: RunOptions = {}): Run {
    const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
      cwd: options.cwd ?? this.path,
      env: this.environment(options.env),
      input: options.input ?? "",
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
    });
    if (error) throw error;
    return { code: status, signal, stdout, stderr };
  }

  start(command: string, args: string[], env: Record<string, string> = {}) {
    return spawn(command, args, { cwd: this.path, env: this.environment(env), stdio: ["pipe", "pipe", "pipe"] });
  }

  /** HOME is the project's own, so that no real extension settings are read. */
  environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(MAESTRO_|VITEST|NODE_ENV|NODE_EXTRA|CI$)/.test(name),
    );
    return { ...Object.fromEntries(inherited), HOME: join(this.path, ".home"), NO_COLOR: "1", ...extra };
  }

  write(path: string, content: string | Uint8Array): string {
    const full = join(this.path, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), "utf8");
  }

  exists(path: string): boolean {
    return statSync(join(this.path, path), { throwIfNoEntry: false }) !== undefined;
  }

  list(path = "."): string[] {
    return readdirSync(join(this.path, path)).sort();
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Runs `use` in a project that is removed afterwards. */
export async function withProject<T>(use: (project: Project) => T | Promise<T>): Promise<T> {
  const project = new Project();
  try {
    return await use(project);
  } finally {
    project.remove();
  }
}

export interface PhaseSpec {
  id: string | number;
  agent?: string;
  runtime?: string;
  model?: string;
  blocked_by?: (string | number)[];
  files_created?: string[];
  files_modified?: string[];
  files_deleted?: string[];
  description?: string;
  parallel?: boolean;
  validation?: (string | { run: string; expect?: string })[];
  requirements?: string[];
  budget?: string;
  needs?: string[];
  estimate?: { minutes?: number; input_tokens?: number; output_tokens?: number };
}

/** A plan file with the given phases; JSON is YAML. */
export function planText(phases: PhaseSpec[], title = "Task API", head: Record<string, unknown> = {}): string {
  const full = phases.map((phase) => ({
    title: `Phase ${phase.id}`,
    agent: "coder",
    description: `Work on ${phase.id}.`,
    validation_criteria: ["it works"],
    ...phase,
  }));
  return `---\n${JSON.stringify({ title, ...head, phases: full }, null, 1)}\n---\n\n# ${title}\n`;
}

export const planPath = ".gemini/plans/2026-02-14-task-api-impl-plan.md";

/**
 * Makes a session of `phases` in the project. Where nothing lies yet it is a copy of one that was made before, in this run of the tests: that
 * takes a tenth of the time.
 */
export function createSession(
  project: Project,
  phases: PhaseSpec[] = [{ id: 1 }, { id: 2, blocked_by: [1] }],
  mode: "sequential" | "parallel" | "ask" = "ask",
): void {
  const plan = planText(phases);
  if (project.list().length > 0) {
    makeSession(project, plan, mode);
    return;
  }
  copySession(project.path, plan, mode);
}

/** What `maestro session create` of such a plan makes of an empty project. */
export function copySession(into: string, plan: string, mode = "ask"): void {
  const name = createHash("sha256").update(`${mode} ${plan}`).digest("hex");
  const template = join(process.env.VITEST_TEMPLATES ?? "", name);
  if (!existsSync(template)) makeTemplate(template, plan, mode);
  cpSync(template, into, { recursive: true });
}

function makeTemplate(path: string, plan: string, mode: string): void {
  const draft = new Project();
  makeSession(draft, plan, mode);
  try {
    renameSync(draft.path, path);
  } catch (error) {
    // Another worker was quicker.
    draft.remove();
    if (!existsSync(path)) throw error;
  }
}

function makeSession(project: Project, plan: string, mode: string): void {
  project.write(planPath, plan);
  const run = project.maestro(["session", "create", planPath], { env: { MAESTRO_EXECUTION_MODE: mode } });
  if (run.code !== 0) throw new Error(run.stderr);
}

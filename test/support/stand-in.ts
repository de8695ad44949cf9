// Puts the stand-in for `gemini` on the PATH of a project, and reads what it noted.

import { chmodSync, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type PhaseSpec, type Project, planPath, planText, programPath } from "./project.ts";

export interface Start {
  at: number;
  event: string;
  phase: string;
  attempt: number;
  agent: string;
  pid: number;
  argv: string[];
  /** The variables that it was started with. */
  names: string[];
  values: Record<string, string>;
  prompt: string;
  /** Of a command it ran. */
  code: number;
  stderr: string;
}

export class StandIn {
  readonly #project: Project;

  constructor(project: Project) {
    this.#project = project;
    const launcher = `#!/bin/sh\nexec '${process.execPath}' '${programPath("stand-in")}' '${this.journal}' "$@"\n`;
    chmodSync(project.write(".bin/gemini", launcher), 0o755);
  }

  get journal(): string {
    return join(this.#project.path, ".bin", "starts.jsonl");
  }

  /** The environment of a `maestro` that finds the stand-in, and does not wait without need. */
  env(extra: Record<string, string> = {}): Record<string, string> {
    const PATH = [join(this.#project.path, ".bin"), process.env.PATH].join(delimiter);
    return { PATH, MAESTRO_STAGGER_DELAY: "0", MAESTRO_EXECUTION_MODE: "parallel", ...extra };
  }

  /** Everything noted, in order; or only one kind of it. */
  notes(event?: string): Start[] {
    if (!existsSync(this.journal)) return [];
    // An incomplete note may follow the last line break.
    const lines = readFileSync(this.journal, "utf8").split("\n").slice(0, -1);
    const all: Start[] = lines.map((line) => JSON.parse(line));
    return event === undefined ? all : all.filter((note) => note.event === event);
  }
}

/** A project with a plan of `phases` and the stand-in that runs it. */
export function prepare(project: Project, phases: PhaseSpec[]): StandIn {
  project.write(planPath, planText(phases));
  return new StandIn(project);
}

export type Steps = [name: string, argument?: unknown][];

/** A phase whose agent does what `script` has for the number of its attempt, or for "*". */
export function scripted(id: string | number, script: Record<string, Steps>, over: Partial<PhaseSpec> = {}): PhaseSpec {
  return { id, description: `Work on ${id}.\nPLAY ${JSON.stringify(script)}`, ...over };
}

/** A phase whose agent does `first` in its first attempt and `others` in any other. */
export function played(
  id: string | number,
  first: Steps,
  over: Partial<PhaseSpec> = {},
  others: Steps = [],
): PhaseSpec {
  return scripted(id, { 1: first, "*": others }, over);
}

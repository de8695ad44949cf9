// The type of a verb: plain data from which program.ts builds a command and its help.

import type { Io } from "./io.ts";

export interface Verb {
  /** Name and arguments: "diff <phase>". */
  usage: string;
  summary: string;
  options?: readonly VerbOption[];
  examples: readonly string[];
  /** What wrong usage exits with, if the usual code has another meaning here. */
  usageCode?: number;
  /** Only the user may decide: an agent that works on a phase may not run this verb. */
  isDecision?: true | ((options: Record<string, unknown>) => boolean);
  /** Imports the verb's code lazily, so that other verbs do not load it. `all`: every verb. */
  run?: (all: () => readonly Verb[]) => Promise<Run>;
  /** The subcommands, such as `session create`. */
  verbs?: readonly Verb[];
}

export interface VerbOption {
  /** In commander's syntax: "-f, --follow", "--attempt <n>". */
  flags: string;
  meaning: string;
  choices?: readonly string[];
  default?: string;
  isRepeatable?: true;
  isHidden?: true;
}

/** Takes the arguments and options that the usage names, and returns the exit code. */
// biome-ignore lint/suspicious/noExplicitAny: each verb declares the arguments of its own usage, which commander has checked.
export type Run = (io: Io, ...args: any[]) => number | Promise<number>;

/** The full name of every verb: "run", "session", "session create". */
export function verbNames(verbs: readonly Verb[]): string[] {
  return verbs.flatMap((verb) => {
    const name = verbName(verb);
    return [name, ...verbNames(verb.verbs ?? []).map((below) => `${name} ${below}`)];
  });
}

export function verbName({ usage }: Verb): string {
  return usage.split(" ", 1)[0] as string;
}

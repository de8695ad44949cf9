// What a verb of `maestro` is: plain data, from which program.ts makes a command and its help.

import type { Io } from "./io.ts";

export interface Verb {
  /** Name and arguments: "diff <phase>". */
  usage: string;
  summary: string;
  options?: readonly VerbOption[];
  examples: readonly string[];
  /** Decisions belong to the user: an agent that works on a phase is refused. */
  isDecision?: true | ((options: Record<string, unknown>) => boolean);
  /** Imports the code of the verb, so that no other command has to load it. */
  run?: (verbNames: () => string[]) => Promise<Run>;
  /** The verbs below this one, such as `session create`. */
  verbs?: readonly Verb[];
}

export interface VerbOption {
  /** As commander reads them: "-f, --follow", "--attempt <n>". */
  flags: string;
  meaning: string;
  choices?: readonly string[];
  default?: string;
  isRepeatable?: true;
  isHidden?: true;
}

/** Takes the arguments and options that the usage names, and answers with the exit code. */
// biome-ignore lint/suspicious/noExplicitAny: each verb declares the arguments of its own usage, which commander has checked.
export type Run = (io: Io, ...args: any[]) => number | Promise<number>;

/** Every verb with its words: "run", "session", "session create". */
export function verbNames(verbs: readonly Verb[]): string[] {
  return verbs.flatMap((verb) => {
    const name = verbName(verb);
    return [name, ...verbNames(verb.verbs ?? []).map((below) => `${name} ${below}`)];
  });
}

export function verbName({ usage }: Verb): string {
  return usage.split(" ", 1)[0] as string;
}

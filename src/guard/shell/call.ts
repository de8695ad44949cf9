// One simple command as the rules see it: its words, as far as they are known, its input and its output.

import type { Machine } from "../machine.ts";
import { PRINTED } from "./shape.ts";

/** Where text comes from: the terminal, a file, the command line itself, or a program that computed it. */
export type Origin = "terminal" | "file" | "shell" | "program";

/** Text that flows into or out of a command. */
export interface Feed {
  /** A shape. */
  text: string;
  origin: Origin;
  isHeredoc?: boolean;
  /** Whether it was decoded from an encoding that hides the text. */
  isDecoded?: boolean;
}

export type Sink =
  | { kind: "terminal" | "captured" | "device" }
  /** `isState`: into the script that writes state files. */
  | { kind: "pipe"; isState?: boolean }
  /** A located shape. */
  | { kind: "file"; path: string };

export interface Call {
  /** The program's name without its directory. */
  name: string;
  args: readonly string[];
  /** Absolute, except for holes. */
  cwd: string;
  stdin: Feed;
  stdout: Sink;
  machine: Machine;
  /** The git branch that the same command line has checked out before. */
  branch: string | undefined;
  /** GIT_DIR or GIT_WORK_TREE is set, so git does not work in `cwd`. */
  isGitPointed?: boolean;
  /** The command line has changed TMPDIR. */
  isTmpMoved?: boolean;
  /** The content of a path such as /dev/stdin or /dev/fd/1000; undefined for a file. */
  feedOf: (path: string) => Feed | undefined;
}

/** A command inside a command: `env X=1 make`, `bash -c '...'`. */
export interface Inner {
  /** A command as words, or code to parse. */
  argv?: readonly string[];
  code?: string;
  /** `$0` and `$1`, `$2`... of the code. */
  zero?: string;
  positional?: readonly string[];
  cwd?: string;
  variables?: readonly (readonly [name: string, value: string])[];
  stdin?: Feed;
  stdout?: Sink;
  /** The code may not be shell code, so a parse error is not a fault. */
  isGuess?: boolean;
}

/** Commands that print nothing. */
export function isSilent(name: string): boolean {
  return name === ":" || name === "true" || name === "false";
}

export const nothing: Feed = { text: "", origin: "terminal" };
export const computed: Feed = { text: PRINTED, origin: "program" };

export function fromShell(text: string): Feed {
  return { text, origin: "shell" };
}

/** Quotes text as one word, for code that is parsed again. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

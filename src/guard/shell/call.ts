// One simple command as the rules see it: words resolved as far as they can be known, and where its input and output lead.

import type { Machine } from "../machine.ts";
import { PRINTED } from "./shape.ts";

/** Where text comes from: nobody, a file, the command line itself, or a program that computed it. */
export type Origin = "terminal" | "file" | "shell" | "program";

/** What flows into a command or out of it. */
export interface Feed {
  /** A shape. */
  text: string;
  origin: Origin;
  isHeredoc?: boolean;
  /** It was unpacked from an encoding that hides what it says. */
  isDecoded?: boolean;
}

export type Sink =
  | { kind: "terminal" | "captured" | "device" }
  /** `isState`: into the script that writes state files. */
  | { kind: "pipe"; isState?: boolean }
  /** A shape, located. */
  | { kind: "file"; path: string };

export interface Call {
  /** The program's name without its directory. */
  name: string;
  args: readonly string[];
  /** Absolute, but for the holes in it. */
  cwd: string;
  stdin: Feed;
  stdout: Sink;
  machine: Machine;
  /** The git branch that the same command line has chosen before. */
  branch: string | undefined;
  /** GIT_DIR or GIT_WORK_TREE is set: git works elsewhere than in `cwd`. */
  isGitPointed?: boolean;
  /** What a path such as /dev/stdin or /dev/fd/1000 gives; undefined for a file. */
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
  /** It may be no shell code at all: what cannot be parsed is no fault. */
  isGuess?: boolean;
}

/** They print nothing. */
export function isSilent(name: string): boolean {
  return name === ":" || name === "true" || name === "false";
}

export const nothing: Feed = { text: "", origin: "terminal" };
export const computed: Feed = { text: PRINTED, origin: "program" };

export function fromShell(text: string): Feed {
  return { text, origin: "shell" };
}

/** One word for code that is parsed again. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

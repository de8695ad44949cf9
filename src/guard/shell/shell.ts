// The state of a shell, as far as it is known without running it: variables, functions, directory, open files.
// A fork reads its parent's state and never changes it.

import type { Function as FunctionNode } from "unbash";
import type { Machine } from "../machine.ts";
import { locate, normal } from "../paths.ts";
import { idsOf } from "../programs/processes.ts";
import { type Feed, nothing, type Sink } from "./call.ts";
import type { Links } from "./links.ts";
import { FILLED, PRINTED, UNKNOWN } from "./shape.ts";

const MAX_CHOICES = 8;
const MAX_TEXT = 65_536;

/** Different branches may leave different values, so a command is judged once per choice. */
interface Variable {
  choices: readonly string[];
  list?: readonly string[];
}

/** State that all shells of one judgement share. */
export interface Shared {
  /** The index of the current choice, and the number of choices. */
  pick: number;
  widest: number;
  /** Work spent on patterns, which is limited. */
  work: number;
  /** The branch that a `git checkout` of the same command line chose. */
  branch?: string;
  readonly links: Links;
}

/** Contains a blank, so it cannot collide with a variable name. */
const CWD = " cwd";

export class Shell {
  readonly machine: Machine;
  readonly shared: Shared;
  readonly #parent: Shell | undefined;
  readonly #variables = new Map<string, Variable>();
  readonly #functions = new Map<string, FunctionNode["body"]>();
  readonly #aliases = new Map<string, string>();
  zero: string;
  positional: readonly string[];
  stdin: Feed;
  sinks: ReadonlyMap<number, Sink>;

  constructor(machine: Machine, shared: Shared, parent?: Shell) {
    this.machine = machine;
    this.shared = shared;
    this.#parent = parent;
    this.zero = parent?.zero ?? "bash";
    this.positional = parent?.positional ?? [];
    this.stdin = parent?.stdin ?? nothing;
    this.sinks = parent?.sinks ?? new Map();
    if (parent === undefined) this.assign(CWD, normal(machine.cwd ?? machine.projectRoot));
  }

  fork(): Shell {
    return new Shell(this.machine, this.shared, this);
  }

  /** Merges the state of branches of which one runs; unless they are exhaustive, possibly none. */
  merge(branches: readonly Shell[], isExhaustive: boolean): void {
    const names = new Set(branches.flatMap((branch) => [...branch.#variables.keys()]));
    for (const name of names) {
      const values = branches.map((branch) => branch.#variables.get(name) ?? this.#find(name));
      if (!isExhaustive) values.push(this.#find(name));
      const choices = [...new Set(values.flatMap((value) => value?.choices ?? [this.#given(name)]))];
      const list = values.find((value) => value?.list !== undefined)?.list;
      this.#variables.set(name, { choices: choices.slice(0, MAX_CHOICES), ...(list === undefined ? {} : { list }) });
    }
    for (const branch of branches) {
      for (const [name, body] of branch.#functions) this.#functions.set(name, body);
      for (const [name, code] of branch.#aliases) this.#aliases.set(name, code);
      if (branch.sinks !== this.sinks) this.sinks = branch.sinks;
    }
  }

  /** With several texts, the value may be any of them. */
  assign(name: string, ...texts: readonly string[]): void {
    const choices = texts
      .slice(0, MAX_CHOICES)
      .map((text) => (text.length > MAX_TEXT ? UNKNOWN : text.replaceAll(PRINTED, UNKNOWN)));
    this.#variables.set(name, { choices });
  }

  assignList(name: string, items: readonly string[]): void {
    this.#variables.set(name, { choices: [items[0] ?? ""], list: items.slice(0, 1024) });
  }

  /** The value of the variable, or what is known about the environment. */
  read(name: string): string {
    const variable = this.#find(name);
    if (variable === undefined) return this.#given(name);
    const { choices } = variable;
    this.shared.widest = Math.max(this.shared.widest, choices.length);
    return choices[Math.min(this.shared.pick, choices.length - 1)] as string;
  }

  readList(name: string): readonly string[] {
    return this.#find(name)?.list ?? [this.read(name)];
  }

  isAssigned(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  get cwd(): string {
    return this.read(CWD);
  }

  /** `cd`. */
  enter(path: string): void {
    this.assign("OLDPWD", this.cwd);
    this.assign(CWD, locate(path, this.cwd));
  }

  get home(): string {
    return normal(this.machine.home || "/root");
  }

  get tmpdir(): string {
    return normal(this.machine.tmpdir || "/tmp");
  }

  sink(fd: number): Sink {
    return this.sinks.get(fd) ?? { kind: "terminal" };
  }

  define(name: string, body: FunctionNode["body"]): void {
    this.#functions.set(name, body);
  }

  functionOf(name: string): FunctionNode["body"] | undefined {
    return this.#functions.get(name) ?? this.#parent?.functionOf(name);
  }

  alias(name: string, code: string): void {
    this.#aliases.set(name, code);
  }

  aliasOf(name: string): string | undefined {
    return this.#aliases.get(name) ?? this.#parent?.aliasOf(name);
  }

  #find(name: string): Variable | undefined {
    return this.#variables.get(name) ?? (this.#parent === undefined ? undefined : this.#parent.#find(name));
  }

  #given(name: string): string {
    switch (name) {
      case "HOME":
        return this.home;
      case "PWD":
        return this.cwd;
      case "TMPDIR":
        return this.tmpdir;
      case "SHELL":
      case "BASH":
        return "/bin/bash";
      case "IFS":
        return " \t\n";
      case "PPID":
        return idsOf({ by: "parent", patterns: [] });
      case "PATH":
        return `/${FILLED}`;
      default:
        return setByTheShell.has(name) ? FILLED : UNKNOWN;
    }
  }
}

const setByTheShell = new Set(
  "USER LOGNAME HOSTNAME UID EUID RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME BASHPID BASH_VERSION LINENO OSTYPE MACHTYPE HOSTTYPE TERM LANG".split(
    " ",
  ),
);

// Simulates each simple command: expands its words and variables, applies the rules, updates the shell, and walks the commands inside it.

import type { Assignment, Command } from "unbash";
import { carriedBy, linkedBy } from "../programs/copied.ts";
import { branchChosen } from "../programs/git/git.ts";
import { guessedNames, programName } from "../programs/names.ts";
import { Options } from "../programs/options.ts";
import { innerOf } from "../programs/wrappers.ts";
import { refuseContent } from "../rules/content.ts";
import { innerOfCode, judgeCall } from "../rules/rules.ts";
import type { Denial } from "../verdict.ts";
import { aliasCode, LIST, runBuiltin } from "./builtins.ts";
import { type Call, computed, type Feed, type Inner, isSilent, nothing } from "./call.ts";
import { Grammar, type Node, type Streams } from "./grammar.ts";
import type { Links } from "./links.ts";
import { printedBy } from "./printed.ts";
import { isUnknown } from "./shape.ts";
import type { Shell } from "./shell.ts";
import { fieldsOf, textOf } from "./words.ts";

/** Words before a command may turn out to be empty; this many are skipped. */
const MAX_SKIPPED = 16;

function isSet(names: readonly string[], shell: Shell, variables: Variables): boolean {
  return names.some((name) => shell.isAssigned(name) || variables.some(([given]) => given === name));
}

type Variables = NonNullable<Inner["variables"]>;

export class Walk extends Grammar {
  #isChoosing = false;
  readonly #traps: { code: string; shell: Shell }[] = [];
  /** Functions and aliases that are being walked. */
  readonly #running = new Set<unknown>();

  judge(command: string): Denial | undefined {
    this.source(command, this.shell);
    for (const { code, shell } of this.#traps) this.nested(() => this.source(code, shell.fork()));
    return this.denial;
  }

  /** Judges the command once for each possible value of its variables. */
  protected override command(node: Command, shell: Shell): Feed {
    if (this.#isChoosing) return this.#once(node, shell);
    const { shared } = shell;
    this.#isChoosing = true;
    shared.widest = 1;
    let feed = computed;
    for (shared.pick = 0; shared.pick < shared.widest && this.denial === undefined; shared.pick++) {
      feed = this.#once(node, shell);
    }
    shared.pick = 0;
    this.#isChoosing = false;
    return feed;
  }

  #once(node: Command, shell: Shell): Feed {
    const argv = node.name === undefined ? [] : fieldsOf(node.name, shell, this);
    for (const arg of node.args) {
      this.step();
      if (this.denial !== undefined) return computed;
      if (arg.type === "Word") argv.push(...fieldsOf(arg, shell, this));
      else argv.push(this.#declared(arg, shell));
    }
    const redirected = this.redirected(node.redirects, shell);
    const assignments = node.prefix.filter((one) => one.type === "Assignment");
    if (argv.length > 0) {
      const variables = assignments.map((one) => [one.name, this.#valueOf(one, shell)] as const);
      return this.filling(argv[0] ?? "", redirected, shell, () => this.#invoke(argv, shell, redirected, variables));
    }
    this.step();
    for (const one of assignments) this.#assign(one, shell);
    const [file] = redirected.files;
    if (file !== undefined) this.deny(refuseContent(">", file, shell.machine));
    return nothing;
  }

  #valueOf({ value }: Assignment, shell: Shell): string {
    if (value.type === "Word") return textOf(value, shell, this);
    return value.elements.flatMap((word) => fieldsOf(word, shell, this)).join(" ");
  }

  #assign(one: Assignment, shell: Shell): void {
    const { name, value, append } = one;
    if (value.type === "ArrayValue") {
      const items = value.elements.flatMap((word) => fieldsOf(word, shell, this));
      shell.assignList(name, append ? [...shell.readList(name), ...items] : items);
      return;
    }
    const text = textOf(value, shell, this);
    if (one.index === undefined) {
      shell.assign(name, append ? shell.read(name) + text : text);
      return;
    }
    const list = shell.isAssigned(name) ? [...shell.readList(name)] : [];
    const index = Number(textOf(one.index, shell, this));
    list[index >= 0 && index < 64 ? index : list.length] = text;
    shell.assignList(
      name,
      Array.from(list, (item) => item ?? ""),
    );
  }

  /** `export X=y`: an assignment as an argument. */
  #declared(one: Assignment, shell: Shell): string {
    if (one.value.type === "Word") return `${one.name}${one.append ? "+" : ""}=${textOf(one.value, shell, this)}`;
    this.#assign(one, shell);
    return `${one.name}=${LIST}`;
  }

  #invoke(argv: readonly string[], shell: Shell, streams: Streams, variables: Variables = []): Feed {
    this.step();
    for (const word of argv) this.spend(word.length);
    if (this.denial !== undefined) return computed;
    const [word = "", ...args] = argv;
    const call = this.#callOf(word, args, shell, streams);
    if (call.name === "mktemp") call.isTmpMoved = isSet(["TMPDIR"], shell, variables);
    if (call.name.startsWith("git")) call.isGitPointed = isSet(["GIT_DIR", "GIT_WORK_TREE"], shell, variables);
    if (isUnknown(word)) {
      this.#suspect(call);
      this.printers++;
      // The word may be empty, which makes the next word the command.
      const next = args.slice(0, MAX_SKIPPED).findIndex((arg) => !isUnknown(arg));
      return next < 0 ? computed : this.#invoke(args.slice(next), shell, streams, variables);
    }
    for (const name of guessedNames(word)) {
      this.deny(judgeCall({ ...call, name }));
      for (const inner of innerOf({ ...call, name })) this.#inner(inner, shell.fork(), streams, variables);
    }
    const body = shell.functionOf(word);
    if (body !== undefined && !this.#running.has(body)) {
      for (const [name, value] of variables) shell.assign(name, value);
      return this.#function(body, args, shell, streams);
    }
    const alias = shell.aliasOf(word);
    if (alias !== undefined && !this.#running.has(alias)) {
      return this.#unlessRunning(alias, () =>
        this.within(streams, shell, () => this.source(aliasCode(alias, args), shell)),
      );
    }
    this.deny(judgeCall(call));
    return this.denial === undefined ? this.#effects(call, shell, streams, variables) : computed;
  }

  /** An unknown command with the arguments of a dangerous one. */
  #suspect(call: Call): void {
    const options = new Options(call.args);
    const isRemoval = options.has("r", "R", "--recursive") && options.has("f", "--force");
    if (isRemoval) this.deny(judgeCall({ ...call, name: "rm" }));
    this.deny(judgeCall({ ...call, name: "git" }));
  }

  #callOf(word: string, args: readonly string[], shell: Shell, { sinks, stdin }: Streams): Call {
    return {
      name: programName(word),
      args,
      cwd: shell.cwd,
      stdin,
      stdout: sinks.get(1) ?? { kind: "terminal" },
      machine: shell.machine,
      branch: shell.shared.branch,
      feedOf: (path) => this.feedOf(path, stdin),
    };
  }

  /** Updates the shell, walks the commands inside, and returns what the command prints. */
  #effects(call: Call, shell: Shell, streams: Streams, variables: Variables): Feed {
    const { now, later } = runBuiltin(call, shell);
    if (later !== undefined) this.#traps.push({ code: later, shell });
    if (now !== undefined) {
      for (const [name, value] of variables) shell.assign(name, value);
      return this.nested(() => this.within(streams, shell, () => this.source(now, shell)));
    }
    if (call.name === "exec" && call.args.length === 0) {
      shell.sinks = streams.sinks;
      shell.stdin = streams.stdin;
    }
    const branch = branchChosen(call);
    if (branch !== undefined) shell.shared.branch = branch;
    this.#link(call, shell.shared.links);
    const isHere = call.name === "command" || call.name === "builtin";
    let feed: Feed | undefined;
    const inside = innerOf(call);
    if (inside.length === 0 && !isSilent(call.name)) this.printers++;
    for (const inner of inside) feed = this.#inner(inner, isHere ? shell : shell.fork(), streams, variables);
    for (const inner of innerOfCode(call)) this.#inner(inner, shell.fork(), streams, variables);
    if (call.stdout.kind === "file" || call.stdout.kind === "device") return nothing;
    return feed !== undefined && call.name !== "find" && call.name !== "git" ? feed : printedBy(call);
  }

  #link(call: Call, links: Links): void {
    const isFollowed =
      linkedBy(call).every(([place, target]) => links.add(place, target)) &&
      carriedBy(call).every(([from, to]) => links.carry(from, to));
    if (!isFollowed) this.refuse("too-large", "This creates more links than can be followed. Use a script instead.");
  }

  #inner(inner: Inner, shell: Shell, streams: Streams, variables: Variables): Feed {
    for (const [name, value] of [...variables, ...(inner.variables ?? [])]) shell.assign(name, value);
    if (inner.cwd !== undefined && inner.cwd !== shell.cwd) shell.enter(inner.cwd);
    const sinks = inner.stdout === undefined ? streams.sinks : new Map([...streams.sinks, [1, inner.stdout]]);
    const within = { sinks, stdin: inner.stdin ?? streams.stdin };
    return this.nested(() => {
      if (inner.argv !== undefined) return inner.argv.length === 0 ? nothing : this.#invoke(inner.argv, shell, within);
      shell.zero = inner.zero ?? shell.zero;
      shell.positional = inner.positional ?? shell.positional;
      return this.within(within, shell, () => this.source(inner.code ?? "", shell, inner.isGuess === true));
    });
  }

  #function(body: Node, args: readonly string[], shell: Shell, streams: Streams): Feed {
    const before = shell.positional;
    shell.positional = args;
    const feed = this.#unlessRunning(body, () => this.within(streams, shell, () => this.node(body, shell)));
    shell.positional = before;
    return feed;
  }

  /** Walks recursive functions and aliases only once. */
  #unlessRunning(what: unknown, walk: () => Feed): Feed {
    this.#running.add(what);
    const feed = this.nested(walk);
    this.#running.delete(what);
    return feed;
  }
}

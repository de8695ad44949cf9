// Walks a parsed command line in the order in which a shell would run it: lists, pipelines, branches, loops, redirections, substitutions.
// `Walk` handles the simple commands. Stops at the first denial.

import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
} from "unbash";
import type { Machine } from "../machine.ts";
import { baseName } from "../paths.ts";
import { refuseContent } from "../rules/content.ts";
import { refuseDestination } from "../rules/sensitive.ts";
import { type Denial, deny, type Rule } from "../verdict.ts";
import { computed, type Feed, nothing, type Sink } from "./call.ts";
import { Links } from "./links.ts";
import { descriptorOf, type Redirected, redirect } from "./redirect.ts";
import { FILLED, isUnknown, STAR, UNKNOWN } from "./shape.ts";
import { Shell } from "./shell.ts";
import { fieldsOf, type Substitutions, textOf } from "./words.ts";

const MAX_DEPTH = 64;
const MAX_STEPS = 10_000;
const MAX_LETTERS = 2_000_000;
const MAX_ROUNDS = 256;
const MAX_OUTPUT = 65_536;
/** Descriptors of process substitutions start here. */
const FIRST_FEED = 1000;

export type Node = Statement["command"] | Extract<SyntaxNode, { type: "CompoundList" | "Function" | "Coproc" }>;
type Compound = Exclude<Node, { type: "Command" | "AndOr" | "Pipeline" | "Redirected" | "Function" }>;
export type Streams = Pick<Redirected, "sinks" | "stdin">;

export abstract class Grammar implements Substitutions {
  protected denial: Denial | undefined;
  /** The number of commands that may have printed something. */
  protected printers = 0;
  protected readonly shell: Shell;
  #depth = 0;
  #steps = 0;
  #letters = 0;
  #rounds = 1;
  readonly #feeds: Feed[] = [];

  constructor(machine: Machine) {
    const links = new Links();
    this.shell = new Shell(links.over(machine), { pick: 0, widest: 1, work: 0, links });
  }

  protected abstract command(node: Command, shell: Shell): Feed;

  refuse(rule: Rule, reason: string): void {
    this.deny(deny(rule, reason));
  }

  protected deny(denial: Denial | undefined): void {
    this.denial ??= denial;
  }

  spend(letters: number): void {
    this.#letters += letters;
    if (this.#letters > MAX_LETTERS) this.#tooMuch();
  }

  step(): void {
    if (++this.#steps > MAX_STEPS) this.#tooMuch();
  }

  #tooMuch(): void {
    this.refuse("too-large", "This command is too large to check. Split it into smaller commands.");
  }

  /** Parses and walks code. With `isGuess`, code that does not parse is not shell code and is ignored. */
  protected source(code: string, shell: Shell, isGuess = false): Feed {
    this.spend(code.length);
    if (this.denial !== undefined) return computed;
    const script = parse(code);
    return script.errors !== undefined && isGuess ? computed : this.#script(script, shell);
  }

  #script(script: ParsedScript, shell: Shell): Feed {
    const [error] = script.errors ?? [];
    if (error === undefined) return this.#statements(script.commands, shell);
    const rule = /nesting depth/.test(error.message) ? "too-deep" : "unparsable";
    this.refuse(
      rule,
      `This command cannot be checked: ${error.message}. Correct it, or split it into simple commands.`,
    );
    return computed;
  }

  protected nested(walk: () => Feed): Feed {
    this.step();
    if (this.#depth >= MAX_DEPTH) {
      this.refuse(
        "too-deep",
        `This command is nested more than ${MAX_DEPTH} levels deep. Split it into simple commands.`,
      );
    }
    if (this.denial !== undefined) return computed;
    this.#depth++;
    const feed = walk();
    this.#depth--;
    return feed;
  }

  #statements(statements: readonly Statement[], shell: Shell): Feed {
    const feeds: Feed[] = [];
    for (const { command } of statements) {
      if (this.denial !== undefined) return computed;
      feeds.push(this.node(command, shell));
    }
    return joined(feeds);
  }

  protected node(node: Node, shell: Shell): Feed {
    if (this.denial !== undefined) return computed;
    switch (node.type) {
      case "Command":
        return this.command(node, shell);
      case "AndOr": {
        const one = (part: Node, i: number) =>
          node.operators[i - 1] === "||" ? this.#branches([[part]], shell, false) : this.node(part, shell);
        return joined(node.commands.map(one));
      }
      case "Pipeline":
        return this.#pipeline(node.commands, shell);
      case "Redirected":
        return this.#redirected(node.command, this.redirected(node.redirects, shell), shell);
      case "Function":
        shell.define(node.name.value, node.body);
        return nothing;
      default:
        return this.nested(() => this.#compound(node, shell));
    }
  }

  #redirected(node: Node, streams: Streams, shell: Shell): Feed {
    const walk = () => this.within(streams, shell, () => this.node(node, shell));
    return node.type === "Function" ? walk() : this.filling(":", streams, shell, walk);
  }

  /** A redirection truncates its file when no command prints anything: `: > file`, `{ true; } > file`. */
  protected filling(name: string, { sinks }: Streams, shell: Shell, walk: () => Feed): Feed {
    const before = this.printers;
    const feed = walk();
    const sink = sinks.get(1);
    const isNewFile = sink?.kind === "file" && sink !== shell.sinks.get(1);
    if (isNewFile && this.printers === before) this.deny(refuseContent(name, sink.path, shell.machine));
    return feed;
  }

  #compound(node: Compound, shell: Shell): Feed {
    switch (node.type) {
      case "CompoundList":
        return this.#statements(node.commands, shell);
      case "BraceGroup":
        return this.#statements(node.body.commands, shell);
      case "Subshell":
        return this.#statements(node.body.commands, shell.fork());
      case "Coproc":
        return this.node(node.body, withSink(shell.fork(), { kind: "pipe" }));
      case "If": {
        const clause = this.node(node.clause, shell);
        const otherwise = node.elif.map((one) => [one.clause, one.then]);
        const last = node.else === undefined ? [] : [[node.else]];
        return joined([clause, this.#branches([[node.then], ...otherwise, ...last], shell, last.length > 0)]);
      }
      case "While":
        return joined([this.node(node.clause, shell), this.#branches([[node.body]], shell, false)]);
      case "Case": {
        textOf(node.word, shell, this);
        const patterns = node.items.flatMap((item) => item.pattern.map((word) => textOf(word, shell, this)));
        return this.#branches(
          node.items.map((item) => [item.body]),
          shell,
          patterns.includes(STAR),
        );
      }
      case "For":
      case "Select": {
        const items = node.wordlist?.flatMap((word) => fieldsOf(word, shell, this)) ?? shell.positional;
        return this.#loop(node.name.value, items, shell, () => this.node(node.body, shell));
      }
      case "ArithmeticFor":
        for (const part of [node.initialize, node.test, node.update]) if (part !== undefined) this.search(part, shell);
        return this.node(node.body, shell);
      default:
        this.search(node, shell);
        return nothing;
    }
  }

  /** Walks each branch on its own and merges what they may have changed. */
  #branches(branches: readonly (readonly Node[])[], shell: Shell, isExhaustive: boolean): Feed {
    const forks = branches.map(() => shell.fork());
    const feeds = branches.map((nodes, i) => joined(nodes.map((node) => this.node(node, forks[i] as Shell))));
    shell.merge(forks, isExhaustive);
    return joined(feeds);
  }

  /** Walks the body once per value, up to a limit; the remaining values are walked once as an unknown value. */
  #loop(name: string, items: readonly string[], shell: Shell, walk: () => Feed): Feed {
    const most = Math.max(1, Math.floor(MAX_ROUNDS / this.#rounds));
    const values = [...new Set(items.map((item) => (isUnknown(item) ? FILLED : item)))];
    const taken = values.length > most ? [...values.slice(0, most - 1), FILLED] : values;
    const before = this.#rounds;
    this.#rounds *= Math.max(1, taken.length);
    const feeds = taken.map((value) => {
      shell.assign(name, value);
      return walk();
    });
    this.#rounds = before;
    return joined(feeds);
  }

  #pipeline(commands: readonly Node[], shell: Shell): Feed {
    if (commands.length === 1) return this.node(commands[0] as Node, shell);
    let feed = shell.stdin;
    for (const [i, node] of commands.entries()) {
      const part = shell.fork();
      part.stdin = feed;
      const next = commands[i + 1];
      feed = this.node(node, next === undefined ? part : withSink(part, { kind: "pipe", isState: writesState(next) }));
    }
    return feed;
  }

  protected within({ sinks, stdin }: Streams, shell: Shell, walk: () => Feed): Feed {
    const before = { sinks: shell.sinks, stdin: shell.stdin };
    shell.sinks = sinks;
    shell.stdin = stdin;
    const feed = walk();
    shell.sinks = before.sinks;
    shell.stdin = before.stdin;
    return feed;
  }

  protected redirected(redirections: readonly Redirection[], shell: Shell): Redirected {
    if (redirections.length === 0) return { sinks: shell.sinks, stdin: shell.stdin, files: [] };
    const result = redirect(redirections, shell, this, (path) => this.feedOf(path, shell.stdin));
    const sinkPaths = [...result.sinks.values()].map((sink) => (sink.kind === "file" ? sink.path : ""));
    for (const path of result.files) {
      this.deny(refuseDestination(path, shell.machine));
      // A file that is opened and then not used is truncated: `> file >&2`.
      if (!sinkPaths.includes(path)) this.deny(refuseContent(">", path, shell.machine));
    }
    return result;
  }

  /** The content of /dev/stdin and of process substitutions. */
  protected feedOf(path: string, stdin: Feed): Feed | undefined {
    const descriptor = descriptorOf(path);
    if (descriptor === 0) return stdin;
    return descriptor === undefined ? undefined : this.#feeds[descriptor - FIRST_FEED];
  }

  capture(script: ParsedScript | undefined, shell: Shell): Feed {
    if (script === undefined) return computed;
    return this.nested(() => this.#script(script, withSink(shell.fork(), { kind: "captured" })));
  }

  attach(script: ParsedScript | undefined, operator: "<" | ">", shell: Shell): string {
    if (operator === "<") this.#feeds.push(this.capture(script, shell));
    else {
      this.#feeds.push(computed);
      const fork = shell.fork();
      fork.stdin = computed;
      if (script !== undefined) this.nested(() => this.#script(script, fork));
    }
    return `/dev/fd/${FIRST_FEED + this.#feeds.length - 1}`;
  }

  search(node: SyntaxNode, shell: Shell): void {
    if (node.type === "CommandExpansion" || node.type === "ArithmeticCommandExpansion") {
      this.capture(node.script, shell);
    } else if (node.type === "ProcessSubstitution") {
      this.attach(node.script, node.operator, shell);
    } else {
      this.nested(() => {
        forEachChild(node, (child) => this.search(child, shell));
        return nothing;
      });
    }
  }
}

function withSink(shell: Shell, sink: Sink): Shell {
  shell.sinks = new Map([...shell.sinks, [1, sink]]);
  return shell;
}

/** The command reads a state file from standard input: the script write-state.sh or `maestro state`. */
function writesState(node: Node): boolean {
  if (node.type !== "Command" || node.name === undefined) return false;
  const words = [node.name, ...node.args].slice(0, 3).map((word) => (word.type === "Word" ? word.value : ""));
  const isVerb = /^maestro/.test(baseName(words[0] ?? "")) && words[1] === "state";
  return isVerb || words.some((word) => baseName(word) === "write-state.sh");
}

function joined(feeds: readonly Feed[]): Feed {
  const [first] = feeds;
  if (feeds.length === 1 && first !== undefined) return first;
  const nonEmpty = feeds.filter((feed) => feed.text !== "");
  const origin = (["shell", "file", "program"] as const).find((one) => nonEmpty.some((feed) => feed.origin === one));
  const length = nonEmpty.reduce((sum, feed) => sum + feed.text.length, 0);
  return {
    text: length > MAX_OUTPUT ? UNKNOWN : nonEmpty.map((feed) => feed.text).join(""),
    origin: origin ?? "terminal",
    isDecoded: nonEmpty.some((feed) => feed.isDecoded === true),
  };
}

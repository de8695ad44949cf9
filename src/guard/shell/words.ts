// Expands a word of the command line to its fields: removes quotes, expands braces and variables, splits.

import { type HereDoc, type ParsedScript, parse, type Word, type WordPart } from "unbash";
import type { Rule } from "../verdict.ts";
import { expandBraces } from "./braces.ts";
import type { Feed } from "./call.ts";
import { expandParameter } from "./parameters.ts";
import { ANY, FILLED, STAR, UNKNOWN, withGlobs } from "./shape.ts";
import type { Shell } from "./shell.ts";

/** What the expansion of words needs from the walk. */
export interface Substitutions {
  /** Walks a command substitution and returns its output. */
  capture(script: ParsedScript | undefined, shell: Shell): Feed;
  /** Walks a process substitution and returns its path. */
  attach(script: ParsedScript | undefined, operator: "<" | ">", shell: Shell): string;
  /** Walks the commands inside an expression that is not evaluated. */
  search(node: WordPart, shell: Shell): void;
  /** Counts the characters that expansions produce: a short text can double itself repeatedly. */
  spend(letters: number): void;
  /** Counts the words. */
  step(): void;
  refuse(rule: Rule, reason: string): void;
}

/** No command line is longer. */
const MAX_FIELD = 262_144;

/** Words without quotes, expansions and patterns, which are the most common. */
const plain = /^[\w\-+.,:=@%/^]+$/;

export function fieldsOf(word: Word, shell: Shell, help: Substitutions): string[] {
  if (plain.test(word.text)) return [word.text];
  const { parts } = word;
  if (parts?.some((part) => part.type === "BraceExpansion")) return bracedFields(word, shell, help);
  const fields = new Fields(shell.read("IFS"));
  if (parts === undefined) fields.quoted(tilde(word.text, word.value, shell));
  else for (const [i, part] of parts.entries()) addPart(fields, part, shell, help, i === 0);
  return spent(fields.take(), help);
}

function spent(fields: string[], help: Substitutions): string[] {
  for (const field of fields) {
    help.spend(field.length);
    help.step();
  }
  return fields;
}

/** The word as one text, as in an assignment or after `>`: it is not split. */
export function textOf(word: Word | undefined, shell: Shell, help: Substitutions): string {
  if (word === undefined) return "";
  if (plain.test(word.text)) return word.text;
  const { parts } = word;
  if (parts === undefined) return tilde(word.text, word.value, shell);
  return textOfParts(parts, shell, help);
}

export function heredocText(document: HereDoc, shell: Shell, help: Substitutions): string {
  const { body, delimiter, operator } = document;
  const { parts } = body;
  const raw = operator === "<<-" ? body.text.replace(/^\t+/gm, "") : body.text;
  if (delimiter?.quoted === true || parts === undefined) return raw;
  const text = textOfParts(parts, shell, help);
  return operator === "<<-" ? text.replace(/^\t+/gm, "") : text;
}

function textOfParts(parts: readonly WordPart[], shell: Shell, help: Substitutions): string {
  const fields = new Fields("");
  for (const [i, part] of parts.entries()) addPart(fields, part, shell, help, i === 0);
  return spent(fields.take(), help).join(" ");
}

/** Bash expands braces in the raw text, before anything else. */
function bracedFields(word: Word, shell: Shell, help: Substitutions): string[] {
  const expanded = expandBraces(word.text);
  if ("fault" in expanded) {
    help.refuse(
      expanded.fault,
      "The braces of this command expand to too many words or nest too deeply. Write the words out.",
    );
    return [];
  }
  return expanded.words.flatMap((text) => {
    help.step();
    if (text === word.text) return [textOf(word, shell, help)];
    if (plain.test(text)) return [text];
    const [statement] = parse(`_ ${text}`).commands;
    const command = statement?.command;
    if (command?.type !== "Command") return [];
    // An empty choice produces no word.
    return command.args.flatMap((one) => (one.type === "Word" ? unbraced(one, shell, help) : []));
  });
}

function unbraced(word: Word, shell: Shell, help: Substitutions): string[] {
  const isBraced = word.parts?.some((part) => part.type === "BraceExpansion");
  return isBraced ? [textOf(word, shell, help)] : fieldsOf(word, shell, help);
}

function addPart(fields: Fields, part: WordPart, shell: Shell, help: Substitutions, isFirst: boolean): void {
  switch (part.type) {
    case "Literal":
      fields.quoted(isFirst ? tilde(part.text, part.value, shell) : part.value);
      break;
    case "SingleQuoted":
    case "AnsiCQuoted":
      fields.quoted(part.value);
      break;
    case "DoubleQuoted":
    case "LocaleString":
      // An empty "$@" produces no word.
      if (!/^"\$(?:@|\{@\})"$/.test(part.text)) fields.quoted("");
      for (const child of part.parts) addQuoted(fields, child, shell, help);
      break;
    case "Glob":
      fields.quoted(part.kind === "star" ? STAR : ANY);
      break;
    case "ExtendedGlob":
      fields.quoted(STAR);
      break;
    case "BraceExpansion":
      fields.quoted(part.text);
      break;
    case "ProcessSubstitution":
      fields.quoted(help.attach(part.script, part.operator, shell));
      break;
    case "ArithmeticExpansion":
      help.search(part, shell);
      fields.quoted(FILLED);
      break;
    case "CommandExpansion":
      fields.split(printed(help.capture(part.script, shell)));
      break;
    default: {
      const { text, list } = expandParameter(part, shell, (word) => textOf(word, shell, help));
      fields.split(list === undefined ? text : list.join(" "));
      break;
    }
  }
}

function addQuoted(fields: Fields, part: WordPart, shell: Shell, help: Substitutions): void {
  if (part.type === "CommandExpansion") {
    fields.quoted(printed(help.capture(part.script, shell)));
    return;
  }
  if (part.type !== "SimpleExpansion" && part.type !== "ParameterExpansion") {
    addPart(fields, part, shell, help, false);
    return;
  }
  const { text, list } = expandParameter(part, shell, (word) => textOf(word, shell, help));
  if (list !== undefined && part.text.includes("@")) fields.each(list);
  else fields.quoted(text);
}

function printed({ text }: Feed): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

/** `~`, `~/x`, `~user`, `~+`: only unquoted and at the beginning. */
function tilde(raw: string, value: string, shell: Shell): string {
  const found = /^~([\w.+-]*)(?=\/|:|$)/.exec(raw);
  if (found === null) return raw.includes("=~") ? afterEquals(raw, value, shell) : value;
  const rest = value.slice(found[0].length);
  switch (found[1]) {
    case "":
      return shell.read("HOME") + rest;
    case "+":
      return shell.cwd + rest;
    case "-":
      return shell.read("OLDPWD") + rest;
    case "root":
      return `/root${rest}`;
    default:
      return `/home/${found[1]}${rest}`;
  }
}

/** `dd of=~/x`, `--prefix=~/x`: not every shell expands it, and without expansion the path would be unusual anyway. */
function afterEquals(raw: string, value: string, shell: Shell): string {
  return /=~(?=\/|$)/.test(raw) ? value.replace(/=~(?=\/|$)/, `=${shell.read("HOME")}`) : value;
}

/** Fields under construction. */
class Fields {
  readonly #separators: Set<string>;
  readonly #done: string[] = [];
  #current: string | undefined;

  constructor(separators: string) {
    this.#separators = new Set(separators);
  }

  quoted(text: string): void {
    const current = (this.#current ?? "") + text;
    this.#current = current.length > MAX_FIELD ? UNKNOWN : current;
  }

  /** Adds one field per item; the first and the last join the adjacent text. */
  each(list: readonly string[]): void {
    for (const [i, text] of list.entries()) {
      if (i > 0) this.#close();
      this.quoted(text);
    }
  }

  /** Adds an unquoted expansion. */
  split(text: string): void {
    if (this.#separators.size === 0) {
      this.quoted(text);
      return;
    }
    let start = 0;
    for (let at = 0; at <= text.length; at++) {
      const letter = text[at];
      if (letter !== undefined && !this.#separators.has(letter)) continue;
      if (at > start) this.quoted(withGlobs(text.slice(start, at)));
      if (letter !== undefined) this.#close();
      start = at + 1;
    }
  }

  take(): string[] {
    this.#close();
    return this.#done;
  }

  #close(): void {
    if (this.#current !== undefined) this.#done.push(this.#current);
    this.#current = undefined;
  }
}

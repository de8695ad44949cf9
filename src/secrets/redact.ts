// Redacts secrets from text before it is written: known formats, printed assignments with telling names, and values of variables with
// telling names. Linear in the text, no library. It cannot find unknown secrets: it is the last line of defence, not the first.

import { join } from "node:path";
import { readEnvFile } from "../setting-layers.ts";
import { assignment, element, isPrintedSecret, secretsOf } from "./secret-names.ts";
import { makeParts } from "./secret-shapes.ts";

export const REDACTED = "[redacted]";

type Redactor = (text: string) => string;

/** For everything that a process with this environment logs, records, shows or puts into a prompt. */
export function makeRedactor(env: Readonly<Record<string, string | undefined>>): Redactor {
  const values = secretValues(env);
  return (text) => {
    let clean = text;
    for (const value of values) clean = clean.replaceAll(value, REDACTED);
    return withoutShapes(clean);
  };
}

/** Knows the secrets of the environment and of the project's own .env, which Gemini CLI reads too. */
export function projectRedactor(projectRoot: string, env: Readonly<Record<string, string | undefined>>): Redactor {
  return makeRedactor({ ...readEnvFile(join(projectRoot, ".env")), ...env });
}

interface Group {
  /** Matches any of the signs; most lines have none and skip the search for each. */
  sign: RegExp;
  forms: readonly { sign: RegExp; form: RegExp }[];
}

/** In longer text, searching for each sign separately is faster than for any of them. */
const SHORT_TEXT = 500;
let known: readonly Group[] | undefined;

function groups(): readonly Group[] {
  const all = [...makeParts(), element];
  return ["", "i"].map((flags) => {
    const forms = all.filter(({ sign }) => sign.flags === flags);
    return { sign: new RegExp(forms.map(({ sign }) => sign.source).join("|"), flags), forms };
  });
}

/** Every secret of a known format is a long word, or is next to one of these, so plain prose skips the search. */
const suspicious = /[\w+/=.~$-]{14}|[=:@<>]|-----|passw|(?:^|\s)--?\w/;

/** Redacts what can be recognised without the environment. */
export function withoutShapes(text: string): string {
  if (!suspicious.test(text)) return text;
  known ??= groups();
  let clean = text;
  for (const group of known) {
    if (clean.length < SHORT_TEXT && !group.sign.test(clean)) continue;
    for (const { sign, form } of group.forms) if (sign.test(clean)) clean = clean.replace(form, aroundSecret);
  }
  return assignment.sign.test(clean) ? withoutAssigned(clean) : clean;
}

/** Works line by line, because an assignment fits on its line: only the few lines with a telling name are searched. */
function withoutAssigned(text: string): string {
  let clean = "";
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const next = end === -1 ? text.length : end + 1;
    const line = text.slice(at, next);
    const isSuspect = assignment.joint.test(line) && assignment.sign.test(line);
    clean += isSuspect ? line.replace(assignment.form, withoutValue) : line;
    at = next;
  }
  return clean;
}

type Groups = Record<string, string | undefined>;

/** The last argument of a replacer holds the named groups, when the pattern has any. */
function aroundSecret(...found: unknown[]): string {
  const groups = found.at(-1);
  if (typeof groups !== "object" || groups === null) return REDACTED;
  const { before = "", after = "" } = groups as Groups;
  return `${before}${REDACTED}${after}`;
}

function withoutValue(whole: string, ...found: unknown[]): string {
  const { name = "", gap = "", quote = "", quoted, bare = "", next = "" } = found.at(-1) as Groups;
  const isQuoted = quoted !== undefined;
  if (!isPrintedSecret({ name, gap, value: quoted ?? bare, isQuoted, next })) return whole;
  return `${name}${gap}${quote}${REDACTED}${quote}`;
}

/** Longest first, so that no value hides part of another. */
function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, given] of Object.entries(env)) {
    for (const value of secretsOf(name, given ?? "")) {
      values.add(value);
      // As escaped in JSON, which agents answer with.
      values.add(JSON.stringify(value).slice(1, -1));
    }
  }
  return [...values].sort((a, b) => b.length - a.length);
}

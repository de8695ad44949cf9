// Finds function calls in source code of any language by their brackets, which is enough to see what a one-liner writes or runs.
// There is no grammar, and strings are deliberately not distinguished from code. The work is bounded.

const MAX_CALLS = 400;
const MAX_BRACKETS = 4000;
const MAX_NAME = 80;
const MAX_ARGUMENTS = 4000;

export interface CodeCall {
  /** As written: `fs.writeFileSync`, `.open`, `File.write`. */
  name: string;
  /** The part after the last dot. */
  method: string;
  args: string[];
}

export function callsIn(code: string): CodeCall[] {
  const calls: CodeCall[] = [];
  let brackets = 0;
  for (let at = code.indexOf("("); at >= 0 && brackets < MAX_BRACKETS; at = code.indexOf("(", at + 1)) {
    brackets++;
    const name = /([\w$.!:?]+)\s?$/.exec(code.slice(Math.max(0, at - MAX_NAME), at))?.[1];
    if (name === undefined) continue;
    calls.push({ name, method: name.slice(lastDot(name) + 1), args: argumentsAt(code, at + 1) });
    if (calls.length === MAX_CALLS) break;
  }
  return calls;
}

function lastDot(name: string): number {
  return Math.max(name.lastIndexOf("."), name.lastIndexOf(":"));
}

/** The text between the brackets, split at its commas. */
function argumentsAt(code: string, start: number): string[] {
  const args: string[] = [];
  const end = Math.min(code.length, start + MAX_ARGUMENTS);
  let from = start;
  let level = 0;
  for (let at = start; at < end; at++) {
    const letter = code[at] as string;
    if (letter === '"' || letter === "'" || letter === "`") at = endOfString(code, at, end);
    else if ("([{".includes(letter)) level++;
    else if (")]}".includes(letter) && level-- === 0) {
      args.push(code.slice(from, at).trim());
      return args.length === 1 && args[0] === "" ? [] : args;
    } else if (letter === "," && level === 0) {
      args.push(code.slice(from, at).trim());
      from = at + 1;
    }
  }
  return [...args, code.slice(from, end).trim()];
}

function endOfString(code: string, start: number, end: number): number {
  const quote = code[start];
  for (let at = start + 1; at < end; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === quote) return at;
  }
  return end;
}

/** The text of a string literal; undefined for anything else. */
export function literal(arg: string | undefined): string | undefined {
  const found = /^[rbfu]{0,2}("""|'''|["'`])(.*)\1$/s.exec(arg ?? "");
  if (found === null) return undefined;
  const [, quote = "", text = ""] = found;
  // `"a" + "b"` begins and ends like a literal.
  if (new RegExp(`(?<!\\\\)${quote}`).test(text)) return undefined;
  return text.replace(/\\(.)/gs, (_, letter: string) => ({ n: "\n", t: "\t", r: "\r" })[letter] ?? letter);
}

/** The literals of `["a", "b"]`; undefined when it is not a list. */
export function literalList(arg: string | undefined): string[] | undefined {
  if (arg === undefined || !/^\[.*\]$/s.test(arg)) return undefined;
  return argumentsAt(`${arg.slice(1, -1)})`, 0).flatMap((item) => literal(item) ?? []);
}

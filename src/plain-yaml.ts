// A fast reader for the plain subset of YAML that plans use: block maps and lists, flow lists and maps, one-line scalars, comments. It
// never guesses: at anything else it stops, and the library (yaml.ts) decides. It exists because checking 5,000 phases (1.5 MB) must take
// less than 300 ms in a cold process. Parsing them alone takes 1,630 ms and 228 MB with yaml 2.9.1, 250-290 ms with js-yaml 5.5, about 50
// ms here. A property test compares it with yaml.

/** The value, or the line (from 1) of the first construct that is not plain. */
export type PlainYaml = { value: unknown } | { stoppedAt: number };

const MAX_DEPTH = 32;
/** A longer quoted string with escapes would overflow the stack of the regular expression engine. */
const MAX_ESCAPED = 100_000;

export function readPlainYaml(text: string): PlainYaml {
  const reader = new PlainReader(`${text}\n`);
  const value = unusual.test(text) ? undefined : reader.document();
  return value === undefined ? { stoppedAt: reader.line() } : { value };
}

// Tabs and other control characters, line separators that only some parsers honour, a byte order mark.
const unusual = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/;
// Excludes words that are not strings when used as keys, and the dangerous `__proto__`.
const name = '(?!(?:true|false|null|__proto__)[":])[A-Za-z_][\\w-]{0,63}';
const blockKey = new RegExp(`(?:${name}|"${name}"):(?: +|(?=\\n))`, "iy");
const flowKey = new RegExp(`(?:${name}:(?: +|(?=\\n))|"${name}": *)`, "iy");
const blockPlain = /(?!\.\.)[^\s\-?:,[\]{}#&*!|>'"%@`][^\n]*/y;
const flowPlain = /(?!\.\.)[^\s\-?:,[\]{}#&*!|>'"%@`][^\n,[\]{}]*/y;
/** The end of a line and the indentation of the next one. */
const usualEnd = / *\n *(?=[^ \n#])/y;
const escaped = /^(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;
/** A fast path: most of a large plan is lists of ids. */
const flowInteger = / *[0-9]{1,15} *(?=[,\]])/y;
const decimal = /^[0-9]{1,15}(?:\.[0-9]{1,6})?$/;
const numberLike = /^(?:[-+]?[0-9.]+(?:e[-+]?[0-9]*)?|0[ox].*|[-+]?\.(?:inf|nan))$/i;
const words = new Map<string, unknown>([
  ...["~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);

/** Every reading method returns `undefined` (which is never a YAML value) when it stops. */
class PlainReader {
  readonly #text: string;
  #at = 0;
  /** The column of the first character of the current line; -1 after the last line. */
  #indent = -1;

  constructor(text: string) {
    this.#text = text;
  }

  line(): number {
    let line = 1;
    for (let at = this.#text.indexOf("\n"); at !== -1 && at < this.#at; at = this.#text.indexOf("\n", at + 1)) line++;
    return line;
  }

  document(): unknown {
    this.#toLine(0);
    if (this.#indent === -1) return null;
    const isFlow = "[{".includes(this.#char());
    const value = isFlow ? this.#inline(-1, 0) : this.#block(0);
    return this.#indent === -1 ? value : undefined;
  }

  #char(): string {
    return this.#text.charAt(this.#at);
  }

  /** Moves to the first line at or after `start` that holds more than spaces and a comment. */
  #toLine(start: number): void {
    let lineStart = start;
    for (;;) {
      this.#at = lineStart;
      this.#skipSpaces();
      const char = this.#char();
      if (char === "\n") lineStart = this.#at + 1;
      else if (char === "#") lineStart = this.#text.indexOf("\n", this.#at) + 1;
      else break;
    }
    this.#indent = this.#at < this.#text.length ? this.#at - lineStart : -1;
  }

  #skipSpaces(): number {
    const start = this.#at;
    while (this.#text.charCodeAt(this.#at) === 0x20) this.#at++;
    return this.#at - start;
  }

  /** Call after spaces: whether only a comment is left on the line; if so, moves to the next line. */
  #isLineEnd(): boolean {
    const char = this.#char();
    if (char !== "\n" && char !== "#") return false;
    this.#toLine(this.#text.indexOf("\n", this.#at) + 1);
    return true;
  }

  /** Like `#isLineEnd`, but after a value, where a space must precede a comment. */
  #endsLine(): boolean {
    if (this.#matches(usualEnd)) {
      this.#indent = usualEnd.lastIndex - this.#text.indexOf("\n", this.#at) - 1;
      this.#at = usualEnd.lastIndex;
      return true;
    }
    return (this.#skipSpaces() > 0 || this.#char() !== "#") && this.#isLineEnd();
  }

  #isDash(): boolean {
    const next = this.#text.charCodeAt(this.#at + 1);
    return this.#char() === "-" && (next === 0x20 || next === 0x0a);
  }

  #block(depth: number): unknown {
    if (depth > MAX_DEPTH) return undefined;
    return this.#isDash() ? this.#list(this.#indent, depth) : this.#map(this.#indent, depth);
  }

  #list(indent: number, depth: number): unknown[] | undefined {
    const list: unknown[] = [];
    while (this.#indent === indent && this.#isDash()) {
      this.#at++;
      const item = this.#item(indent, depth);
      if (item === undefined) return undefined;
      list.push(item);
    }
    return list;
  }

  #item(indent: number, depth: number): unknown {
    this.#skipSpaces();
    if (this.#isLineEnd()) return this.#indent > indent ? this.#block(depth + 1) : null;
    if (!this.#matches(blockKey)) return this.#inline(indent, depth);
    const start = this.#text.lastIndexOf("\n", this.#at) + 1;
    this.#indent = this.#at - start;
    return this.#block(depth + 1);
  }

  #map(indent: number, depth: number): Record<string, unknown> | undefined {
    const map: Record<string, unknown> = {};
    while (this.#indent === indent) {
      const key = this.#key(blockKey, map);
      if (key === undefined) return undefined;
      const value = this.#mapValue(indent, depth);
      if (value === undefined) return undefined;
      map[key] = value;
    }
    return this.#indent > indent ? undefined : map;
  }

  #mapValue(indent: number, depth: number): unknown {
    if (!this.#isLineEnd()) return this.#inline(indent, depth);
    const isNested = this.#indent > indent || (this.#indent === indent && this.#isDash());
    return isNested ? this.#block(depth + 1) : null;
  }

  #key(form: RegExp, map: Record<string, unknown>): string | undefined {
    if (!this.#matches(form)) return undefined;
    const quotes = this.#char() === '"' ? 1 : 0;
    const key = this.#text.slice(this.#at + quotes, this.#text.indexOf(":", this.#at) - quotes);
    this.#at = form.lastIndex;
    return Object.hasOwn(map, key) ? undefined : key;
  }

  /** A scalar or a flow collection that ends its line. */
  #inline(indent: number, depth: number): unknown {
    const value = this.#value(false, indent, depth);
    return value !== undefined && this.#endsLine() ? value : undefined;
  }

  #value(inFlow: boolean, indent: number, depth: number): unknown {
    const read = PlainReader.#byFirstChar.get(this.#char());
    return read === undefined ? this.#plain(inFlow) : read(this, indent, depth + 1);
  }

  /** A table, because V8 would compile every reader into each of its callers, and that takes longer than reading a large plan. */
  static readonly #byFirstChar = new Map<string, (reader: PlainReader, indent: number, depth: number) => unknown>([
    ['"', (reader) => reader.#doubleQuoted()],
    ["'", (reader) => reader.#singleQuoted()],
    ["[", (reader, indent, depth) => reader.#flowList(indent, depth)],
    ["{", (reader, indent, depth) => reader.#flowMap(indent, depth)],
  ]);

  #flowList(indent: number, depth: number): unknown[] | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const list: unknown[] = [];
    do {
      this.#at++;
      if (this.#matches(flowInteger)) {
        list.push(Number(this.#text.slice(this.#at, flowInteger.lastIndex)));
        this.#at = flowInteger.lastIndex;
        continue;
      }
      if (!this.#flowSpace(indent)) return undefined;
      if (this.#char() === "]") break;
      const value = this.#value(true, indent, depth);
      if (value === undefined || !this.#flowSpace(indent)) return undefined;
      list.push(value);
    } while (this.#char() === ",");
    return this.#skip("]") ? list : undefined;
  }

  #flowMap(indent: number, depth: number): Record<string, unknown> | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const map: Record<string, unknown> = {};
    do {
      this.#at++;
      if (!this.#flowSpace(indent)) return undefined;
      if (this.#char() === "}") break;
      const key = this.#key(flowKey, map);
      if (key === undefined || !this.#flowSpace(indent)) return undefined;
      const value = this.#value(true, indent, depth);
      if (value === undefined || !this.#flowSpace(indent)) return undefined;
      map[key] = value;
    } while (this.#char() === ",");
    return this.#skip("}") ? map : undefined;
  }

  #skip(char: string): boolean {
    if (this.#char() !== char) return false;
    this.#at++;
    return true;
  }

  #matches(form: RegExp): boolean {
    form.lastIndex = this.#at;
    return form.test(this.#text);
  }

  /** Skips spaces and line ends; false when a line inside a flow collection is not indented enough. */
  #flowSpace(indent: number): boolean {
    this.#skipSpaces();
    while (this.#char() === "\n") {
      this.#at++;
      if (this.#skipSpaces() <= indent && this.#char() !== "\n") return false;
    }
    return true;
  }

  #doubleQuoted(): string | undefined {
    const start = this.#at + 1;
    const end = this.#closingQuote(start);
    const inner = this.#text.slice(start, end);
    if (end === -1 || inner.includes("\n")) return undefined;
    this.#at = end + 1;
    if (!inner.includes("\\")) return inner;
    return inner.length > MAX_ESCAPED || !escaped.test(inner) ? undefined : JSON.parse(`"${inner}"`);
  }

  /** The first quote that does not follow an odd number of backslashes. */
  #closingQuote(start: number): number {
    let end = this.#text.indexOf('"', start);
    for (; end !== -1; end = this.#text.indexOf('"', end + 1)) {
      let before = end;
      while (before > start && this.#text.charAt(before - 1) === "\\") before--;
      if ((end - before) % 2 === 0) break;
    }
    return end;
  }

  #singleQuoted(): string | undefined {
    const start = this.#at + 1;
    let end = this.#text.indexOf("'", start);
    while (end !== -1 && this.#text.charAt(end + 1) === "'") end = this.#text.indexOf("'", end + 2);
    const inner = this.#text.slice(start, end);
    if (end === -1 || inner.includes("\n")) return undefined;
    this.#at = end + 1;
    return inner.replaceAll("''", "'");
  }

  #plain(inFlow: boolean): unknown {
    const form = inFlow ? flowPlain : blockPlain;
    if (!this.#matches(form)) return undefined;
    const comment = this.#text.slice(this.#at, form.lastIndex).indexOf(" #");
    if (inFlow && comment !== -1) return undefined;
    const end = comment === -1 ? form.lastIndex : this.#at + comment;
    const scalar = this.#trimmed(this.#at, end);
    if (scalar.endsWith(":") || scalar.includes(": ")) return undefined;
    this.#at = end;
    return resolved(scalar);
  }

  #trimmed(start: number, end: number): string {
    let last = end;
    while (this.#text.charCodeAt(last - 1) === 0x20) last--;
    return this.#text.slice(start, last);
  }
}

/** The value of a plain scalar in the core schema. */
function resolved(scalar: string): unknown {
  const word = words.get(scalar);
  if (word !== undefined) return word;
  if (decimal.test(scalar)) return Number(scalar);
  return numberLike.test(scalar) ? undefined : scalar;
}

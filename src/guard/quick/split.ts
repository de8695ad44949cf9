// Splits a command line that needs no parser into commands, words and output files. Accepts less than a shell, and nothing that a shell
// would read differently. Uses no regular expressions: compiling them took half of the time of a quick verdict.

export interface PlainCommand {
  words: string[];
  /** Files that are written; `isError`: by standard error alone. */
  files: { path: string; isError: boolean }[];
  /** Standard output is redirected to standard error, or standard error is redirected a second time. */
  isTurned?: boolean;
}

/** Undefined when the full parser is needed. */
export function splitPlain(line: string): PlainCommand[] | undefined {
  const commands: PlainCommand[] = [];
  let current: PlainCommand = { words: [], files: [] };
  let before = "";
  for (let at = 0; at < line.length; ) {
    if (isBlank(line[at])) {
      at++;
      continue;
    }
    const operator = operatorAt(line, at);
    if (operator === "") {
      const piece = redirectionAt(line, at, current) ?? wordAt(line, at, current);
      if (piece === undefined || !isEnd(line[piece])) return undefined;
      at = piece;
      continue;
    }
    at += operator.length;
    if (current.words.length > 0) {
      commands.push(current);
      current = { words: [], files: [] };
      before = operator;
      // Empty lines are allowed, and a command may continue on the next line.
    } else if (operator !== "\n" || current.files.length > 0) return undefined;
  }
  if (current.words.length > 0) commands.push(current);
  else if (current.files.length > 0 || before === "&&" || before.startsWith("|")) return undefined;
  return commands;
}

/** Empty when there is no operator. */
function operatorAt(line: string, at: number): string {
  const char = line[at];
  if (char === ";" || char === "\n") return char;
  if (char !== "&" && char !== "|") return "";
  if (line[at + 1] === char) return char + char;
  return char === "|" || isBlank(line[at + 1]) || line[at + 1] === "\n" || at + 1 === line.length ? char : "";
}

/** Adds a redirection to the command and returns its end; undefined for anything else. */
function redirectionAt(line: string, start: number, command: PlainCommand): number | undefined {
  const first = line[start] ?? "";
  const sign = "12&".includes(first) ? start + 1 : start;
  if (line[sign] === "<")
    return sign === start && !"<(&>".includes(line[start + 1] ?? "") ? inputEnd(line, start + 1) : undefined;
  if (line[sign] !== ">") return undefined;
  // `2>&1`: a descriptor, not a file.
  if (line[sign + 1] === "&") {
    if (first === "&" || !"12".includes(line[sign + 2] ?? "-")) return undefined;
    const isAway = first === "2" ? command.files.some(({ isError }) => isError) : line[sign + 2] === "2";
    if (isAway) command.isTurned = true;
    return sign + 3;
  }
  const behind = line[sign + 1] === ">" ? sign + 2 : sign + 1;
  if ("&|>(".includes(line[behind] ?? "")) return undefined;
  const at = afterBlanks(line, behind);
  const quote = line[at] === '"' || line[at] === "'" ? line[at] : undefined;
  const from = quote === undefined ? at : at + 1;
  let end = from;
  while (isPlain(line[end]) || (quote !== undefined && line[end] === " ")) end++;
  if (end === from || (quote !== undefined && line[end] !== quote)) return undefined;
  command.files.push({ path: line.slice(from, end), isError: first === "2" });
  return quote === undefined ? end : end + 1;
}

/** Skips a file that is only read. */
function inputEnd(line: string, start: number): number | undefined {
  const from = afterBlanks(line, start);
  let end = from;
  while (isPlain(line[end])) end++;
  return end === from ? undefined : end;
}

/** Adds a word to the command, including quoted parts, and returns its end. */
function wordAt(line: string, start: number, command: PlainCommand): number | undefined {
  let text = "";
  let at = start;
  while (!isEnd(line[at])) {
    const end = pieceEnd(line, at, at === start);
    if (end === undefined) return undefined;
    const isQuoted = line[at] === "'" || line[at] === '"';
    text += isQuoted ? line.slice(at + 1, end - 1) : line.slice(at, end);
    at = end;
  }
  if (at === start) return undefined;
  // A quoted word is not an assignment, but looks like one without its quotes.
  const mayBeVariable = line[start] !== text[0] && command.words.every((word) => word.includes("="));
  if (mayBeVariable && text.includes("=")) return undefined;
  command.words.push(text);
  return at;
}

function pieceEnd(line: string, at: number, isFirst: boolean): number | undefined {
  const char = line[at] ?? "";
  if (char === "'") return afterQuote(line.indexOf("'", at + 1));
  if (char === '"') return afterQuote(doubleQuoteEnd(line, at + 1));
  // Variables are allowed in words, because no command here assigns them.
  if (char === "$") return isVariable(line[at + 1]) ? at + 2 : undefined;
  if (isFirst && (char === "[" || char === "]")) return isEnd(line[at + 1]) ? at + 1 : undefined;
  return isPlain(char) || "*?~".includes(char) || (!isFirst && "^=".includes(char)) ? at + 1 : undefined;
}

function afterQuote(end: number): number | undefined {
  return end < 0 ? undefined : end + 1;
}

/** Negative when the string contains more than text and variables. */
function doubleQuoteEnd(line: string, start: number): number {
  for (let at = start; at < line.length; at++) {
    const char = line[at] as string;
    if (char === '"') return at;
    if ("`\\!".includes(char) || (char === "$" && !isVariable(line[at + 1]))) return -1;
  }
  return -1;
}

function afterBlanks(line: string, start: number): number {
  let at = start;
  while (isBlank(line[at])) at++;
  return at;
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t";
}

/** Whether a word ends before this character. */
function isEnd(char: string | undefined): boolean {
  return char === undefined || " \t\n;|&".includes(char);
}

function isPlain(char: string | undefined): boolean {
  return char !== undefined && (isLetter(char) || "0123456789@%+:,./-".includes(char));
}

function isLetter(char: string): boolean {
  return (char >= "a" && char <= "z") || (char >= "A" && char <= "Z") || char === "_";
}

/** Whether the character after a dollar sign makes it a variable. */
function isVariable(char: string | undefined): boolean {
  return char !== undefined && (isLetter(char) || "0123456789?#".includes(char));
}

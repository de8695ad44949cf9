// Splits a line of arguments into words as a shell does, without expansion: `$HOME`, `*` and backticks stay.

/** The words, or why the text cannot be split. */
export function splitWords(text: string): string[] | { error: string } {
  const words: string[] = [];
  /** Undefined between words: `""` is a word, a space is not. */
  let word: string | undefined;
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === "'" || char === '"') {
      const quoted = char === "'" ? single(text, at) : double(text, at);
      if (quoted === undefined) return { error: `the quote ${char} at character ${at + 1} is not closed` };
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (char === "\\") {
      const next = text.charAt(at + 1);
      if (next === "") return { error: "it ends in a backslash" };
      if (next !== "\n") word = (word ?? "") + next;
      at += 2;
    } else if (/[ \t\r\n]/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
    } else {
      word = (word ?? "") + char;
      at += 1;
    }
  }
  return word === undefined ? words : [...words, word];
}

/** Gemini CLI has deprecated the flag in favour of policy files (F77). It accepts both spellings. */
export function warnsOfAllowedTools(args: readonly string[]): boolean {
  return args.some((arg) => /^--(?:allowed-tools|allowedTools)(?:=|$)/.test(arg));
}

interface Quoted {
  text: string;
  /** The position after the closing quote. */
  end: number;
}

function single(text: string, start: number): Quoted | undefined {
  const end = text.indexOf("'", start + 1);
  return end < 0 ? undefined : { text: text.slice(start + 1, end), end: end + 1 };
}

/** A backslash is special only before characters that are special to a shell. */
function double(text: string, start: number): Quoted | undefined {
  let inside = "";
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') return { text: inside, end: at + 1 };
    const next = char === "\\" ? text.charAt(at + 1) : "";
    if (next !== "" && '$`"\\\n'.includes(next)) {
      if (next !== "\n") inside += next;
      at += 1;
    } else inside += char;
  }
  return undefined;
}

// Finds the files that an awk program writes with `print >` and the commands that it passes to a shell.

export interface AwkEffects {
  /** The files that print and printf write; undefined for a computed name. */
  files: (string | undefined)[];
  commands: string[];
}

type Token = { kind: "word" | "string" | "operator"; text: string };

export function readAwk(program: string): AwkEffects {
  const effects: AwkEffects = { files: [], commands: [] };
  const tokens = tokensOf(program);
  let isPrinting = false;
  let level = 0;
  for (const [i, { kind, text }] of tokens.entries()) {
    const next = tokens[i + 1];
    if (kind === "word" && (text === "print" || text === "printf")) {
      isPrinting = true;
      level = 0;
    } else if (kind === "word" && text === "system" && next?.text === "(") {
      const argument = tokens[i + 2];
      if (argument?.kind === "string") effects.commands.push(argument.text);
    } else if (kind === "operator") {
      if (text === "(" || text === "[") level++;
      else if (text === ")" || text === "]") level--;
      else if (/^[;{}\n]$/.test(text)) isPrinting = false;
      else if ((text === ">" || text === ">>") && isPrinting && level <= 0) {
        const isAlone = next?.kind === "string" && /^[;}\n]$/.test(tokens[i + 2]?.text ?? ";");
        effects.files.push(isAlone ? next.text : undefined);
      } else if (text === "|" || text === "|&") {
        const command = isPrinting ? next : tokens[i - 1];
        if (command?.kind === "string") effects.commands.push(command.text);
      }
    }
  }
  return effects;
}

function tokensOf(program: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /"((?:[^"\\\n]|\\.)*)"|([A-Za-z_]\w*)|(#[^\n]*)|(>>|\|&|&&|\|\||>=|<=|==|!=|\n|[^\s\w])|\d[\w.]*/y;
  let at = 0;
  while (at < program.length) {
    if (/[ \t\r]/.test(program[at] as string)) {
      at++;
      continue;
    }
    if (program[at] === "/" && startsRegex(tokens.at(-1))) {
      at = endOfRegex(program, at + 1);
      tokens.push({ kind: "word", text: "regex" });
      continue;
    }
    pattern.lastIndex = at;
    const found = pattern.exec(program);
    if (found === null) {
      at++;
      continue;
    }
    const [all, string, word, comment, operator] = found;
    if (string !== undefined) tokens.push({ kind: "string", text: string.replace(/\\(["\\/])/g, "$1") });
    else if (operator !== undefined) tokens.push({ kind: "operator", text: operator });
    else if (comment === undefined) tokens.push({ kind: "word", text: word ?? all });
    at += all.length;
  }
  return tokens;
}

/** After a value, a slash divides. */
function startsRegex(before: Token | undefined): boolean {
  if (before === undefined || before.text === "print" || before.text === "in") return true;
  return before.kind === "operator" && !/^[)\]]$/.test(before.text);
}

function endOfRegex(program: string, start: number): number {
  for (let at = start; at < program.length; at++) {
    if (program[at] === "\\") at++;
    else if (program[at] === "/" || program[at] === "\n") return at + 1;
  }
  return program.length;
}

// Rewrites of a shell command that keep its meaning, for fuzzing the guard. Each returns undefined when it might change the meaning.

interface Rewrite {
  name: string;
  apply: (command: string) => string | undefined;
}

const REWRITES: Rewrite[] = [
  { name: "double-quoted word", apply: (command) => onWord(command, (word) => `"${word}"`) },
  { name: "single-quoted word", apply: (command) => onWord(command, (word) => `'${word}'`) },
  { name: "empty quotes in the word", apply: (command) => onWord(command, (word) => `${word[0]}''${word.slice(1)}`) },
  { name: "backslash", apply: (command) => onWord(command, (word) => `\\${word}`) },
  { name: "command", apply: (command) => onWord(command, (word) => `command ${word}`) },
  { name: "env", apply: (command) => onProgram(command, (word) => `env ${word}`) },
  { name: "continued line", apply: continued },
  { name: "subshell", apply: (command) => enclosed("(", command, ")") },
  { name: "group", apply: (command) => enclosed("{", command, "}") },
  { name: "bash -c", apply: (command) => `bash -c '${command.replaceAll("'", "'\\''")}'` },
  { name: "true &&", apply: (command) => (isComment(command) ? undefined : `true && ${command}`) },
  { name: "newlines for semicolons", apply: newlines },
  { name: "trailing comment", apply: (command) => `${command}${endsFreely(command) ? " " : "\n"}# as agreed` },
  { name: "blank lines", apply: (command) => `\n  ${command}\n\n` },
];

/** `count` different rewrites that apply to the command, in an order that `random` decides. */
export function rewritesOf(command: string, count: number, random: () => number): { name: string; command: string }[] {
  const possible = REWRITES.flatMap(({ name, apply }) => {
    const rewritten = apply(command);
    return rewritten === undefined ? [] : [{ name, command: rewritten, order: random() }];
  });
  return possible.sort((a, b) => a.order - b.order).slice(0, count);
}

/** mulberry32: the same numbers for the same seed on every machine. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const KEYWORDS = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
// Quoted or after "command" these parse their assignments differently.
const DECLARATIONS = new Set("export declare typeset local readonly".split(" "));
// Functions of the user's shell, which "command" and "env" would bypass.
const FUNCTIONS = new Set("nvm conda".split(" "));
// Builtins that env cannot start, because no program has that name.
const BUILTINS = new Set(
  (
    "alias bg builtin cd command dirs disown enable eval exec exit fg hash history jobs let mapfile popd pushd read " +
    "return set shift shopt source trap type ulimit umask unalias unset wait"
  ).split(" "),
);

function onWord(command: string, rewrite: (word: string) => string): string | undefined {
  const word = firstWord(command);
  if (word === undefined) return undefined;
  return rewrite(word) + command.slice(word.length);
}

function onProgram(command: string, rewrite: (word: string) => string): string | undefined {
  const word = firstWord(command);
  if (word === undefined || BUILTINS.has(word) || command.startsWith("printf -v")) return undefined;
  return rewrite(word) + command.slice(word.length);
}

function firstWord(command: string): string | undefined {
  if (command.includes("\n")) return undefined;
  const word = /^[A-Za-z][A-Za-z0-9_.+-]+(?= [^(]|$)/.exec(command)?.[0];
  if (word === undefined || KEYWORDS.has(word) || DECLARATIONS.has(word) || FUNCTIONS.has(word)) return undefined;
  return word;
}

function continued(command: string): string | undefined {
  const word = firstWord(command);
  if (word === undefined || word === command) return undefined;
  return `${word} \\\n ${command.slice(word.length)}`;
}

function enclosed(open: string, command: string, close: string): string | undefined {
  if (isComment(command)) return undefined;
  if (!endsFreely(command) || /#|[;&]$/.test(command)) return `${open}\n${command}\n${close}`;
  return `${open} ${command}; ${close}`;
}

/** Only where no quoting, comment, case or here-document can give a semicolon another meaning. */
function newlines(command: string): string | undefined {
  if (!command.includes("; ") || /['"\\#\n]|<<|;;|\(\(|\bcase\b/.test(command)) return undefined;
  return command.replaceAll("; ", "\n");
}

/** Whether text may follow on the last line: the command has only one line, and no here-document begins there. */
function endsFreely(command: string): boolean {
  return !command.includes("\n") && !/(^|[^<])<<(?!<)/.test(command);
}

function isComment(command: string): boolean {
  return command.split("\n").every((line) => line.trimStart().startsWith("#"));
}

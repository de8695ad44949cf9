// The guard in tests: the machine they stand on, and rewrites of a command that keep its meaning.

import fc from "fast-check";
import { judgeCommand } from "../../src/guard/judge.ts";
import type { Machine } from "../../src/guard/machine.ts";
import { quotedWord } from "../../src/guard/shell/call.ts";

export const machine: Machine = {
  projectRoot: "/home/dev/project",
  home: "/home/dev",
  tmpdir: "/tmp",
  stateDir: "/home/dev/project/.gemini",
  extensionRoot: "/home/dev/.gemini/extensions/maestro",
};

/** The rule that denies the command, or "allow". */
export function ruleOf(command: string): string {
  const verdict = judgeCommand(command, machine);
  return verdict.verdict === "allow" ? "allow" : verdict.rule;
}

type Rewrite = (command: string) => string;

/** They hold for any script. */
const around: Rewrite[] = [
  (command) => `(${command}\n)`,
  (command) => `{ ${command}\n}`,
  (command) => `true && { ${command}\n}`,
  (command) => `false || { ${command}\n}`,
  (command) => `: ; ${command}`,
  (command) => `${command}\nwait`,
  (command) => `\n\n  ${command}\n`,
  (command) => `# a comment\n${command}`,
  (command) => `if true; then\n${command}\nfi`,
  (command) => `for _ in 1; do\n${command}\ndone`,
  (command) => `while read -r _; do\n${command}\ndone < list`,
  (command) => `case a in a)\n${command}\n;; esac`,
  (command) => `wrapped() {\n${command}\n}\nwrapped`,
  (command) => `bash -c ${quotedWord(command)}`,
  (command) => `sh -euc ${quotedWord(command)}`,
  (command) => `sudo bash -c ${quotedWord(command)}`,
  (command) => `env -i bash --norc -c ${quotedWord(command)}`,
  (command) => `eval ${quotedWord(command)}`,
  (command) => `code=${quotedWord(command)}; eval "$code"`,
  (command) => `code=${quotedWord(command)}; bash -c "$code"`,
  // find puts its own hits in place of {}.
  (command) => (command.includes("{}") ? command : `find . -maxdepth 0 -exec bash -c ${quotedWord(command)} \\;`),
  (command) => `bash <<'END_OF_CODE'\n${command}\nEND_OF_CODE`,
  (command) => `timeout 60 bash -lc ${quotedWord(command)}`,
];

/** They hold for a script that starts with a program and its arguments. */
const inFront: Rewrite[] = [
  (command) => `command ${command}`,
  (command) => `env ${command}`,
  (command) => `env -i A=b ${command}`,
  (command) => `A=b ${command}`,
  (command) => `sudo ${command}`,
  (command) => `sudo -u root -- ${command}`,
  (command) => `nohup ${command}`,
  (command) => `nice -n 5 ${command}`,
  (command) => `timeout -k 5 60 ${command}`,
  (command) => `stdbuf -oL ${command}`,
  (command) => `time ${command}`,
  (command) => `! ${command}`,
  (command) => `\\${command}`,
  (command) => command.replace(/^\S+/, (word) => `'${word}'`),
  (command) => command.replace(/^\S+/, (word) => `"${word}"`),
  (command) => command.replace(/^(\S)(\S*)/, '$1""$2'),
  (command) => command.replace(/^\S+/, (word) => `$'${word}'`),
  (command) => command.replace(/^\S+/, (word) => `$(echo ${word})`),
  (command) => `word=${command.replace(/^(\S+)/, "$1; $word")}`,
  (command) => command.replace(/^(\S+) /, "$1 \\\n  "),
  (command) => command.replace(/^(\S+) /, "$1\t   "),
];

const startsWithProgram = /^[a-z][\w-]* [^(=]/;
const noProgram =
  /^(?:alias|builtin|case|cd|command|coproc|declare|do|eval|exec|export|f|for|function|if|let|local|printf -v|pushd|read|select|set|shopt|source|time|trap|unset|until|while|w|x|xargs|hyperfine|concurrently)\s/;

/** One or two rewrites, one around the other. */
export const rewrite: fc.Arbitrary<Rewrite> = fc
  .array(fc.tuple(fc.boolean(), fc.nat(), fc.nat()), { minLength: 1, maxLength: 2 })
  .map((choices) => (command) => choices.reduce((text, choice) => applied(text, choice), command));

function applied(command: string, [isInFront, front, back]: readonly [boolean, number, number]): string {
  const fits = isInFront && startsWithProgram.test(command) && !noProgram.test(command);
  const list = fits ? inFront : around;
  return (list[(fits ? front : back) % list.length] as Rewrite)(command);
}

/** The best of a few rounds: the machine may have other work, the guard has no excuse. Stops as soon as it was quick enough. */
export function quickest(withinMs: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10 && best >= withinMs; round++) {
    const start = performance.now();
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    // Wall time counts the other processes of a busy machine, CPU time the other threads of this process: the smaller one is nearer.
    best = Math.min(best, performance.now() - start, (user + system) / 1000);
  }
  return best;
}

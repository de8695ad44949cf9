// What the real shells complete: zsh in a terminal of its own, fish and bash by asking them.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { findProgram } from "../../src/search-path.ts";
import { debianProgram } from "./debian-program.ts";
import type { Project } from "./project.ts";

/** What the shell offers for each line, sorted. `env` has the home in which the completions are installed. */
export type Completer = (project: Project, lines: readonly string[], env: Record<string, string>) => string[][];

/** The path of the shell. Without it the test is skipped, and it is said why. */
export function shell(context: Pick<TestContext, "skip">, name: "zsh" | "fish"): string {
  const found = findProgram(name, process.env.PATH);
  if (found !== undefined) return found;
  const program = debianProgram(`/usr/bin/${name}`, name);
  return "missing" in program ? context.skip(program.missing) : program.path;
}

export const inFish =
  (program: string): Completer =>
  (project, lines, env) =>
    lines.map((line) => {
      const run = project.run(program, ["--command", "complete --do-complete $argv[1]", line], { env });
      if (run.code !== 0 || run.stderr !== "") throw new Error(`fish failed: ${run.stderr}`);
      return sorted(run.stdout.split("\n").map((one) => one.split("\t")[0] ?? ""));
    });

/** Files are what bash itself offers when there is nothing else; they are not among these. */
export const inBash: Completer = (project, lines, env) =>
  lines.map((line) => {
    const script = `source "$1"; COMP_WORDS=($2); [[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _maestro; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const file = join(env.HOME ?? "", ".local/share/bash-completion/completions/maestro");
    const run = project.run("bash", ["-c", script, "bash", file, line], { env });
    if (run.stderr !== "") throw new Error(`bash failed: ${run.stderr}`);
    return sorted(run.stdout.split("\n"));
  });

/** Types each line and Tab into one interactive zsh, and records what is added to its list of matches. */
export const inZsh =
  (program: string): Completer =>
  (project, lines, env) => {
    const place = join(project.path, ".zsh");
    mkdirSync(place, { recursive: true });
    project.write(".zsh/typist.zsh", typist);
    project.write(".zsh/start.zsh", startFile);
    const site = join(env.HOME ?? "", ".local/share/zsh/site-functions");
    const run = project.run(program, ["-f", ".zsh/typist.zsh", place, site, ...lines], { env });
    if (run.code !== 0) throw new Error(`zsh failed: ${run.stdout}${run.stderr}`);
    return lines.map((_, at) => sorted(readFileSync(join(place, String(at + 1)), "utf8").split("\n")));
  };

const typist = `zmodload zsh/zpty
place=$1 site=$2
shift 2
appears() { repeat 1000; do [[ -e $1 ]] && return; sleep 0.02; done; zpty -r -t shell said; print -r "no $1: $said"; exit 1 }
zpty shell \${commands[zsh]:-/bin/zsh} -f -i
zpty -w shell "source \${(q)place}/start.zsh \${(q)place} \${(q)site}"
appears $place/ready
for (( at = 1; at <= $#; at++ )) {
  zpty -w -n shell $'\\C-u'"\${@[at]}"$'\\t'
  appears $place/$at.done
}
zpty -d shell
`;

/** Its variables have names that no completion hides behind a local one of its own. */
const startFile = `typist_place=$1 typist_line=1
fpath+=($2)
autoload -Uz compinit
compinit -u -d $typist_place/dump
unsetopt auto_list auto_menu beep
compadd() {
  [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] && { builtin compadd "$@"; return }
  local -a typist_matches
  builtin compadd -A typist_matches "$@"
  print -rl -- $typist_matches >> $typist_place/$typist_line
  builtin compadd "$@"
}
typist-complete() { zle complete-word; : >> $typist_place/$typist_line; : > $typist_place/$typist_line.done; (( typist_line++ )) }
zle -N typist-complete
bindkey '^I' typist-complete
bindkey '^U' kill-whole-line
: > $typist_place/ready
`;

function sorted(words: readonly string[]): string[] {
  return [...new Set(words.filter((word) => word !== ""))].sort();
}

// Generates the completion scripts of bash, zsh and fish from the table of verbs: verbs, their subcommands, their options and the
// values of these. Pure.

import { type Verb, type VerbOption, verbName } from "../verb.ts";

/** What can follow a command line: "" for `maestro` itself, "session create" for a subcommand. */
interface Level {
  path: string;
  verbs: readonly Verb[];
  options: readonly Word[];
}

interface Word {
  word: string;
  meaning: string;
  /** The values that an option accepts, when there are only these. */
  choices?: readonly string[];
}

export function bashCompletion(verbs: readonly Verb[]): string {
  const cases = levels(verbs).map(({ path, verbs: below, options }) => {
    const flags = options.map(({ word }) => word).join(" ");
    return `    "${path}") words="${below.map(verbName).join(" ")}" flags="${flags}" ;;`;
  });
  const values = valued(verbs).map(({ at, choices }) => `    "${at}") words="${choices.join(" ")}" ;;`);
  return `# bash completion of maestro
_maestro() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= words= flags= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " ${commandPaths(verbs).join(" : ")} " in
      *" : \${path:+$path }$word : "*|" \${path:+$path }$word : "*) path=\${path:+$path }$word ;;
    esac
  done
  case $path in
${cases.join("\n")}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("\n")}
    *) [[ $current == -* ]] && words=$flags ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _maestro maestro
`;
}

export function zshCompletion(verbs: readonly Verb[]): string {
  const cases = levels(verbs).map(({ path, verbs: below, options }) => {
    const names = below.map((verb) => ({ word: verbName(verb), meaning: verb.summary }));
    return `    ${single(path)}) below=(${described(names)}) flags=(${described(options)}) ;;`;
  });
  const values = valued(verbs).map(
    ({ at, choices }) => `    ${single(at)}) compadd -- ${choices.join(" ")}; return ;;`,
  );
  return `#compdef maestro
_maestro() {
  local -a below flags known
  local at word
  known=(${commandPaths(verbs).map(single).join(" ")})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    (( \${known[(Ie)\${at:+$at }$word]} )) && at="\${at:+$at }$word"
  done
  case $at in
${cases.join("\n")}
  esac
  case "$at $words[CURRENT-1]" in
${values.join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option flags
  elif (( $#below )); then
    _describe -t commands 'maestro command' below
  else
    _files
  fi
}
_maestro "$@"
`;
}

function described(words: readonly Word[]): string {
  return words.map(({ word, meaning }) => single(`${word}:${meaning}`)).join(" ");
}

export function fishCompletion(verbs: readonly Verb[]): string {
  const lines = levels(verbs).flatMap(({ path, verbs: below, options }) => {
    const complete = `complete -c maestro -n "__maestro_at ${single(path)}"`;
    return [
      // Where a command follows, no file does.
      ...(below.length > 0 ? [`${complete} -f`] : []),
      ...below.map((one) => `${complete} -a ${verbName(one)} -d ${single(one.summary)}`),
      ...options.map(({ word, meaning, choices }) => {
        const values = choices === undefined ? "" : ` -x -a ${single(choices.join(" "))}`;
        return `${complete} -l ${word.slice(2)}${values} -d ${single(meaning)}`;
      }),
    ];
  });
  return `# fish completion of maestro
function __maestro_at
  set -l known ${commandPaths(verbs).map(single).join(" ")}
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    contains -- "$next" $known; and set at $next
  end
  test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
}

function levels(verbs: readonly Verb[]): Level[] {
  const top: Word[] = [
    { word: "--help", meaning: "show the commands" },
    { word: "--version", meaning: "show the version" },
  ];
  return [{ path: "", verbs, options: top }, ...verbs.flatMap((verb) => levelsOf(verb, ""))];
}

function levelsOf(verb: Verb, above: string): Level[] {
  const path = above === "" ? verbName(verb) : `${above} ${verbName(verb)}`;
  const options = [...(verb.options ?? []).filter(({ isHidden }) => !isHidden).map(optionWord)];
  const own = { path, verbs: verb.verbs ?? [], options: [...options, { word: "--help", meaning: "show its usage" }] };
  return [own, ...(verb.verbs ?? []).flatMap((below) => levelsOf(below, path))];
}

function commandPaths(verbs: readonly Verb[]): string[] {
  return levels(verbs)
    .map(({ path }) => path)
    .filter((path) => path !== "");
}

function optionWord({ flags, meaning, choices }: VerbOption): Word {
  return { word: /--[\w-]+/.exec(flags)?.[0] ?? flags, meaning, ...(choices === undefined ? {} : { choices }) };
}

/** Where one of a few values follows: "run --mode". */
function valued(verbs: readonly Verb[]): { at: string; choices: readonly string[] }[] {
  return levels(verbs).flatMap(({ path, options }) =>
    options.flatMap(({ word, choices }) => (choices === undefined ? [] : [{ at: `${path} ${word}`, choices }])),
  );
}

/** In single quotes, as all three shells read them; a quote in the text becomes an apostrophe. */
function single(text: string): string {
  return `'${text.replaceAll("'", "’").replaceAll("\\", "/")}'`;
}

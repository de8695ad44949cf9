// Checks texts for models for names that do not exist, because a model would use them. Each check handles one kind of name.

import { normalizeAgentName } from "../agents/names.ts";
import { nearest } from "../agents/nearest.ts";
import { canonicalTool } from "../agents/tools.ts";
import { type LintProblem, suggestion } from "./problem.ts";
import { codeOf, codeSpans, type Piece, type Prose, pieces, proseOf } from "./prose.ts";
import { exists, listFiles, readText } from "./tree.ts";
import { isTool, maestroTools, toolArguments, variableNames } from "./vocabulary.ts";

export interface Known {
  /** Every verb of the program with its words: "run", "session create". */
  verbs: readonly string[];
  agents: readonly string[];
  skills: readonly string[];
}

export function lintProse(root: string, known: Known): LintProblem[] {
  const documented = documentedWords(root);
  return proseOf(root).flatMap((prose) => [
    ...wordProblems(prose, documented),
    ...verbProblems(prose, known.verbs),
    ...commandProblems(root, prose),
    ...skillProblems(prose, known.skills),
    ...pathProblems(root, prose),
    ...variableProblems(prose),
    ...agentProblems(prose, known.agents),
  ]);
}

const snakeCase = /(?<![\w$<./-])[a-z][a-z0-9]*(?:_[a-z0-9*]+)+(?![\w./>-])/g;

/** Words such as blocked_by that docs/ explain or a template has as a field; any other word in code font is a tool. */
function documentedWords(root: string): ReadonlySet<string> {
  const words = (folder: string, pattern: RegExp) =>
    listFiles(root, folder)
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) => pieces(readText(root, file) ?? "", pattern).map(({ text }) => text));
  return new Set([
    ...toolArguments,
    ...words("docs", /[a-z][a-z0-9]*(?:_[a-z0-9]+)+/g),
    ...words("templates", /^[ -]*([a-z][a-z0-9]*(?:_[a-z0-9]+)+):/gm),
  ]);
}

function wordProblems({ file, text }: Prose, documented: ReadonlySet<string>): LintProblem[] {
  const inSpans = codeSpans(text).flatMap(({ text: span, line }) =>
    (span.match(snakeCase) ?? []).map((word) => ({ word, line })),
  );
  const ours = pieces(text, /(?<![\w/])(?:maestro|mcp)_[\w*]+/g).map(({ text: word, line }) => ({ word, line }));
  const candidates = [...maestroTools, ...documented];
  return unique([...inSpans, ...ours]).flatMap(({ word, line }) => {
    if (isTool(word)) return [];
    if (canonicalTool(word) !== word)
      return [{ file, line, problem: `the tool ${word} is now called ${canonicalTool(word)}` }];
    if (!/^(?:maestro|mcp)_/.test(word) && isAmong(documented, word)) return [];
    return [
      {
        file,
        line,
        problem: `${word} is not a tool, nor a word of docs/ or templates/`,
        hint: suggestion(nearest(word, candidates)),
      },
    ];
  });
}

/** `files_*` matches every word with that prefix. */
function isAmong(words: ReadonlySet<string>, word: string): boolean {
  if (!word.endsWith("*")) return words.has(word);
  return [...words].some((other) => other.startsWith(word.slice(0, -1)));
}

function verbProblems({ file, text }: Prose, verbs: readonly string[]): LintProblem[] {
  return codeOf(text).flatMap(({ text: code, line }) =>
    pieces(code, /(?<![\w:@-])maestro(?:\.js)? +[a-z][a-z-]*(?: +[a-z][a-z-]*)?/g).flatMap((call) => {
      const [first = "", second] = call.text.split(/ +/).slice(1);
      const at = line + call.line - 1;
      if (first === "help") return [];
      if (!verbs.includes(first))
        return [{ file, line: at, problem: `maestro has no verb "${first}"`, hint: suggestion(nearest(first, verbs)) }];
      const below = verbs.filter((verb) => verb.startsWith(`${first} `)).map((verb) => verb.slice(first.length + 1));
      if (below.length === 0 || second === undefined || below.includes(second)) return [];
      return [
        {
          file,
          line: at,
          problem: `maestro ${first} has no verb "${second}"`,
          hint: suggestion(nearest(second, below)),
        },
      ];
    }),
  );
}

function commandProblems(root: string, { file, text }: Prose): LintProblem[] {
  return pieces(text, /\/maestro:([a-z][a-z-]*)/g).flatMap(({ text: name, line }) =>
    exists(root, `commands/maestro/${name}.toml`)
      ? []
      : [{ file, line, problem: `the command /maestro:${name} does not exist` }],
  );
}

function skillProblems({ file, text }: Prose, skills: readonly string[]): LintProblem[] {
  return pieces(text, /(?<=\bskill `)[a-z-]+(?=`)|(?<=`)[a-z-]+(?=` skill\b)/g).flatMap(({ text: name, line }) =>
    skills.includes(name)
      ? []
      : [{ file, line, problem: `the skill ${name} does not exist`, hint: suggestion(nearest(name, skills)) }],
  );
}

const ourFolders = "agents|commands|skills|protocols|templates|scripts|policies|hooks|dist|docs";
const paths = new RegExp(
  String.raw`(?:\$\{extensionPath\}(?:/|\$\{/\})|(?<![\w./~<>{}$*-])(?:\./)?)(?:${ourFolders})/[\w./-]*`,
  "g",
);
/** Agents and protocols talk about the user's project, which has such folders of its own. */
const pathsForAgents = new RegExp(
  String.raw`\$\{extensionPath\}(?:/|\$\{/\})(?:${ourFolders})/[\w./-]*|(?<![\w./~<>{}$*-])(?:agents|protocols|skills|policies)/[\w./-]*`,
  "g",
);

function pathProblems(root: string, { file, text }: Prose): LintProblem[] {
  const pattern = /^(?:agents|protocols)\//.test(file) ? pathsForAgents : paths;
  return pieces(text, pattern).flatMap(({ text: match, line }) => {
    const path = match.replace(/^(?:\$\{extensionPath\}(?:\/|\$\{\/\})|\.\/)/, "").replace(/[.-]+$/, "");
    return exists(root, path) ? [] : [{ file, line, problem: `${path} does not exist` }];
  });
}

function variableProblems({ file, text }: Prose): LintProblem[] {
  return pieces(text, /\bMAESTRO_[A-Z_]*[A-Z]\b/g).flatMap(({ text: name, line }) =>
    variableNames.includes(name)
      ? []
      : [{ file, line, problem: `${name} is not a setting`, hint: suggestion(nearest(name, variableNames)) }],
  );
}

function agentProblems({ file, text }: Prose, agents: readonly string[]): LintProblem[] {
  const named = pieces(text, /\bagent(?:_name)?["'`]?\s*[:=]\s*["'`]([a-z][a-z0-9_-]*)["'`]/g);
  const listed = nameLists(text).flatMap((list) => strangersIn(list, agents));
  return unique(
    [...named, ...listed].map(({ text: word, line }) => ({ word: normalizeAgentName(word), line })),
  ).flatMap(({ word, line }) =>
    agents.includes(word)
      ? []
      : [{ file, line, problem: `the agent ${word} does not exist`, hint: suggestion(nearest(word, agents)) }],
  );
}

const name = "`?[a-z]+(?:[-_][a-z]+)*`?";
const nameList = new RegExp(`(?<![a-z_-])${name}(?:(?:,\\s*(?:and |or )?|[ \\t]*[/|][ \\t]*| and | or )${name})+`, "g");

/** Names in a row, separated only by commas and the like. */
function nameLists(text: string): Piece[][] {
  return pieces(text, nameList).map((list) =>
    pieces(list.text, /[a-z]+(?:[-_][a-z]+)*/g)
      .filter((piece) => !["and", "or"].includes(piece.text))
      .map((piece) => ({ ...piece, line: list.line + piece.line - 1 })),
  );
}

/** The names in a list of agents that are not agents. Two known agents make it such a list, and only a misspelt or similar name counts. */
function strangersIn(list: readonly Piece[], agents: readonly string[]): Piece[] {
  const isAgent = ({ text }: Piece) => agents.includes(normalizeAgentName(text));
  if (list.filter(isAgent).length < 2) return [];
  const roles = new Set(agents.flatMap((agent) => (agent.includes("-") ? [agent.split("-").at(-1)] : [])));
  return list.filter((piece) => {
    if (isAgent(piece)) return false;
    const word = normalizeAgentName(piece.text);
    return nearest(word, agents) !== undefined || (word.includes("-") && roles.has(word.split("-").at(-1)));
  });
}

/** The same word on the same line is one problem. */
function unique<Item extends { word: string; line: number }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [`${item.line} ${item.word}`, item])).values()];
}

// Checks hooks/hooks.json: Gemini CLI silently discards an invalid event, definition or hook.

import { nearest } from "../agents/nearest.ts";
import { canonicalTool, isKnownTool } from "../agents/tools.ts";
import { isJsonObject, objectOf, parseObject } from "./json.ts";
import { missingFiles, unknownPlaceholders } from "./placeholders.ts";
import { type LintProblem, lineOf, suggestion } from "./problem.ts";
import { readText } from "./tree.ts";

const FILE = "hooks/hooks.json";

/** The events of Gemini CLI 0.61. */
const events = [
  "BeforeTool",
  "AfterTool",
  "BeforeAgent",
  "AfterAgent",
  "SessionStart",
  "SessionEnd",
  "PreCompress",
  "BeforeModel",
  "AfterModel",
  "BeforeToolSelection",
  "Notification",
];
const toolEvents = ["BeforeTool", "AfterTool"];
const definitionKeys = ["matcher", "sequential", "hooks"];
const hookKeys = ["type", "command", "name", "description", "timeout", "env"];
/** In milliseconds; a smaller value was meant as seconds. */
const MIN_TIMEOUT = 100;

type Say = (problem: string, hint?: string) => void;

export function lintHooks(root: string): LintProblem[] {
  const text = readText(root, FILE);
  if (text === undefined) return [];
  const hooks = parseObject(text)?.hooks;
  if (!isJsonObject(hooks)) {
    return [{ file: FILE, problem: 'is not a JSON object with an object "hooks": Gemini CLI loads no hook' }];
  }
  const problems: LintProblem[] = [];
  for (const [event, definitions] of Object.entries(hooks)) {
    const say: Say = (problem, hint) =>
      void problems.push({ file: FILE, line: lineOf(text, `"${event}"`), problem: `${event}: ${problem}`, hint });
    if (!events.includes(event)) say("Gemini CLI has no such event", suggestion(nearest(event, events)));
    else if (!Array.isArray(definitions)) say("must be a list of definitions");
    else for (const definition of definitions) lintDefinition(root, event, definition, say);
  }
  return problems;
}

function lintDefinition(root: string, event: string, definition: unknown, say: Say): void {
  const { matcher, sequential, hooks, ...others } = objectOf(definition);
  for (const key of Object.keys(others))
    say(`a definition has no key "${key}"`, suggestion(nearest(key, definitionKeys)));
  if (sequential !== undefined && typeof sequential !== "boolean") say("sequential must be true or false");
  if (matcher !== undefined) lintMatcher(event, matcher, say);
  if (!Array.isArray(hooks) || hooks.length === 0) say("a definition needs a list of hooks");
  else for (const hook of hooks) lintHook(root, hook, say);
}

function lintMatcher(event: string, matcher: unknown, say: Say): void {
  if (typeof matcher !== "string") {
    say("matcher must be a string");
    return;
  }
  try {
    new RegExp(matcher);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    say(`the matcher ${matcher} is not a regular expression: Gemini CLI would compare it literally`);
    return;
  }
  if (!toolEvents.includes(event)) return;
  for (const name of matcher.split(/[|()^$]+/).filter((part) => /^[a-z]\w*$/.test(part))) {
    if (!isKnownTool(name) || canonicalTool(name) !== name) say(`the matcher names ${name}, which is not a tool`);
  }
}

function lintHook(root: string, hook: unknown, say: Say): void {
  const { type, command, timeout, env, name, description, ...others } = objectOf(hook);
  for (const key of Object.keys(others)) say(`a hook has no key "${key}"`, suggestion(nearest(key, hookKeys)));
  if (type !== "command") say(`the type of a hook must be "command" (got: ${JSON.stringify(type) ?? "none"})`);
  for (const [key, value] of Object.entries({ name, description })) {
    if (value !== undefined && typeof value !== "string") say(`${key} must be a string`);
  }
  if (timeout !== undefined && !(typeof timeout === "number" && timeout >= MIN_TIMEOUT)) {
    say(`timeout must be milliseconds, at least ${MIN_TIMEOUT} (got: ${JSON.stringify(timeout)})`);
  }
  if (env !== undefined && !(isJsonObject(env) && Object.values(env).every((value) => typeof value === "string"))) {
    say("env must map names to strings");
  }
  if (typeof command !== "string" || command.trim() === "") {
    say("a hook needs a command that is not empty");
    return;
  }
  for (const path of missingFiles(root, command))
    say(`the command starts ${path}, which does not exist`, 'Run "npm run build".');
  for (const placeholder of unknownPlaceholders(command))
    say(`Gemini CLI does not replace \${${placeholder}}`, "It replaces extensionPath and workspacePath.");
}

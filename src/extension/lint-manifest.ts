// Checks gemini-extension.json for what the CLI accepts silently and then ignores, or cannot start.

import { nearest } from "../agents/nearest.ts";
import { isKnownTool } from "../agents/tools.ts";
import { definitions, type SettingName } from "../settings.ts";
import { isText, listOf, objectOf, parseObject } from "./json.ts";
import { missingFiles } from "./placeholders.ts";
import { type LintProblem, lineOf, suggestion } from "./problem.ts";
import { exists, readText } from "./tree.ts";
import { settingNames } from "./vocabulary.ts";

const MANIFEST = "gemini-extension.json";

const knownKeys = [
  "name",
  "version",
  "description",
  "mcpServers",
  "contextFileName",
  "excludeTools",
  "settings",
  "themes",
  "plan",
  "migratedTo",
];

/** Whether Gemini CLI would treat the directory as an extension at all. */
export function isExtension(root: string): boolean {
  return exists(root, MANIFEST);
}

export function lintManifest(root: string): LintProblem[] {
  const text = readText(root, MANIFEST);
  if (text === undefined)
    return [{ file: MANIFEST, problem: "is missing: for Gemini CLI this directory is not an extension" }];
  const manifest = parseObject(text);
  if (manifest === undefined) return [{ file: MANIFEST, problem: "is not a JSON object" }];
  const found = (words: string, problem: string, hint?: string): LintProblem => ({
    file: MANIFEST,
    line: lineOf(text, words),
    problem,
    hint,
  });
  return [
    ...["name", "version"].flatMap((key) =>
      isText(manifest[key]) ? [] : [found(key, `${key} is missing: Gemini CLI skips the extension`)],
    ),
    ...Object.keys(manifest).flatMap((key) =>
      knownKeys.includes(key)
        ? []
        : [found(`"${key}"`, `Gemini CLI does not know the key "${key}"`, suggestion(nearest(key, knownKeys)))],
    ),
    ...versionProblems(root, manifest.version, found),
    ...listOf(manifest.settings).flatMap((setting) => settingProblems(setting, found)),
    ...listOf(manifest.contextFileName).flatMap((name) =>
      isText(name) && exists(root, name) ? [] : [found(String(name), `the context file ${name} does not exist`)],
    ),
    ...listOf(manifest.excludeTools).flatMap((tool) =>
      isText(tool) && isKnownTool(tool.replace(/\(.*\)$/, ""))
        ? []
        : [found(String(tool), `excludeTools names ${tool}, which is not a tool`)],
    ),
    ...Object.entries(objectOf(manifest.mcpServers)).flatMap(([name, server]) =>
      serverProblems(root, name, server, found),
    ),
  ];
}

type Found = (words: string, problem: string, hint?: string) => LintProblem;

function versionProblems(root: string, version: unknown, found: Found): LintProblem[] {
  const packageText = readText(root, "package.json");
  if (packageText === undefined || !isText(version)) return [];
  const wanted = parseObject(packageText)?.version;
  if (wanted === version) return [];
  return [
    found('"version"', `version is ${version}, package.json has ${wanted}`, 'Run "node scripts/sync-version.js".'),
  ];
}

function settingProblems(setting: unknown, found: Found): LintProblem[] {
  const { envVar, name, description } = objectOf(setting);
  if (!isText(envVar) || !isText(name) || !isText(description)) {
    return [found('"settings"', `a setting needs name, description and envVar (got: ${JSON.stringify(setting)})`)];
  }
  if (!settingNames.includes(envVar)) {
    return [
      found(
        `"${envVar}"`,
        `the setting ${envVar} is unused: no code reads it`,
        suggestion(nearest(envVar, settingNames)),
      ),
    ];
  }
  const { meaning } = definitions[envVar as SettingName];
  if (description === meaning) return [];
  return [found(`"${envVar}"`, `the description of ${envVar} differs from src/settings.ts`, `It is there: ${meaning}`)];
}

function serverProblems(root: string, name: string, server: unknown, found: Found): LintProblem[] {
  const { command, args, url, httpUrl, cwd } = objectOf(server);
  const problems: LintProblem[] = [];
  const say = (problem: string, hint?: string) =>
    problems.push(found(`"${name}"`, `the MCP server ${name} ${problem}`, hint));
  if (name.includes("_")) say("has an underscore in its name: Gemini CLI takes the first one for its end");
  if (!isText(command) && !isText(url) && !isText(httpUrl)) say("has no command");
  if (cwd !== undefined) say("has a cwd: it would not run in the user's project", "Leave it out.");
  for (const word of [command, ...listOf(args)].filter(isText)) {
    for (const path of missingFiles(root, word)) say(`starts ${path}, which does not exist`, 'Run "npm run build".');
  }
  return problems;
}

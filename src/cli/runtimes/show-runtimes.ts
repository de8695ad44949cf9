// maestro runtimes: which agent programs are installed, whether each is signed in, and what it can enforce. Shows no value of a credential, and
// starts a program only with --check.

import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { tierTools } from "../../agents/tiers.ts";
import { repertoireOf } from "../../engine/runtimes/repertoire.ts";
import { errno } from "../../errors.ts";
import { parseJson } from "../../handoff/output/json.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { runtimeNamed } from "../../runtimes/runtime-table.ts";
import { findProgram } from "../../search-path.ts";
import { isObject } from "../../shape.ts";
import { oneLine } from "../../views/text/cell.ts";
import { type Io, printJson } from "../io.ts";
import { failureOfCheck } from "./check-runtimes.ts";
import { signIn } from "./sign-in.ts";

interface ShowFlags {
  check?: boolean;
  json?: boolean;
}

export async function showRuntimes(io: Io, names: readonly string[], flags: ShowFlags): Promise<number> {
  const repertoire = repertoireOf(io);
  for (const problem of repertoire.problems) io.err(`WARNING: ${problem}\n`);
  const chosen = names.length === 0 ? repertoire.all : names.map((name) => runtimeNamed(name, "runtimes", repertoire));
  const ofProject = new Set(repertoire.described.filter(({ isProjects }) => isProjects).map(({ runtime }) => runtime));
  const found: Shown[] = [];
  for (const runtime of chosen) {
    const one = described(io, runtime);
    const check = flags.check ? await checkOf(io, one, ofProject.has(runtime)) : undefined;
    found.push({ ...one, ...(check === undefined ? {} : { check }) });
    if (!flags.json) io.out(`${linesOf(found.at(-1) as Shown).join("\n")}\n`);
  }
  if (flags.json) printJson(io, { runtimes: found });
  // A program that was named must have done its task.
  const isProved = (state: Check["state"]) => state === "passed" || (state === "not_checked" && names.length === 0);
  return found.every(({ check }) => check === undefined || isProved(check.state)) ? 0 : 1;
}

interface Check {
  state: "passed" | "failed" | "not_checked";
  reason: string | null;
}

type Shown = ReturnType<typeof described> & { check?: Check };

async function checkOf(io: Io, { name, program }: ReturnType<typeof described>, isProjects: boolean): Promise<Check> {
  if (program === null) return { state: "not_checked", reason: "it is not installed" };
  if (isProjects) {
    const reason = "a file of this project describes it: copy the file to ~/.config/maestro/runtimes to check it";
    return { state: "not_checked", reason };
  }
  io.err(`Checking ${name}: one small task with your account\n`);
  const reason = await failureOfCheck(io, name);
  return { state: reason === null ? "passed" : "failed", reason };
}

const checkWords = { passed: "passed: it did a small task", failed: "FAILED", not_checked: "not checked" };

function described(io: Io, runtime: Runtime) {
  const { name, program, install, capabilities } = runtime;
  const path = findProgram(program, io.env.PATH) ?? null;
  const version = path === null ? null : packageVersion(path);
  return { name, program: path, version, signed_in: signIn(io.env, runtime), install, ...shownOf(capabilities) };
}

function shownOf({ tiers: held, heldBy, turnLimit, budget, streams, tokens, atOnce, limits }: Runtime["capabilities"]) {
  return { tiers: held, held_by: heldBy, turn_limit: turnLimit, budget, streams, tokens, at_once: atOnce, limits };
}

/** The version in the package that the program belongs to; null when it does not belong to one. */
function packageVersion(program: string): string | null {
  let directory = dirname(realpathSync(program));
  for (let level = 0; level < 4; level += 1) {
    const version = versionIn(join(directory, "package.json"));
    if (version !== null) return version;
    directory = dirname(directory);
  }
  return null;
}

function versionIn(path: string): string | null {
  try {
    const manifest = parseJson(readFileSync(path, "utf8"));
    return isObject(manifest) && typeof manifest.version === "string" ? manifest.version : null;
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return null;
  }
}

function linesOf(one: Shown): string[] {
  const { name, program, version, signed_in, install, check } = one;
  const state =
    program === null
      ? `not installed (${install})`
      : `${version ?? "unknown version"}, ${signed_in === null ? "no sign-in found" : `signed in (${signed_in})`}`;
  const isAll = one.tiers.length === Object.keys(tierTools).length;
  const held = isAll ? "all" : one.tiers.join(", ");
  return [
    `${name}: ${oneLine(state)}`,
    `  tiers: ${held}, enforced by ${one.held_by}`,
    `  turn limit: ${one.turn_limit ?? "none"}; budget: ${one.budget ?? "none"}; processes at once: ${one.at_once ?? "no limit"}`,
    `  while it runs: ${one.streams}; tokens: ${one.tokens}`,
    ...one.limits.map((limit) => `  known limit: ${limit}`),
    ...(check === undefined
      ? []
      : [`  check ${checkWords[check.state]}${check.reason === null ? "" : `: ${check.reason}`}`]),
  ];
}

// The part of `maestro doctor` about variables: which exported ones agents and commands get, and which they probably need but do not get.
// It shows names only: a value may be a secret.

import { MaestroError } from "../../errors.ts";
import { agentEnvironment, isWithheld, looksWanted, passedNames } from "../../runtimes/environment.ts";
import { namesSet } from "../../runtimes/steering.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { readEnvFiles } from "../../store/files/env-files.ts";
import { geminiHome } from "../../store/files/gemini-home.ts";
import { shellWord } from "../../text.ts";
import type { Io } from "../io.ts";
import type { Finding } from "./finding.ts";

const check = "environment";
/** Files in which projects say which variables their programs read. */
const namingFiles = [".env", ".env.example", ".env.sample", ".env.template", ".env.test", ".env.local"];
const MAX_NAMES = 40;

export function checkVariables(io: Io, { values }: ResolvedSettings): Finding[] {
  const chosen = passedNames(values.MAESTRO_PASS_ENV);
  const passed = agentEnvironment(io.env, chosen, {});
  const got: Finding = { check, level: "ok", message: `Agents and commands get ${listed(Object.keys(passed).sort())}` };
  try {
    const files = readEnvFiles(io.cwd, geminiHome(io.env), namingFiles).project;
    const named = new Set(files.flatMap(({ text }) => [...namesSet(text)]));
    const wanted = Object.keys(io.env)
      .filter((name) => io.env[name] !== undefined && !Object.hasOwn(passed, name))
      .filter((name) => (named.has(name) || looksWanted(name)) && !isWithheld(name));
    return wanted.length === 0 ? [got] : [got, notPassed(wanted.sort(), chosen)];
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return [got, { check, level: "warn", message: error.message, ...(error.hint ? { hint: error.hint } : {}) }];
  }
}

/** `chosen`: what MAESTRO_PASS_ENV names already; the command of the hint keeps it. */
function notPassed(names: readonly string[], chosen: readonly string[]): Finding {
  const list = [...chosen, ...names.slice(0, MAX_NAMES)].join(",");
  return {
    check,
    level: "ok",
    message: `Exported, but not passed to agents and commands: ${listed(names)}`,
    hint: `If they need them: export MAESTRO_PASS_ENV=${shellWord(list)}`,
  };
}

function listed(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `${names.slice(0, MAX_NAMES).join(", ") || "none of the exported variables"}${more}`;
}

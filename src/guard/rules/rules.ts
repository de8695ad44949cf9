// Applies all rules to one simple command, the most serious first, and extracts the commands from code for an interpreter.

import { readAwk } from "../programs/awk-script.ts";
import { effectsOf, hidesCode } from "../programs/code.ts";
import { judgeFind } from "../programs/find.ts";
import { judgeGit } from "../programs/git/git.ts";
import { interpretedBy } from "../programs/interpreters.ts";
import { Options } from "../programs/options.ts";
import { readSed, sedScripts } from "../programs/sed-script.ts";
import { judgeShell } from "../programs/shells.ts";
import type { Call, Inner } from "../shell/call.ts";
import { type Denial, deny } from "../verdict.ts";
import { judgeKill } from "./kill.ts";
import { judgeRemoval } from "./removal.ts";
import { judgeLoss } from "./session-loss.ts";
import { judgeOutput, judgeWritten } from "./shell-write.ts";

export function judgeCall(call: Call): Denial | undefined {
  return (
    judgeRemoval(call) ??
    judgeFind(call) ??
    judgeGit(call) ??
    judgeLoss(call) ??
    judgeKill(call) ??
    judgeGemini(call) ??
    judgeWritten(call) ??
    judgeOutput(call) ??
    judgeShell(call) ??
    judgeHidden(call)
  );
}

/** The guard is an extension, so an agent must not be able to disable it. */
function judgeGemini({ name, args }: Call): Denial | undefined {
  if (name !== "gemini") return undefined;
  const isOff = /^extensions?$|^hooks?$/.test(args[0] ?? "") && /^(?:disable|uninstall|remove)$/.test(args[1] ?? "");
  const isWithout = / (?:-e|--extensions)[ =]none(?: |$)/.test(` ${args.join(" ")}`);
  if (!isOff && !isWithout) return undefined;
  return deny(
    "sensitive-file",
    `"gemini ${args.slice(0, 2).join(" ")}" would disable the guard. Ask the user to do it.`,
  );
}

/** Code that is decoded at run time cannot be checked. */
function judgeHidden(call: Call): Denial | undefined {
  if (interpretedBy(call)?.codes.some(hidesCode) !== true) return undefined;
  return deny("unparsable", "This runs code that is decoded at run time, so it cannot be checked. Write it out.");
}

export function innerOfCode(call: Call): Inner[] {
  if (call.name === "awk") {
    const options = new Options(call.args, "FvfeilE");
    const programs = options.has("f", "--file") ? [] : options.operands.slice(0, 1);
    return programs.flatMap((program) => readAwk(program).commands.map((code) => ({ code, isGuess: true })));
  }
  if (call.name === "sed") {
    const scripts = sedScripts(call.args).scripts.flatMap((script) => readSed(script).commands);
    return scripts.map((code) => ({ code, isGuess: true }));
  }
  const interpreted = interpretedBy(call);
  if (interpreted === undefined) return [];
  const home = call.machine.home ?? "/root";
  return interpreted.codes.flatMap((code) => effectsOf(code, interpreted.language, home).commands);
}

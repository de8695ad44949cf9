// BeforeTool of the tools that the guard judges, as a bundle: checks the tier of a dispatched agent first, then asks the guard;
// when the guard denies the call, checks whether the rule applies here (C47).

import { isAbsolute } from "node:path";
import { agentTiers, deniedTools } from "../agents/tiers.ts";
import { realPath } from "../disk/real-path.ts";
import { errno, MaestroError } from "../errors.ts";
import type { Machine } from "../guard/machine.ts";
import { quickVerdict } from "../guard/quick/quick.ts";
import type { PlainCommand } from "../guard/quick/split.ts";
import { judgeFile } from "../guard/rules/file.ts";
import type { Denial, Verdict } from "../guard/verdict.ts";
import { rulesThatHold } from "../guard/where.ts";
import { DEFAULT_STATE_DIR, given, layersOf, resolveStateDirectory } from "../setting-layers.ts";
import type { Settings } from "../settings.ts";
import { runningDelegations } from "../store/files/delegations.ts";
import { hasSession } from "../store/journal/journal-file.ts";
import { locateState } from "../store/location.ts";
import { isWithoutDelegations } from "./fast-path.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { allow, denyReply, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

export interface ForCommands {
  /** The complete guard, which a call seldom needs, is a separate bundle. */
  guard: () => typeof import("./guard.ts");
  /** The commands of a line that needs no parser; none for another line. */
  plain: readonly PlainCommand[];
}

export function answerToolCall(
  input: HookInput,
  judged: "command" | "file",
  here: Surroundings,
  help: ForCommands,
): Reply {
  const tool = textValue(input.tool_name);
  const tier = here.attempt === null ? undefined : agentTiers.get(here.attempt.agent);
  if (tier !== undefined && deniedTools[tier].includes(tool)) {
    return tierReply(here.attempt?.agent ?? "", tier, tool);
  }
  const call = recordOf(input.tool_input);
  let stateDir: string | undefined;
  const ground: Machine = {
    projectRoot: here.projectRoot,
    home: here.env.HOME,
    tmpdir: here.env.TMPDIR ?? "/tmp",
    // Resolved lazily: most commands that the quick check decides write nothing.
    get stateDir() {
      stateDir ??= stateDirectory(here);
      return stateDir;
    },
    extensionRoot: here.extensionRoot,
    realpath: realPath,
    hasSession: () => hasSession(ground.stateDir),
  };
  const judge = (machine: Machine) =>
    judged === "command" ? judgeShell(call, machine, help) : judgeFile(call, machine);
  const verdict = judge(ground);
  return verdict.verdict === "allow" ? allow : answerDenial(verdict, here, ground, judge);
}

function judgeShell(call: HookInput, ground: Machine, { guard, plain }: ForCommands): Verdict {
  const isElsewhere = call.dir_path !== undefined || call.directory !== undefined;
  const quick = isElsewhere ? undefined : quickVerdict(textValue(call.command), ground, plain);
  return quick ?? guard().judgeOnMachine(call, ground);
}

/** An unreadable setting must not disable the guard, so the default applies. */
function stateDirectory(here: Surroundings): string {
  let directory = DEFAULT_STATE_DIR;
  try {
    directory = resolveStateDirectory(here.projectRoot, here.env);
  } catch (error) {
    here.log(`settings: ${error instanceof Error ? error.message : error}`);
  }
  return isAbsolute(directory) ? directory : `${here.projectRoot}/${directory}`;
}

/** `judge` judges the call again on another machine. */
function answerDenial(denial: Denial, here: Surroundings, ground: Machine, judge: (ground: Machine) => Verdict): Reply {
  const held = heldRules(here, ground);
  if (held === "none") return allow;
  const isContent = held === "damage" && denial.rule === "shell-write";
  const verdict = isContent ? judge({ ...ground, areWritesFree: true }) : denial;
  return verdict.verdict === "allow" ? allow : denyReply(`${verdict.reason} [${verdict.rule}]`);
}

/** Settings or state that cannot be read must not disable the guard: then every rule holds. */
function heldRules(here: Surroundings, { stateDir }: Machine): ReturnType<typeof rulesThatHold> {
  if (here.attempt !== null) return "all";
  try {
    return rulesThatHold({
      setting: settingOf(here),
      isAgent: () => !isWithoutDelegations(here) && runningDelegations(locationOf(here), here).ours.length > 0,
      hasSession: hasSession(stateDir),
    });
  } catch (error) {
    if (!(error instanceof MaestroError) && errno(error) === undefined) throw error;
    here.log(`guard: ${(error as Error).message}`);
    return "all";
  }
}

/** Without a value anywhere it is the default. */
function settingOf(here: Surroundings): Settings["MAESTRO_GUARD"] {
  const isSet = layersOf(here.projectRoot, here.env).some(([, values]) => given(values, "MAESTRO_GUARD") !== undefined);
  return isSet ? (require("./guard-setting.ts") as typeof import("./guard-setting.ts")).guardSetting(here) : "auto";
}

function locationOf({ projectRoot, env }: Surroundings) {
  return locateState(projectRoot, resolveStateDirectory(projectRoot, env));
}

function tierReply(agent: string, tier: string, tool: string): Reply {
  return denyReply(`${agent} is a ${tier} agent and has no ${tool}. Say in your report what should be done instead.`);
}

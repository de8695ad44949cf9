// The answer to a tool call that the guard denies, as a bundle that is loaded only then: does the rule hold here (C47), and the denial.

import { errno, MaestroError } from "../errors.ts";
import type { Machine } from "../guard/machine.ts";
import type { Denial, Verdict } from "../guard/verdict.ts";
import { rulesThatHold } from "../guard/where.ts";
import { given, layersOf, resolveStateDirectory } from "../setting-layers.ts";
import type { Settings } from "../settings.ts";
import { runningDelegations } from "../store/files/delegations.ts";
import { hasSession } from "../store/journal/journal-file.ts";
import { locateState } from "../store/location.ts";
import { allow, denyReply, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** `judge` judges the call again on another machine. */
export function answerDenial(
  denial: Denial,
  here: Surroundings,
  ground: Machine,
  judge: (ground: Machine) => Verdict,
): Reply {
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
      isAgent: () => runningDelegations(locationOf(here), here).ours.length > 0,
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

export function tierReply(agent: string, tier: string, tool: string): Reply {
  return denyReply(`${agent} is a ${tier} agent and has no ${tool}. Say in your report what should be done instead.`);
}

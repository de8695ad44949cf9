// BeforeTool of the tools that the guard judges: checks the tier of a dispatched agent first, then asks the guard.

import { isAbsolute } from "node:path";
import { agentTiers, deniedTools } from "../agents/tiers.ts";
import { realPath } from "../disk/real-path.ts";
import type { Machine } from "../guard/machine.ts";
import { quickVerdict } from "../guard/quick/quick.ts";
import { judgeFile } from "../guard/rules/file.ts";
import type { Verdict } from "../guard/verdict.ts";
import { DEFAULT_STATE_DIR, resolveStateDirectory } from "../setting-layers.ts";
import { hasSession } from "../store/journal/journal-file.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { allow, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a call seldom needs: the complete guard, and the answer to a denied call. Each is a separate bundle. */
export interface Seldom {
  guard: () => typeof import("./guard.ts");
  refusal: () => typeof import("./refusal.ts");
}

export function answerToolCall(
  input: HookInput,
  judged: "command" | "file",
  here: Surroundings,
  { guard, refusal }: Seldom,
): Reply {
  const tool = textValue(input.tool_name);
  const tier = here.attempt === null ? undefined : agentTiers.get(here.attempt.agent);
  if (tier !== undefined && deniedTools[tier].includes(tool)) {
    return refusal().tierReply(here.attempt?.agent ?? "", tier, tool);
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
    judged === "command" ? judgeShell(call, machine, guard) : judgeFile(call, machine);
  const verdict = judge(ground);
  return verdict.verdict === "allow" ? allow : refusal().answerDenial(verdict, here, ground, judge);
}

function judgeShell(call: HookInput, ground: Machine, guard: Seldom["guard"]): Verdict {
  const isElsewhere = call.dir_path !== undefined || call.directory !== undefined;
  const quick = isElsewhere ? undefined : quickVerdict(textValue(call.command), ground);
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

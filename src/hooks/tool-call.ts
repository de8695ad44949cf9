// BeforeTool of run_shell_command, write_file and replace: checks the tier of a dispatched agent, then asks the guard.

import { isAbsolute } from "node:path";
import { agentTiers, deniedTools } from "../agents/tiers.ts";
import { realPath } from "../disk/real-path.ts";
import type { Ground } from "../guard/machine.ts";
import { quickVerdict } from "../guard/quick/quick.ts";
import { judgeFile } from "../guard/rules/file.ts";
import type { Verdict } from "../guard/verdict.ts";
import { DEFAULT_STATE_DIR, resolveStateDirectory } from "../setting-layers.ts";
import { hasSession } from "../store/journal/journal-file.ts";
import { type HookInput, recordOf, textOf } from "./input.ts";
import { allow, deny, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** `guard` loads the complete guard, which is a separate bundle. */
export function judgeCall(input: HookInput, here: Surroundings, guard: () => Guard): Reply {
  const tool = textOf(input.tool_name);
  const tier = here.attempt === null ? undefined : agentTiers.get(here.attempt.agent);
  if (tier !== undefined && deniedTools[tier].includes(tool)) {
    return deny(
      `${here.attempt?.agent} is a ${tier} agent and has no ${tool}. Say in your report what should be done instead.`,
    );
  }
  const call = recordOf(input.tool_input);
  let stateDir: string | undefined;
  const ground: Ground = {
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
  const verdict = tool === "run_shell_command" ? judgeShell(call, ground, guard) : judgeFile(call, ground);
  return verdict.verdict === "allow" ? allow : deny(`${verdict.reason} [${verdict.rule}]`);
}

type Guard = typeof import("./guard.ts");

function judgeShell(call: HookInput, ground: Ground, guard: () => Guard): Verdict {
  const isElsewhere = call.dir_path !== undefined || call.directory !== undefined;
  const quick = isElsewhere ? undefined : quickVerdict(textOf(call.command), ground);
  return quick ?? guard().judgeToolCall("run_shell_command", call, ground);
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

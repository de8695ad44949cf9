// What the guard is given to judge a command of an agent behind the bridge.

import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Tier } from "../agents/tiers.ts";
import { isOwnScratch } from "../disk/own-scratch.ts";
import { realPath } from "../disk/real-path.ts";
import { judgeCommand } from "../guard/judge.ts";
import { extensionRoot } from "../program-root.ts";
import { resolveStateDirectory } from "../setting-layers.ts";

/** Null when the guard allows the command; otherwise its reason. An agent that may write files may write them with a shell. */
export function guardRefusal(command: string, cwd: string, root: string, tier: Tier): string | null {
  const { env } = process;
  const verdict = judgeCommand(command, {
    projectRoot: root,
    cwd,
    home: env.HOME || homedir(),
    tmpdir: env.TMPDIR,
    stateDir: resolve(root, resolveStateDirectory(root, env)),
    extensionRoot: extensionRoot(env),
    realpath: realPath,
    isOwnScratch,
    areWritesFree: tier === "full",
  });
  return verdict.verdict === "allow" ? null : verdict.reason;
}

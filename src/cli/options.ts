// Options that several verbs take. Data only: run/engine-options.ts combines them with the settings.

import { reviewModes } from "../session/event-parts.ts";
import type { VerbOption } from "./verb.ts";

export const json: VerbOption = { flags: "--json", meaning: "print the answer as JSON" };

export const reason: VerbOption = { flags: "--reason <text>", meaning: "reason to record" };

export const acceptOpen: VerbOption = {
  flags: "--accept-open <reason>",
  meaning: "why the user accepts requirements that are open, not met or dropped",
};

export const detach: VerbOption = {
  flags: "--detach",
  meaning: "run in a background process that outlives this terminal",
};

export const dashboardBeside: VerbOption = {
  flags: "--dashboard",
  meaning: "serve a read-only page of the run on 127.0.0.1 until the run ends",
};

export const archivedSession: VerbOption = { flags: "--session <id>", meaning: "id of an archived session" };

export const attemptWithChanges: VerbOption = {
  flags: "--attempt <n>",
  meaning: "number of the attempt (default: the latest with changes)",
};

export const maxConcurrent: VerbOption = {
  flags: "--max-concurrent <n>",
  meaning: "maximum number of agents at the same time; 0: no limit",
};

export const grace: VerbOption = {
  flags: "--grace <time>",
  meaning: "grace period before a stopped agent is killed",
  default: "5s",
};

export const validationTimeout: VerbOption = {
  flags: "--validation-timeout <time>",
  meaning: "time limit of a validation command",
  default: "10m",
};

export const passEnv: VerbOption = {
  flags: "--pass-env <names>",
  meaning: "exported variables to pass besides the allowed ones (A,APP_*)",
  isRepeatable: true,
};

export const budget: VerbOption = {
  flags: "--budget <amounts>",
  meaning: "the most that the session may spend: 5usd, 2Mtok, 300req; the session pauses before it would spend more",
  isRepeatable: true,
};

export const passwordFile: VerbOption = {
  flags: "--password-file <path>",
  meaning: "file with the password of the queue (default: MAESTRO_QUEUE_PASSWORD)",
};

/** What the verbs take that run a whole plan. */
export const engineOptions: readonly VerbOption[] = [
  { flags: "--mode <mode>", meaning: "execution mode", choices: ["parallel", "sequential", "ask"] },
  {
    flags: "--review <when>",
    meaning: "review the work at the end, after each batch, or before each phase's work is applied (default: end)",
    choices: reviewModes,
  },
  maxConcurrent,
  { flags: "--workers <url>", meaning: "run attempts on the workers of this queue: redis://host:6379" },
  { flags: "--exchange <url>", meaning: "git repository that carries orders to workers, and their results" },
  passwordFile,
  { flags: "--timeout <time>", meaning: "time limit of an attempt: 90s, 10m (a bare number: minutes)" },
  { flags: "--stagger <time>", meaning: "time between two launches: 5s (a bare number: seconds)" },
  budget,
  { flags: "--model <model>", meaning: "model for all agents" },
  { flags: "--runtime <name>", meaning: "program that plays the agents", default: "gemini" },
  {
    flags: "--fallback <names>",
    meaning:
      "runtimes that take over, in this order, when one has no quota left, cannot sign in or is not installed: claude,codex",
  },
  { flags: "--allow-unheld", meaning: "let a runtime play agents whose tier it cannot enforce" },
  { flags: "--accept-runtimes", meaning: "use runtimes that files of the project describe" },
  {
    flags: "--isolation <how>",
    meaning: "a git worktree for each attempt, or one tree for all (default: worktrees when attempts run in parallel)",
    choices: ["worktree", "none"],
  },
  {
    flags: "--ownership <how>",
    meaning: "reject or warn about changes outside a phase's files (default: strict in parallel mode, else warn)",
    choices: ["strict", "warn"],
  },
  { flags: "--sandbox", meaning: "let agents write only to their worktree (Linux with bubblewrap)" },
  { flags: "--allow-overlap", meaning: "let parallel phases own the same file; their changes are merged" },
  { flags: "--keep-going", meaning: "after a failure, run the phases that do not depend on it" },
  grace,
  validationTimeout,
  { flags: "--quota-wait <time>", meaning: "longest wait for quota without progress", default: "60m" },
  passEnv,
  { flags: "--phases <ids>", meaning: "run only these phases: 1,2" },
  { flags: "--keep-open", meaning: "do not archive the completed session" },
  { flags: "--leave-open", meaning: "when all phases are done, do not complete the session: a final review follows" },
  { flags: "-y, --yes", meaning: "give consent, archive and accept the proposed next step without asking" },
  { flags: "--json", meaning: "print events as they happen, as JSON Lines" },
  { flags: "--ready-fd <fd>", meaning: "", isHidden: true },
];

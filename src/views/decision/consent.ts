// What the user reads before agents run on their own: the two options of design document S0, section 6, word for word, and what they mean
// here.

import type { ExecutionProfile } from "../../plan/profile.ts";
import { roughly } from "../text/duration.ts";

const options = [
  "Option 1: Parallel Dispatch (faster)",
  "- Parallelizable phases run as concurrent `gemini` CLI processes",
  "- Agents operate in autonomous mode (`--yolo`): all tool calls auto-approved without confirmation",
  "- User reviews results after each batch, not during execution",
  "- Best for: well-defined tasks with clear file ownership",
  "",
  "Option 2: Sequential Delegation (safer)",
  "- Each phase executes one at a time via `delegate_to_agent`",
  "- Standard tool approval rules apply",
  "- Full visibility and control between phases",
  "- Best for: exploratory tasks, unfamiliar codebases, security-sensitive work",
];

/** `program` is what the engine starts for each agent; `notes` are remarks about the project. */
export function consentLines(profile: ExecutionProfile, program: string, notes: readonly string[] = []): string[] {
  const { estimated_minutes: minutes, estimate_basis: basis, total_phases: total } = profile;
  const [parallel, sequential] = [minutes.parallel, minutes.sequential].map((each) => roughly(each * 60_000));
  return [
    ...options,
    "",
    `Here both options run \`${program} --approval-mode=yolo\`: option 2 runs the same processes, also unattended, one at a time.`,
    "To approve tool calls yourself, run the plan in Gemini CLI: /maestro:execute.",
    `Estimated wall time: ${parallel} parallel, ${sequential} sequential (${basis} of ${total} phases have an estimate).`,
    ...(notes.length === 0 ? [] : ["", ...notes]),
  ];
}

// What the user reads before agents run on their own: the two options of design document S0, section 6, with the review that a run really
// has (decision C41), and what they mean here.

import type { ExecutionProfile } from "../../plan/profile.ts";
import type { ReviewMode } from "../../session/events.ts";
import { roughly } from "../text/duration.ts";

/** When the user sees the results. */
const reviews: Record<ReviewMode, string> = {
  end: "- User reviews results at the end of the run, not during execution",
  batch: "- User reviews results after each batch: the next one starts when they are approved (`maestro approve`)",
  phase: "- User reviews the work of each phase before it is applied to the project (`maestro approve`)",
};

/** A program that the engine starts, and its option for calls without approval. */
export interface Started {
  program: string;
  unattended: string;
}

const options = (names: string, review: ReviewMode) => [
  "Option 1: Parallel Dispatch (faster)",
  `- Parallelizable phases run as concurrent ${names} CLI processes`,
  "- Agents operate in autonomous mode (`--yolo`): all tool calls auto-approved without confirmation",
  reviews[review],
  "- Best for: well-defined tasks with clear file ownership",
  "",
  "Option 2: Sequential Delegation (safer)",
  "- Each phase executes one at a time via `invoke_agent`",
  "- Standard tool approval rules apply",
  "- Full visibility and control between phases",
  "- Best for: exploratory tasks, unfamiliar codebases, security-sensitive work",
];

/** `programs`: what the engine starts for agents; `notes`: remarks about the project. */
export function consentLines(
  profile: ExecutionProfile,
  programs: readonly Started[],
  notes: readonly string[] = [],
  review: ReviewMode = "end",
): string[] {
  const { estimated_minutes: minutes, estimate_basis: basis, total_phases: total } = profile;
  const [parallel, sequential] = [minutes.parallel, minutes.sequential].map((each) => roughly(each * 60_000));
  const quoted = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(", ");
  const commands = programs.map(({ program, unattended }) => `${program} ${unattended}`.trimEnd());
  return [
    ...options(quoted(programs.map(({ program }) => program)), review),
    "",
    `Here both options run ${quoted(commands)}: option 2 runs the same processes, also unattended, one at a time.`,
    "To approve tool calls yourself, run the plan in Gemini CLI: /maestro:execute.",
    `Estimated wall time: ${parallel} parallel, ${sequential} sequential (${basis} of ${total} phases have an estimate).`,
    ...(notes.length === 0 ? [] : ["", ...notes]),
  ];
}

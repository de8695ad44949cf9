// The answer to a failed call: a code for programs, a message and a hint for the model. Pure.

import { type ErrorCode, errno, MaestroError, reasonOf } from "../errors.ts";

export interface ToolFailure {
  error: ErrorCode | "unknown_tool" | "internal";
  message: string;
  hint?: string;
  /** The validation errors of a plan. */
  errors?: readonly object[];
  /** What a baseline runs. */
  commands?: readonly string[];
}

type Details = Pick<ToolFailure, "errors" | "commands">;

/** An error with structured details. */
export class Refusal extends MaestroError {
  readonly details: Details;

  constructor(code: ErrorCode, message: string, options: { hint?: string; details: Details }) {
    super(code, message, { hint: options.hint });
    this.details = options.details;
  }
}

/** `internal` means a defect in Maestro, which the caller must log. */
export function failureOf(error: unknown): ToolFailure {
  if (error instanceof MaestroError) {
    const hint = error.hint === undefined ? {} : { hint: forTools(error.hint) };
    return { error: error.code, message: error.message, ...hint, ...(error instanceof Refusal ? error.details : {}) };
  }
  if (errno(error) !== undefined) return { error: "io", message: reasonOf(error) };
  const message = error instanceof Error ? error.message : String(error);
  return {
    error: "internal",
    message: `This is a defect in Maestro: ${message}`,
    hint: "Tell the user. The session is unchanged.",
  };
}

/** Hints that name command-line options, and their wording for MCP tools. */
const translations: readonly (readonly [string | RegExp, string])[] = [
  ['with "maestro session revise", or restore it.', 'with maestro_session_write {"action":"revise"}, or restore it.'],
  ['then run "maestro session revise".', 'then call maestro_session_write {"action":"revise"}.'],
  ["Pass --user-decision when", "Pass user_decision: true when"],
  [
    'Start one with "maestro run <plan>", or create one with "maestro session create <plan>".',
    'Create one with maestro_session_write {"action":"create"}.',
  ],
  ['Continue it ("maestro status" shows its progress)', "Continue it (maestro_session_read shows its progress)"],
  [
    'Run "maestro handoff check" on it.',
    "Let the agent report again, with the Task Report and the Downstream Context.",
  ],
  [
    'Answer each with "maestro session requirement <id> met --evidence <text>".',
    'Answer each with maestro_session_write {"action":"answer_requirement"}.',
  ],
  ['give their reason: --accept-open "reason" (accept_open in the tool).', "give their reason in accept_open."],
  [/"maestro status"/g, "maestro_session_read"],
  [/"maestro resume"/g, "maestro_run"],
  [/"maestro (approve|reject|retry|skip|stop|abort)\b[^"]*"/g, 'maestro_decide {"action":"$1"}'],
];

function forTools(hint: string): string {
  return translations.reduce((text, [option, tool]) => text.replace(option, tool), hint);
}

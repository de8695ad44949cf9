// What is answered when a call cannot be carried out: a code for programs, a message and a hint for the model. Pure.

import { type ErrorCode, errno, MaestroError, reasonOf } from "../errors.ts";

export interface ToolFailure {
  error: ErrorCode | "unknown_tool" | "internal";
  message: string;
  hint?: string;
  /** What the validator has against a plan. */
  errors?: readonly object[];
}

/** A refusal that carries more than words. */
export class Refusal extends MaestroError {
  readonly details: Pick<ToolFailure, "errors">;

  constructor(code: ErrorCode, message: string, options: { hint?: string; details: Pick<ToolFailure, "errors"> }) {
    super(code, message, { hint: options.hint });
    this.details = options.details;
  }
}

/** `internal`: a defect of ours, to be complained of. */
export function failureOf(error: unknown): ToolFailure {
  if (error instanceof MaestroError) {
    const hint = error.hint === undefined ? {} : { hint: inOurWords(error.hint) };
    return { error: error.code, message: error.message, ...hint, ...(error instanceof Refusal ? error.details : {}) };
  }
  if (errno(error) !== undefined) return { error: "io", message: reasonOf(error) };
  const message = error instanceof Error ? error.message : String(error);
  return {
    error: "internal",
    message: `This is a defect in Maestro: ${message}`,
    hint: "Tell the user. The session is as it was.",
  };
}

/** Hints that speak of the command line, as this front door says it. */
const translations: readonly (readonly [string, string])[] = [
  ["Pass --user-decision when", "Pass user_decision: true when"],
  ['Create one with "maestro session create <plan>".', 'Create one with maestro_session_write {"action":"create"}.'],
  [
    'Go on with it ("maestro status" shows where it stands)',
    "Go on with it (maestro_session_read shows where it stands)",
  ],
  [
    'Run "maestro handoff check" on it.',
    "Let the agent report again, with the Task Report and the Downstream Context.",
  ],
];

function inOurWords(hint: string): string {
  return translations.reduce((said, [theirs, ours]) => said.replace(theirs, ours), hint);
}

// What a runtime's output contains in any format: the agent's text, and what went wrong.
import { type ErrorType, errorTypeOf } from "./error-type.ts";
import { isObject } from "./json.ts";
import type { Tokens } from "./tokens.ts";

export type ParseError =
  | "empty_output"
  | "not_json"
  | "truncated_json"
  | "no_response"
  | "empty_response"
  | "no_result_event";

export interface AgentAnswer {
  readonly text: string;
  readonly tokens: Tokens | null;
  readonly parseError: ParseError | null;
  readonly errorType: ErrorType | null;
}

/** The error type of an `error` member: an object, a bare message, or nothing. */
export function errorTypeOfMember(error: unknown): ErrorType | null {
  if (error === undefined || error === null || error === false) return null;
  if (!isObject(error)) return errorTypeOf({ message: error });
  const { code, type, message } = error;
  return errorTypeOf({ code: code ?? undefined, type, message });
}

export function unreadable(parseError: ParseError, errorType: ErrorType | null = null): AgentAnswer {
  return { text: "", tokens: null, parseError, errorType: errorType ?? "runtime" };
}

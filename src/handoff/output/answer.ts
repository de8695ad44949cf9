// What a runtime's output contains in any format: the agent's text, and what went wrong.

import { isObject } from "../../shape.ts";
import { type ErrorClass, errorTypeOf } from "./error-type.ts";
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
  readonly errorType: ErrorClass | null;
}

/** The error type of an `error` member: an object, a bare message, or nothing. */
export function errorTypeOfMember(error: unknown): ErrorClass | null {
  if (error === undefined || error === null || error === false) return null;
  if (!isObject(error)) return errorTypeOf({ message: error });
  const { code, type, message } = error;
  return errorTypeOf({ code: code ?? undefined, type, message });
}

export function unreadable(parseError: ParseError, errorType: ErrorClass | null = null): AgentAnswer {
  return { text: "", tokens: null, parseError, errorType: errorType ?? "runtime" };
}

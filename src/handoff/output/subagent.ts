// Reads the text that Gemini CLI's `invoke_agent` returns: a subagent's result in a wrapper that says how it ended.
import { type ErrorClass, errorTypeOf } from "./error-type.ts";

export interface SubagentResult {
  readonly text: string;
  /** Null for text without a wrapper, and for a subagent that reached its goal. */
  readonly errorType: ErrorClass | null;
}

const finished =
  /^\s*Subagent '[^'\n]{0,200}' finished\.[ \t]*\nTermination Reason:[ \t]*(\w+)[ \t]*\nResult:[ \t]*(?:\n|$)/;
const failed = /^\s*Subagent '[^'\n]{0,200}' failed\. Error:/;
const hookNote = /^\[System\] Tool input parameters [^\n]{0,200}were modified by a hook before execution\.$/m;

export function unwrapSubagent(text: string): SubagentResult {
  if (failed.test(text)) return { text: "", errorType: errorTypeOf({ message: text }) };
  const wrapper = finished.exec(text);
  if (wrapper === null) return { text, errorType: null };
  const [head, reason] = wrapper;
  const result = text.slice(head.length).replace(hookNote, "");
  if (reason === "GOAL") return { text: result, errorType: null };
  return { text: result, errorType: reason === "TIMEOUT" ? "timeout" : "runtime" };
}

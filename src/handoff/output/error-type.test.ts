import { expect, test } from "vitest";
import { checkHandoff } from "../handoff.ts";
import { errorTypeOf } from "./error-type.ts";

test.each([
  [{ code: 429 }, "quota"],
  [{ code: "429" }, "quota"],
  [{ code: "RESOURCE_EXHAUSTED" }, "quota"],
  [{ message: "429 RESOURCE_EXHAUSTED" }, "quota"],
  [{ message: "You exceeded your current quota" }, "quota"],
  [{ message: "Rate limit reached" }, "quota"],
  [{ message: "rate_limit_error" }, "quota"],
  [{ message: "Too Many Requests" }, "quota"],
  [{ message: "got status: 429" }, "quota"],
  [{ message: '[API Error: {"error":{"code":429}}]' }, "quota"],
  [{ code: 500, message: "quota exceeded, request timed out" }, "quota"],
  [{ exitCode: 173 }, "quota"],
  [{ code: 401 }, "auth"],
  [{ code: 41 }, "auth"],
  [{ exitCode: 41 }, "auth"],
  [{ exitCode: 145 }, "auth"],
  [{ type: "FatalAuthenticationError", message: "x" }, "auth"],
  [{ message: "UNAUTHENTICATED" }, "auth"],
  [{ code: 400, message: "API key not valid. Please pass a valid API key." }, "auth"],
  [{ exitCode: 124 }, "timeout"],
  [{ message: "The request timed out" }, "timeout"],
  [{ message: "ETIMEDOUT: connection timeout" }, "timeout"],
  [{ code: 504, message: "DEADLINE_EXCEEDED" }, "timeout"],
  [{ type: "file_conflict" }, "file_conflict"],
  [{ type: "validation" }, "validation"],
  [{ type: "dependency" }, "dependency"],
  [{ code: 403 }, "runtime"],
  [{ code: 500 }, "runtime"],
  [{ exitCode: 1 }, "runtime"],
  [{ exitCode: 53, message: "FatalTurnLimitedError" }, "runtime"],
  [{ exitCode: 244 }, "runtime"],
  [{ exitCode: null }, "runtime"],
  [{ exitCode: 1, message: "Error on line 429 of a.ts" }, "runtime"],
  [{ message: { toString: null } }, "runtime"],
  [{ code: { toString: null } }, "runtime"],
  [{ code: null }, "runtime"],
  [{}, "runtime"],
  [{ exitCode: 0 }, null],
  [{ exitCode: 0, message: "rate limit reached, retried" }, null],
] as const)("%j is %s (K158)", (failure, type) => {
  expect(errorTypeOf(failure)).toBe(type);
});

const report = `## Task Report
- Status: success
- Files Created: none
- Files Modified: none
- Files Deleted: none

## Downstream Context
- Warnings: none`;

test.each([
  [`Subagent 'coder' finished.\nTermination Reason: GOAL\nResult:\n${report}`, "success", null],
  [`Subagent 'coder' finished.\r\nTermination Reason: GOAL\r\nResult:\r\n${report}`, "success", null],
  [`Subagent 'coder' finished.\nTermination Reason: MAX_TURNS\nResult:\n${report}`, "partial", "runtime"],
  [`Subagent 'coder' finished.\nTermination Reason: TIMEOUT\nResult:\n${report}`, "partial", "timeout"],
  [
    `Subagent 'coder' finished.\nTermination Reason: ABORTED\nResult:\n${report.replace("success", "failure")}`,
    "failure",
    "runtime",
  ],
  [`Subagent 'coder' finished.\nTermination Reason: ERROR_NO_COMPLETE_TASK_CALL\nResult:\nI gave up.`, null, "runtime"],
  [`Subagent 'coder' failed. Error: {"code":429,"status":"RESOURCE_EXHAUSTED"}`, null, "quota"],
  [`Subagent 'coder' failed. Error: ${report}`, null, "runtime"],
] as const)("a native delegation that ended with %j has status %s and error %s", (text, status, error_type) => {
  expect(checkHandoff(text)).toMatchObject({ status, error_type, valid: error_type === null });
});

test("the CLI's note about a rewritten prompt is not part of the report", () => {
  const note = "[System] Tool input parameters (prompt) were modified by a hook before execution.";
  const check = checkHandoff(`Subagent 'coder' finished.\nTermination Reason: GOAL\nResult:\n${report}\n\n${note}`);
  expect(check).toMatchObject({ valid: true, downstream_context: { integration_points: [], warnings: [] } });
});

// Words issues: one line each, with text from the plan escaped and shortened.
import { stripControls } from "../text.ts";
import type { ErrorIssueCode, Findings, Issue, WarningIssueCode } from "./plan.ts";

const MAX_SHOWN = 60;
/** Limit for errors and for warnings each. A hostile plan could otherwise cause millions. */
export const MAX_ISSUES = 10_000;

export function reportError(
  findings: Findings,
  code: ErrorIssueCode,
  phase: string | undefined,
  message: string,
  suggestion?: string,
): void {
  add(findings.errors, issue(code, phase, message, suggestion));
}

export function addWarning(
  findings: Findings,
  code: WarningIssueCode,
  phase: string | undefined,
  message: string,
  suggestion?: string,
): void {
  add(findings.warnings, issue(code, phase, message, suggestion));
}

/** Text from the plan, quoted, for use inside a message. */
export function quotedValue(text: string): string {
  return `"${shownValue(text)}"`;
}

/** Like `quoted`, without the quotes. */
export function shownValue(text: string, max = MAX_SHOWN): string {
  // Cuts before cleaning, so that a text of megabytes does not cost megabytes of work.
  const line = inOneLine(text.slice(0, max * 4));
  return line.length > max ? `${line.slice(0, max - 3)}...` : line;
}

export function inOneLine(text: string): string {
  return stripControls(text).replace(/\s+/g, " ").trim();
}

function add<Code>(issues: Issue<Code>[], next: Issue<Code>): void {
  if (issues.length < MAX_ISSUES) issues.push(next);
  else if (issues.length === MAX_ISSUES) {
    issues.push(
      issue(next.code, undefined, `There are more issues; only the first ${MAX_ISSUES} are listed`, undefined),
    );
  }
}

function issue<Code>(
  code: Code,
  phase: string | undefined,
  message: string,
  suggestion: string | undefined,
): Issue<Code> {
  return {
    code,
    ...(phase === undefined ? {} : { phase }),
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

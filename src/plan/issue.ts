// How an issue is worded: one line, with whatever comes from the plan made harmless and short.
import { stripControls } from "../text.ts";
import type { ErrorIssueCode, Findings, Issue, WarningIssueCode } from "./plan.ts";

const MAX_SHOWN = 60;
/** Of each kind, errors and warnings. A hostile plan could otherwise make millions. */
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

/** Text of the plan, quoted, for the inside of a message. */
export function quotedValue(text: string): string {
  return `"${shownValue(text)}"`;
}

/** The same without quotes. */
export function shownValue(text: string, max = MAX_SHOWN): string {
  // Cut before cleaning: a text of megabytes must not cost megabytes of work.
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

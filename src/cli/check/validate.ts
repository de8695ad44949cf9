// maestro validate <plan>: checks a plan and draws how it would run.

import { drawPlan } from "../../plan/draw.ts";
import type { ValidationReport } from "../../plan/validate.ts";
import { settingsOf, validateFile } from "../context.ts";
import { type Io, printJson } from "../io.ts";

export async function validate(io: Io, path: string, options: { json?: boolean }): Promise<number> {
  const { report } = await validateFile(io, settingsOf(io), path);
  if (options.json) {
    const { plan: _, mergeable: __, ...published } = report;
    printJson(io, published);
  } else {
    io.out(`${textLines(path, report).join("\n")}\n`);
  }
  return report.valid ? 0 : 2;
}

function textLines(path: string, report: ValidationReport): string[] {
  const issues = [
    ...report.errors.map((issue) => `  error   ${issue.code}: ${issue.message}${suggestion(issue)}`),
    ...report.warnings.map((issue) => `  warning ${issue.code}: ${issue.message}${suggestion(issue)}`),
  ];
  if (report.plan === undefined) {
    const count = report.errors.length;
    return [`${path} is not a valid plan: ${count} ${count === 1 ? "error" : "errors"}`, ...issues];
  }
  return [...drawPlan(report.plan, report), ...(issues.length === 0 ? [] : ["", ...issues])];
}

function suggestion(issue: { message: string; suggestion?: string }): string {
  if (issue.suggestion === undefined || issue.message.includes(issue.suggestion)) return "";
  return ` (did you mean "${issue.suggestion}"?)`;
}

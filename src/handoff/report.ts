// Reads what an agent's Task Report and Downstream Context say. Undeclared is null; nothing is invented.
import { contextOf } from "./context.ts";
import type { DownstreamContext } from "./downstream-context.ts";
import { type ReportKey, reportKey } from "./keys.ts";
import { type Field, type Item, paragraphsOf, readFields } from "./markdown/fields.ts";
import { findSections, type Section } from "./markdown/sections.ts";
import { isNone } from "./markdown/words.ts";
import { pathsOf } from "./paths.ts";
import { type Status, statusOf, type Validation, validationOf } from "./status.ts";

export const fileKeys = ["files_created", "files_modified", "files_deleted"] as const;
export type FileKey = (typeof fileKeys)[number];

export interface TaskReport {
  readonly found: boolean;
  readonly status: Status | null;
  readonly files: Record<FileKey, string[] | null>;
  readonly context: DownstreamContext | null;
  readonly validation: Validation | undefined;
  /** The validation field as written. */
  readonly validationText: string;
  readonly summary: string;
  /** Both sections as written. */
  readonly text: string;
}

/** `text` must not contain control characters. */
export function readReport(text: string): TaskReport {
  const { report, context } = findSections(text);
  const { fields } = readFields<ReportKey>(report?.lines ?? [], reportKey);
  const validation = validationOf(itemsOf(fields, "validation"));
  const claimed = statusOf(fields.filter(({ key }) => key === "status").map(({ items }) => items));
  return {
    found: report !== null,
    // A report with failed validation is not a success, whatever its status says.
    status: claimed === "success" && validation === "fail" ? "partial" : claimed,
    files: {
      files_created: declaredPaths(fields, "files_created"),
      files_modified: declaredPaths(fields, "files_modified"),
      files_deleted: declaredPaths(fields, "files_deleted"),
    },
    context: context === null ? null : contextOf(context.lines),
    validation,
    validationText: textOf(fields, "validation"),
    summary: textOf(fields, "summary"),
    text: report === null ? "" : spanOf(text, report, context),
  };
}

/** A file field may appear several times, for example once per file; the paths add up. */
function declaredPaths(fields: readonly Field<ReportKey>[], key: FileKey): string[] | null {
  const declared = fields.filter((field) => field.key === key).map(({ items }) => pathsOf(items));
  const paths = declared.filter((one) => one !== null);
  if (paths.length > 0) return [...new Set(paths.flat())];
  // "Files Changed: none" covers all three fields.
  const changed = itemsOf(fields, "files_changed");
  return changed.length > 0 && changed.every((item) => isNone(item.text)) ? [] : null;
}

function itemsOf(fields: readonly Field<ReportKey>[], key: ReportKey): Item[] {
  return fields.filter((field) => field.key === key).flatMap(({ items }) => items);
}

function textOf(fields: readonly Field<ReportKey>[], key: ReportKey): string {
  return paragraphsOf(itemsOf(fields, key))
    .map((paragraph) => paragraph.text)
    .join("\n");
}

function spanOf(text: string, report: Section, context: Section | null): string {
  const start = Math.min(report.start, context?.start ?? report.start);
  const end = Math.max(report.end, context?.end ?? report.end);
  return text.slice(start, end).trim();
}

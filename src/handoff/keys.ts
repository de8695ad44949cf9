// The field names of a handoff and the variants that agents write. Names are compared by their letters alone.
import type { ContextKey } from "./downstream-context.ts";
import type { Title } from "./markdown/titles.ts";

export type ReportKey =
  | "status"
  | "files_created"
  | "files_modified"
  | "files_deleted"
  | "files_changed"
  | "validation"
  | "summary"
  | "other";

const reportNames: Record<ReportKey, string> = {
  status: "status taskstatus overallstatus finalstatus",
  files_created: "filescreated filecreated createdfiles filesadded addedfiles newfiles",
  files_modified: "filesmodified filemodified modifiedfiles filesupdated updatedfiles filesedited editedfiles",
  files_deleted: "filesdeleted filedeleted deletedfiles filesremoved removedfiles",
  files_changed: "fileschanged changedfiles filechanges files filescreatedmodifieddeleted fileschanges",
  validation: "validation validationresult validationresults validationstatus",
  summary: "summary",
  // Listed so that their headings do not end the report.
  other:
    "objective objectiveachieved task phase agent notes errors issues issuesencountered decisions decisionsmade scopedeviations validationoutput nextsteps tests details",
};

/** Names of the parts of a "Files Changed" list; too common to be a field anywhere else. */
const changeNames: Partial<Record<ReportKey, string>> = {
  files_created: "created added new",
  files_modified: "modified updated changed edited",
  files_deleted: "deleted removed",
};

const contextNames: Record<ContextKey, string> = {
  key_interfaces_introduced: "keyinterfacesintroduced keyinterfaces interfacesintroduced newinterfaces interfaces",
  patterns_established: "patternsestablished patterns",
  integration_points: "integrationpoints integrationpoint",
  assumptions: "assumptions assumptionsmade keyassumptions",
  warnings: "warnings warning",
};

const byReportName = byName(reportNames);
const byChangeName = byName(changeNames);
const byContextName = byName(contextNames);

/** `inChanges` is true inside a "Files Changed" list. */
export function reportKey(letters: string, inChanges: boolean): ReportKey | null {
  return byReportName.get(letters) ?? (inChanges ? byChangeName.get(letters) : undefined) ?? null;
}

export function contextKey(letters: string): ContextKey | null {
  return byContextName.get(letters) ?? null;
}

/** Whether a heading of that name belongs to the section, at any level. */
export function belongsTo(section: Title, letters: string): boolean {
  return section === "report" ? byReportName.has(letters) : byContextName.has(letters);
}

function byName<K extends string>(names: Partial<Record<K, string>>): Map<string, K> {
  const keys = Object.keys(names) as K[];
  return new Map(keys.flatMap((key) => (names[key] ?? "").split(" ").map((name) => [name, key] as const)));
}

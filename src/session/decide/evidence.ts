// What an agent says it has done, in the form in which it is recorded. Pure; engine, hooks and front doors record by it.

import type { Handoff } from "../../handoff/handoff.ts";
import type { ContextRecord, HandoffRecord } from "../events.ts";
import type { FileLists } from "./operation.ts";

export interface ReportedWork {
  handoff: HandoffRecord;
  files: FileLists;
}

export interface Recording {
  projectRoot: string;
  /** Takes secrets out of what is written down. */
  redact: (text: string) => string;
}

/** Claims are recorded as paths of the project; agents are told to use absolute ones. */
export function reportedWork({ projectRoot, redact }: Recording, { check, summary }: Handoff): ReportedWork {
  const inside = (paths: readonly string[]) => paths.map((path) => insideProject(projectRoot, path));
  const { status, missing } = check;
  const context = Object.entries(check.downstream_context).map(([key, lines]) => [key, lines.map(redact)]);
  const downstream_context: ContextRecord = Object.fromEntries(context);
  return {
    handoff: { status, missing, summary: redact(summary), downstream_context },
    files: {
      created: inside(check.files_created),
      modified: inside(check.files_modified),
      deleted: inside(check.files_deleted),
    },
  };
}

/** `path` relative to the project when it lies in it; as it is otherwise. */
export function insideProject(projectRoot: string, path: string): string {
  return path.startsWith(`${projectRoot}/`) ? path.slice(projectRoot.length + 1) : path;
}

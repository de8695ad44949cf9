// Converts an agent's report into the form in which the engine, the hooks, the command line and the MCP server record it. Pure.

import type { Handoff } from "../../handoff/handoff.ts";
import type { ContextRecord, HandoffRecord } from "../events.ts";
import type { FileLists } from "./operation.ts";

export interface ReportedWork {
  handoff: HandoffRecord;
  files: FileLists;
}

export interface Recording {
  projectRoot: string;
  /** Removes secrets from text that is recorded. */
  redact: Redact;
}

type Redact = (text: string) => string;

/** Records claimed files as project paths, although the prompts ask agents to report absolute ones. */
export function reportedWork({ projectRoot, redact }: Recording, { check, summary, ...claim }: Handoff): ReportedWork {
  const inside = (paths: readonly string[]) => paths.map((path) => insideProject(projectRoot, path));
  const { status, missing } = check;
  const context = Object.entries(check.downstream_context).map(([key, lines]) => [key, lines.map(redact)]);
  const downstream_context: ContextRecord = Object.fromEntries(context);
  return {
    handoff: { status, missing, summary: redact(summary), ...claimed(claim, redact), downstream_context },
    files: {
      created: inside(check.files_created),
      modified: inside(check.files_modified),
      deleted: inside(check.files_deleted),
    },
  };
}

/** The limit is more than a line about commands needs. */
const LONGEST_CLAIM = 2_000;

function claimed({ validation, validationText }: Pick<Handoff, "validation" | "validationText">, redact: Redact) {
  const text = redact(validationText).slice(0, LONGEST_CLAIM);
  return text === "" ? {} : { validation: { result: validation ?? null, text } };
}

/** `path` relative to the project if it is inside it; otherwise unchanged. */
export function insideProject(projectRoot: string, path: string): string {
  return path.startsWith(`${projectRoot}/`) ? path.slice(projectRoot.length + 1) : path;
}

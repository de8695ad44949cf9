// Renders a session as active-session.md: the front matter and the body of design document S2, key for key. Text only; strings are JSON
// strings, which every YAML parser reads unchanged.

import type { PhaseId } from "../../ids.ts";
import type { ContextRecord, ErrorRecord } from "../../session/events.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { isUsageKnown } from "../report/reporting.ts";
import { visible } from "../text/visible.ts";
import { changeItems, evidenceItems, warningSection } from "./session-view-work.ts";

const MAX_OUTPUT_CHARS = 4000;

const statusTitles: Record<SessionPhase["status"], string> = {
  pending: "Pending",
  in_progress: "In Progress",
  completed: "Completed",
  failed: "Failed",
  skipped: "Skipped",
  aborted: "Aborted",
};

/** The two parts of the document that show one phase. */
export interface PhaseText {
  fields: string;
  body: string;
}

/** The whole document, without the marker that the store adds. `known` keeps the text of phases; delete the entry of one that changes. */
export function renderSession(session: Session, known: Map<PhaseId, PhaseText> = new Map()): string {
  const head: string[] = ["---"];
  frontMatter(session, head);
  const texts = session.phases.map((phase) => textOf(phase, known));
  const fields = [escaped(head.join("\n")), ...texts.map((text) => text.fields)].join("\n");
  const title = `\n# ${oneLine(session.title)} Orchestration Log`;
  const body = [visible(title), ...texts.map((text) => text.body), visible(notes(session))].join("\n");
  return `${fields}\n---\n${body}`;
}

function textOf(phase: SessionPhase, known: Map<PhaseId, PhaseText>): PhaseText {
  const before = known.get(phase.id);
  if (before !== undefined) return before;
  const fields: string[] = [];
  const body: string[] = [];
  phaseFields(phase, fields);
  phaseBody(phase, body);
  // Escapes each part in one pass, because there may be a hundred thousand names.
  const text = { fields: escaped(fields.join("\n")), body: visible(body.join("\n")) };
  known.set(phase.id, text);
  return text;
}

/** Escapes control characters that JSON allows unescaped, because reading the file back strips bare ones. */
function escaped(fields: string): string {
  return fields.replace(/[\u007f-\u009f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

function notes(session: Session): string {
  const lines: string[] = session.notes.length === 0 ? [] : ["", "## Notes", ""];
  for (const note of session.notes) lines.push(`- ${note.ts}${where(note)} ${oneLine(note.text)}`);
  lines.push("");
  return lines.join("\n");
}

function frontMatter(session: Session, lines: string[]): void {
  const { total_input, total_output, total_cached } = session.token_usage;
  // Unknown is never 0. A reader takes null for no entry.
  const isKnown = isUsageKnown(session);
  const total = (count: number) => (isKnown ? count : null);
  lines.push(
    `session_id: ${quote(session.session_id)}`,
    `created: ${quote(session.created)}`,
    `updated: ${quote(session.updated)}`,
    `status: ${quote(session.status)}`,
    `design_document: ${quote(session.design_document)}`,
    `implementation_plan: ${quote(session.implementation_plan)}`,
    `execution_mode: ${quote(session.execution_mode)}`,
    `current_phase: ${session.current_phase === null ? "null" : showId(session.current_phase)}`,
    `total_phases: ${session.total_phases}`,
    "",
    "token_usage:",
    `  total_input: ${total(total_input)}`,
    `  total_output: ${total(total_output)}`,
    `  total_cached: ${total(total_cached)}`,
  );
  const agents = Object.entries(session.token_usage.by_agent);
  lines.push(agents.length === 0 ? "  by_agent: {}" : "  by_agent:");
  for (const [agent, used] of agents) {
    lines.push(`    ${quote(agent)}:`);
    lines.push(`      input: ${used.input}`, `      output: ${used.output}`, `      cached: ${used.cached}`);
  }
  lines.push("", session.phases.length === 0 ? "phases: []" : "phases:");
}

function phaseFields(phase: SessionPhase, lines: string[]): void {
  lines.push(
    `  - id: ${showId(phase.id)}`,
    `    name: ${quote(phase.name)}`,
    `    status: ${quote(phase.status)}`,
    `    agents: [${phase.agents.map(quote).join(", ")}]`,
    `    parallel: ${phase.parallel}`,
    `    started: ${quote(phase.started)}`,
    `    completed: ${quote(phase.completed)}`,
    `    blocked_by: [${phase.blocked_by.map(showId).join(", ")}]`,
  );
  list("    ", "files_created", phase.files_created, lines);
  list("    ", "files_modified", phase.files_modified, lines);
  list("    ", "files_deleted", phase.files_deleted, lines);
  lines.push("    downstream_context:");
  for (const [key, values] of Object.entries(phase.downstream_context as ContextRecord)) {
    list("      ", key, values, lines);
  }
  lines.push(phase.errors.length === 0 ? "    errors: []" : "    errors:");
  for (const error of phase.errors) errorFields(error, lines);
  lines.push(`    retry_count: ${phase.retry_count}`);
}

function errorFields(error: ErrorRecord, lines: string[]): void {
  lines.push(
    `      - agent: ${quote(error.agent)}`,
    `        timestamp: ${quote(error.timestamp)}`,
    `        type: ${quote(error.type)}`,
    `        message: ${quote(error.message)}`,
    `        resolution: ${quote(error.resolution)}`,
    `        resolved: ${error.resolved}`,
  );
}

function list(indent: string, key: string, values: readonly string[], lines: string[]): void {
  lines.push(values.length === 0 ? `${indent}${key}: []` : `${indent}${key}:`);
  for (const value of values) lines.push(`${indent}  - ${quote(value)}`);
}

function phaseBody(phase: SessionPhase, lines: string[]): void {
  lines.push(
    "",
    `## Phase ${phase.id}: ${oneLine(phase.name)}`,
    "",
    "### Status",
    statusTitles[phase.status],
    "",
    "### Agent Output",
    agentOutput(phase),
    "",
    "### Files Changed",
    `- Created: ${fileList(phase.files_created)}`,
    `- Modified: ${fileList(phase.files_modified)}`,
    `- Deleted: ${fileList(phase.files_deleted)}`,
    ...changeItems(phase, oneLine),
    "",
    "### Validation Result",
    validationResult(phase),
    ...evidenceItems(phase, oneLine),
    ...warningSection(phase, oneLine),
  );
}

function agentOutput(phase: SessionPhase): string {
  const text = phase.handoff?.summary.trim();
  if (!text) return "[Agent output will be recorded here as execution proceeds]";
  return text.length <= MAX_OUTPUT_CHARS ? text : `${text.slice(0, MAX_OUTPUT_CHARS)}\n[cut]`;
}

function fileList(files: readonly string[]): string {
  return files.length === 0 ? "[none yet]" : files.map(oneLine).join(", ");
}

function validationResult(phase: SessionPhase): string {
  if (phase.validation !== undefined) {
    const { result, detail } = phase.validation;
    const title = { pass: "Pass", fail: "Fail", skipped: "Skipped" }[result];
    return detail === "" ? title : `${title}: ${oneLine(detail)}`;
  }
  if (phase.status !== "completed") return "[Pending]";
  return phase.handoff === undefined ? "Unverified: no hand-off was recorded" : "No validation was recorded";
}

function where(note: { phase?: string; agent?: string }): string {
  const parts = [note.phase === undefined ? "" : `phase ${note.phase}`, note.agent ?? ""].filter((part) => part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function quote(value: string | null): string {
  return JSON.stringify(value);
}

/** Integers are written as integers, as in design document S2; all other ids are strings. */
function showId(id: string): string {
  return /^(0|[1-9]\d{0,14})$/.test(id) ? id : quote(id);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

// Reads active-session.md, to adopt a view that was edited or written by another program. Checks the form only.

import { splitFrontMatter } from "../../front-matter.ts";
import { emptyContext } from "../../handoff/downstream-context.ts";
import { phaseRecord, sessionRecord } from "../../session/event-parts.ts";
import type { SessionRecord } from "../../session/events.ts";
import { faultText, isObject } from "../../shape.ts";
import { stripControls } from "../../text.ts";
import { readYaml } from "../../yaml.ts";

export type ReadView =
  | { ok: true; record: SessionRecord; title: string; body: string; unknownKeys: string[] }
  | { ok: false; reason: string };

/** Fills in what people and templates leave out, and leaves unknown keys out. The shape of the record decides about all values. */
function filled(session: Record<string, unknown>) {
  const phases = listOf(session.phases, filledPhase);
  return {
    session_id: session.session_id,
    created: session.created,
    updated: session.updated,
    status: session.status,
    design_document: session.design_document ?? null,
    implementation_plan: session.implementation_plan ?? null,
    execution_mode: session.execution_mode ?? null,
    current_phase: idOf(session.current_phase) ?? null,
    total_phases: session.total_phases ?? (Array.isArray(phases) ? phases.length : 0),
    token_usage: filledTokens(session.token_usage ?? {}),
    phases,
  };
}

function filledPhase(phase: unknown): unknown {
  if (!isObject(phase)) return phase;
  return {
    id: idOf(phase.id),
    name: phase.name,
    status: phase.status,
    agents: phase.agents ?? [],
    parallel: phase.parallel ?? true,
    started: phase.started ?? null,
    completed: phase.completed ?? null,
    blocked_by: listOf(phase.blocked_by, idOf),
    files_created: phase.files_created ?? [],
    files_modified: phase.files_modified ?? [],
    files_deleted: phase.files_deleted ?? [],
    downstream_context: filledContext(phase.downstream_context ?? {}),
    errors: phase.errors ?? [],
    retry_count: phase.retry_count ?? 0,
  };
}

function filledContext(context: unknown): unknown {
  if (!isObject(context)) return context;
  return Object.fromEntries(Object.entries(emptyContext()).map(([key, empty]) => [key, context[key] ?? empty]));
}

function filledTokens(tokens: unknown): unknown {
  if (!isObject(tokens)) return tokens;
  const { total_input, total_output, total_cached, by_agent } = tokens;
  return {
    total_input: total_input ?? 0,
    total_output: total_output ?? 0,
    total_cached: total_cached ?? 0,
    by_agent: by_agent ?? {},
  };
}

/** People write the id of a phase as a number. */
function idOf(id: unknown): unknown {
  return Number.isSafeInteger(id) ? String(id) : id;
}

function listOf(list: unknown, item: (value: unknown) => unknown): unknown {
  return Array.isArray(list) ? list.map(item) : (list ?? []);
}

/**
 * Maestro itself writes plain YAML of any length. Anything else needs the slow parser, which a hook waits for, and people do not write more
 * than this by hand.
 */
const MAX_HAND_WRITTEN = 32 * 1024;

export function readView(text: string): ReadView {
  const parts = splitFrontMatter(stripControls(text));
  if (parts === undefined) return { ok: false, reason: "it has no closed YAML front matter" };
  const yaml = readYaml(parts.yaml, MAX_HAND_WRITTEN);
  if (!("value" in yaml)) return { ok: false, reason: `line ${yaml.line + 1} ${yaml.problem.split("\n")[0]}` };
  const { value } = yaml;
  if (!isObject(value)) return { ok: false, reason: "its front matter is not a map of keys" };
  const record = filled(value);
  const fault = sessionRecord(record);
  if (fault !== undefined) return { ok: false, reason: faultText(fault) };
  return {
    ok: true,
    record: record as SessionRecord,
    title: titleOf(parts.body),
    body: parts.body,
    unknownKeys: unknownKeys(value),
  };
}

function titleOf(body: string): string {
  return /^# (.*?)(?: Orchestration Log)?\s*$/m.exec(body)?.[1]?.trim() || "Untitled";
}

function unknownKeys(value: unknown): string[] {
  const session = value as { phases?: Record<string, unknown>[] };
  const known = sessionRecord.names;
  const knownOfPhase = phaseRecord.names;
  const top = Object.keys(session).filter((key) => !known.includes(key));
  const ofPhases = (session.phases ?? []).flatMap((phase) =>
    Object.keys(phase).filter((key) => !knownOfPhase.includes(key)),
  );
  return [...new Set([...top, ...ofPhases])];
}

// Reads active-session.md, to adopt a view that was edited or written by another program. Checks the form only.

import { splitFrontMatter } from "../../front-matter.ts";
import { emptyContext } from "../../handoff/downstream-context.ts";
import * as z from "../../schema.ts";
import { phaseRecord, sessionRecord } from "../../session/event-parts.ts";
import type { SessionRecord } from "../../session/events.ts";
import { faultText } from "../../shape.ts";
import { stripControls } from "../../text.ts";
import { readYaml } from "../../yaml.ts";

export type ReadView =
  | { ok: true; record: SessionRecord; title: string; body: string; unknownKeys: string[] }
  | { ok: false; reason: string };

/** Fills in what people and templates leave out; the strict schema of the event decides in the end. */
const looseSession = z.once(() => {
  const id = z.pipe(z.union([z.string(), z.int()]), z.transform(String));
  const list = orElse(z.array(z.string()), () => []);
  const time = z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)), "not a time"));
  const stamp = orElse(z.string(), () => null);
  const count = orElse(z.number(), () => 0);
  const contexts = z.object(Object.fromEntries(Object.keys(emptyContext()).map((key) => [key, list])));
  const looseContext = z.pipe(
    z.nullish(contexts),
    z.transform((value) => ({ ...emptyContext(), ...value })),
  );
  const loosePhase = z.object({
    id,
    name: z.string(),
    status: z.string(),
    agents: list,
    parallel: orElse(z.boolean(), () => true),
    started: stamp,
    completed: stamp,
    blocked_by: orElse(z.array(id), () => []),
    files_created: list,
    files_modified: list,
    files_deleted: list,
    downstream_context: looseContext,
    errors: orElse(z.array(z.unknown()), () => []),
    retry_count: count,
  });
  const tokens = z.object({
    total_input: count,
    total_output: count,
    total_cached: count,
    by_agent: orElse(z.record(z.string(), z.unknown()), () => ({})),
  });
  return z.object({
    session_id: z.string(),
    created: time,
    updated: time,
    status: z.string(),
    design_document: stamp,
    implementation_plan: stamp,
    execution_mode: stamp,
    current_phase: orElse(id, () => null),
    total_phases: z.nullish(z.number()),
    token_usage: orElse(tokens, () => ({ total_input: 0, total_output: 0, total_cached: 0, by_agent: {} })),
    phases: orElse(z.array(loosePhase), () => []),
  });
});

/** Uses `fallback` for a missing or null value. */
function orElse<S extends z.core.$ZodType, F>(schema: S, fallback: () => F) {
  return z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? fallback()),
  );
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
  const loose = looseSession().safeParse(value);
  if (!loose.success) return { ok: false, reason: describe(loose.error) };
  const filled = { ...loose.data, total_phases: loose.data.total_phases ?? loose.data.phases.length };
  const fault = sessionRecord(filled);
  if (fault !== undefined) return { ok: false, reason: faultText(fault) };
  return {
    ok: true,
    record: filled as SessionRecord,
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

function describe(error: z.core.$ZodError): string {
  const issue = error.issues[0];
  return `${issue?.path.join(".") || "front matter"}: ${issue?.message}`;
}

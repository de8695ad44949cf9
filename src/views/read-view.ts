// active-session.md -> what it says, for adopting a view that was edited or written by somebody else. Form only, no judgement.

import * as z from "zod";
import { splitFrontMatter } from "../front-matter.ts";
import { emptyContext } from "../handoff/downstream-context.ts";
import { type SessionRecord, sessionRecord } from "../session/events.ts";
import { stripControls } from "../text.ts";
import { readYaml } from "../yaml.ts";

export type ReadView =
  | { ok: true; record: SessionRecord; title: string; body: string; unknownKeys: string[] }
  | { ok: false; reason: string };

const id = z.union([z.string(), z.number().int()]).transform(String);
const list = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);
const ids = z
  .array(id)
  .nullish()
  .transform((value) => value ?? []);
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), "not a time");
const stamp = z
  .string()
  .nullish()
  .transform((value) => value ?? null);
const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);
const looseContext = z
  .object(Object.fromEntries(Object.keys(emptyContext()).map((key) => [key, list])))
  .nullish()
  .transform((value) => ({ ...emptyContext(), ...value }));

/** What people and templates leave out is filled in; the strict schema of the event has the last word. */
const loosePhase = z.object({
  id,
  name: z.string(),
  status: z.string(),
  agents: list,
  parallel: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
  started: stamp,
  completed: stamp,
  blocked_by: ids,
  files_created: list,
  files_modified: list,
  files_deleted: list,
  downstream_context: looseContext,
  errors: z
    .array(z.unknown())
    .nullish()
    .transform((value) => value ?? []),
  retry_count: count,
});

const looseSession = z.object({
  session_id: z.string(),
  created: time,
  updated: time,
  status: z.string(),
  design_document: stamp,
  implementation_plan: stamp,
  execution_mode: stamp,
  current_phase: id.nullish().transform((value) => value ?? null),
  total_phases: z.number().nullish(),
  token_usage: z
    .object({
      total_input: count,
      total_output: count,
      total_cached: count,
      by_agent: z
        .record(z.string(), z.unknown())
        .nullish()
        .transform((value) => value ?? {}),
    })
    .nullish()
    .transform((value) => value ?? { total_input: 0, total_output: 0, total_cached: 0, by_agent: {} }),
  phases: z
    .array(loosePhase)
    .nullish()
    .transform((value) => value ?? []),
});

export function readView(text: string): ReadView {
  const parts = splitFrontMatter(stripControls(text));
  if (parts === undefined) return { ok: false, reason: "it has no closed YAML front matter" };
  const yaml = readYaml(parts.yaml);
  if (!("value" in yaml)) return { ok: false, reason: `line ${yaml.line + 1} ${yaml.problem.split("\n")[0]}` };
  const { value } = yaml;
  const loose = looseSession.safeParse(value);
  if (!loose.success) return { ok: false, reason: describe(loose.error) };
  const filled = { ...loose.data, total_phases: loose.data.total_phases ?? loose.data.phases.length };
  const strict = sessionRecord().safeParse(filled);
  if (!strict.success) return { ok: false, reason: describe(strict.error) };
  return {
    ok: true,
    record: strict.data,
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
  const known = Object.keys(looseSession.shape);
  const knownOfPhase = Object.keys(loosePhase.shape);
  const top = Object.keys(session).filter((key) => !known.includes(key));
  const ofPhases = (session.phases ?? []).flatMap((phase) =>
    Object.keys(phase).filter((key) => !knownOfPhase.includes(key)),
  );
  return [...new Set([...top, ...ofPhases])];
}

function describe(error: z.ZodError): string {
  const issue = error.issues[0];
  return `${issue?.path.join(".") || "front matter"}: ${issue?.message}`;
}

// Applies a patch to the text of a plan: fields of named phases change, phases are added and removed. The rest of the text stays. Pure.

import { isDeepStrictEqual } from "node:util";
import { nearest } from "../agents/nearest.ts";
import { MaestroError } from "../errors.ts";
import { splitFrontMatter } from "../front-matter.ts";
import { editYaml, readYaml, type YamlPath } from "../yaml.ts";
import { idOf, isRecord } from "./fields.ts";
import { phaseFieldNames } from "./read-phase.ts";

/** `id`, and fields as in a plan: null deletes one. `remove: true` removes the phase; an unknown id adds one. */
export type PhasePatch = Readonly<Record<string, unknown>>;

const REMOVE = "remove";

/** Reads a patch from YAML or JSON: a list of phases, alone or under `phases`. */
export function readPatch(text: string): PhasePatch[] {
  const read = readYaml(text);
  if ("code" in read) throw new MaestroError("usage", `Line ${read.line} of the patch ${read.problem}`);
  const { value } = read;
  const list = isRecord(value) && Object.keys(value).join() === "phases" ? value.phases : value;
  return checkedPatch(list);
}

/** Refuses what is not a patch, an unknown field too: a misspelt one would change nothing. */
export function checkedPatch(list: unknown): PhasePatch[] {
  const example = 'such as {"phases": [{"id": 2, "validation": ["npm test"]}]}';
  if (!Array.isArray(list) || list.length === 0 || !list.every(isRecord)) {
    throw new MaestroError("usage", "A patch is a list of phases", { hint: `Name each by its id, ${example}.` });
  }
  const ids = list.map((phase) => idOf(phase.id));
  if (ids.includes(null)) {
    throw new MaestroError("usage", "A phase of the patch has no valid id", {
      hint: `Name each by its id, ${example}.`,
    });
  }
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new MaestroError("usage", `The patch names phase ${twice} twice`);
  for (const phase of list) refuseUnknown(phase);
  return list;
}

function refuseUnknown(phase: PhasePatch): void {
  const unknown = Object.keys(phase).find((field) => field !== REMOVE && !phaseFieldNames.includes(field));
  const id = idOf(phase.id);
  if (unknown !== undefined) {
    const near = nearest(unknown, phaseFieldNames);
    const suggestion = near === undefined ? "" : ` (did you mean "${near}"?)`;
    throw new MaestroError(
      "usage",
      `Phase ${id} of the patch has an unknown field ${JSON.stringify(unknown)}${suggestion}`,
    );
  }
  if (!(REMOVE in phase)) return;
  if (phase[REMOVE] === true && Object.keys(phase).length === 2) return;
  throw new MaestroError(
    "usage",
    `Phase ${id} of the patch is removed with {"id": ..., "remove": true} and nothing else`,
  );
}

/** The whole text of the changed plan. Throws when the text cannot be changed without changing something else. */
export function patchedPlan(text: string, patch: readonly PhasePatch[]): string {
  const parts = splitFrontMatter(text);
  const before = parts === undefined ? undefined : frontOf(parts.yaml);
  if (parts === undefined || !isRecord(before) || !Array.isArray(before.phases)) throw unchangeable();
  const expected = patched(before, patch);
  const yaml = edited(parts.yaml, editsOf(before.phases, expected));
  const written = `---\n${yaml}${yaml.endsWith("\n") ? "" : "\n"}---\n${parts.body}`;
  // Aliases, merged keys and rare styles: what is written must mean what the patch says, or nothing is written.
  if (!isDeepStrictEqual(plain(frontOf(splitFrontMatter(written)?.yaml ?? "")), plain(expected))) throw unchangeable();
  return written;
}

interface Front extends Record<string, unknown> {
  phases: unknown[];
}

function patched(before: Record<string, unknown>, patch: readonly PhasePatch[]): Front {
  const changes = new Map(patch.map((phase) => [idOf(phase.id), phase]));
  const kept = (before.phases as unknown[]).flatMap((phase) => {
    const id = isRecord(phase) ? idOf(phase.id) : null;
    const change = changes.get(id);
    changes.delete(id);
    if (change === undefined || !isRecord(phase)) return [phase];
    return change[REMOVE] === true ? [] : [withFields(phase, change)];
  });
  const added = [...changes.values()].map((phase) => {
    if (phase[REMOVE] === true) {
      throw new MaestroError("usage", `The patch removes phase ${idOf(phase.id)}, which the plan does not have`);
    }
    return withFields({}, phase);
  });
  const phases = [...kept, ...added];
  return { ...before, ...(before.total_phases === undefined ? {} : { total_phases: phases.length }), phases };
}

function withFields(phase: Record<string, unknown>, { id, ...fields }: PhasePatch): Record<string, unknown> {
  const all = { ...phase, id: phase.id ?? id, ...fields };
  return Object.fromEntries(Object.entries(all).filter(([field, value]) => !(field in fields) || value !== null));
}

/** From the last phase to the first, so that positions stay right while phases are deleted. */
function editsOf(before: readonly unknown[], { phases, total_phases }: Front): { at: YamlPath; value: unknown }[] {
  const idAt = (list: readonly unknown[], at: number) => (isRecord(list[at]) ? idOf(list[at].id) : null);
  const changed = before.flatMap((phase, at) => {
    const next = phases.find((_, position) => idAt(phases, position) === idAt(before, at));
    if (next === undefined) return [{ at: ["phases", at], value: undefined }];
    if (!isRecord(phase) || !isRecord(next)) return [];
    const fields = [...new Set([...Object.keys(phase), ...Object.keys(next)])];
    return fields
      .filter((field) => !isDeepStrictEqual(phase[field], next[field]))
      .map((field) => ({ at: ["phases", at, field], value: next[field] }));
  });
  const known = new Set(before.map((_, at) => idAt(before, at)));
  const added = phases.filter((phase) => !isRecord(phase) || !known.has(idOf(phase.id)));
  return [
    ...added.map((phase, at) => ({ at: ["phases", before.length + at], value: phase })),
    ...changed.reverse(),
    ...(total_phases === undefined ? [] : [{ at: ["total_phases"], value: total_phases }]),
  ];
}

function edited(yaml: string, edits: readonly { at: YamlPath; value: unknown }[]): string {
  try {
    return editYaml(yaml, edits);
  } catch (error) {
    throw unchangeable(error);
  }
}

function frontOf(yaml: string): unknown {
  const read = readYaml(yaml);
  return "value" in read ? read.value : undefined;
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

function unchangeable(cause?: unknown): MaestroError {
  return new MaestroError("conflict", "The patch cannot be applied to the text of the plan", {
    hint: 'Edit the plan file itself, then run "maestro session revise".',
    cause,
  });
}

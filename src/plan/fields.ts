// Reads the fields of one map of the front matter. A fault becomes an issue that names the place and the field; the reader then returns an
// empty value, so that the rest can still be checked.

import { nearest } from "../agents/nearest.ts";
import { isPhaseId, type PhaseId } from "../ids.ts";
import { stripControls } from "../text.ts";
import { addWarning, quotedValue, reportError } from "./issue.ts";
import { type Findings, MAX_TEXT_CHARS } from "./plan.ts";

export interface Place {
  raw: Readonly<Record<string, unknown>>;
  /** The id of the phase, or "#3" for the third phase if it has no id; undefined for the plan itself. */
  phase: string | undefined;
  /** The field whose value `raw` is, when `raw` is not the place itself. */
  within?: string;
  /** Every field that the place may have, with a description of its value. */
  fields: ReadonlyMap<string, string>;
  findings: Findings;
}

const synonyms = new Map([
  ...["depends_on", "dependson", "depends", "dependencies", "deps", "requires", "after"].map(
    (word) => [word, "blocked_by"] as const,
  ),
  ...["files", "creates", "outputs"].map((word) => [word, "files_created"] as const),
  ...["acceptance_criteria", "criteria", "done_when"].map((word) => [word, "validation_criteria"] as const),
  ...["assignee", "owner", "role"].map((word) => [word, "agent"] as const),
  ...["commands", "checks", "tests"].map((word) => [word, "validation"] as const),
  ...["objective", "goal", "details"].map((word) => [word, "description"] as const),
]);

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Absent, null, blank or an empty list all count as not given. */
export function isEmpty(value: unknown): boolean {
  if (typeof value === "string") return value.trim() === "";
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

export function requiredText(place: Place, field: string, alias = field): string {
  const given = isEmpty(place.raw[field]) ? alias : field;
  if (!isEmpty(place.raw[given])) return fieldText(place, given, place.raw[given]) ?? "";
  missing(place, field);
  return "";
}

export function optionalText(place: Place, field: string): string | null {
  return isEmpty(place.raw[field]) ? null : fieldText(place, field, place.raw[field]);
}

export function requiredTexts(place: Place, field: string): string[] {
  if (isEmpty(place.raw[field])) missing(place, field);
  return texts(place, field);
}

export function texts(place: Place, field: string): string[] {
  return listOf(place, field, textEntry);
}

function textEntry(place: Place, field: string, entry: unknown, index: number): string | null {
  if (!isEmpty(entry)) return fieldText(place, field, entry, index);
  missing(place, field, index);
  return null;
}

/** The strings exactly as written, for paths: the path checks must see every character. */
export function exactTexts(place: Place, field: string): string[] {
  return listOf(place, field, exactEntry);
}

function exactEntry(place: Place, field: string, entry: unknown, index: number): string | null {
  if (typeof entry === "string") return entry;
  wrongType(place, field, entry, index);
  return null;
}

/** Ids as written; an invalid id is kept and later reported as unknown. */
export function ids(place: Place, field: string): PhaseId[] {
  return listOf(place, field, idEntry) as PhaseId[];
}

function idEntry(place: Place, field: string, entry: unknown, index: number): string | null {
  return idOf(entry) ?? exactEntry(place, field, entry, index);
}

/** The id in the form used for comparison; null when the value is not an id. */
export function idOf(value: unknown): PhaseId | null {
  if (typeof value === "string") return isPhaseId(value) ? value : null;
  return Number.isSafeInteger(value) && Number(value) >= 0 ? (String(value) as PhaseId) : null;
}

export function flag(place: Place, field: string, fallback: boolean): boolean {
  const value = place.raw[field] ?? fallback;
  if (typeof value === "boolean") return value;
  wrongType(place, field, value);
  return fallback;
}

export function amount(place: Place, field: string): number | undefined {
  const value = place.raw[field] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  wrongType(place, field, value);
  return undefined;
}

export function missing(place: Place, field: string, index?: number): void {
  const message = `${named(place, field, index)} is missing or empty; give ${place.fields.get(field)}`;
  reportError(place.findings, "missing_field", place.phase, message);
}

export function wrongType(place: Place, field: string, value: unknown, index?: number): void {
  const wanted = place.fields.get(field);
  const message = `${named(place, field, index)} is ${kindOf(value)}; it must be ${wanted}`;
  reportError(place.findings, "invalid_field_type", place.phase, message);
}

export function warnUnknown(place: Place): void {
  for (const field of Object.keys(place.raw)) {
    if (place.fields.has(field)) continue;
    const name = field.slice(0, 64);
    const meant = synonyms.get(name.toLowerCase().replaceAll("-", "_"));
    const near = meant !== undefined && place.fields.has(meant) ? meant : nearest(name, [...place.fields.keys()]);
    const advice = near === undefined ? "remove it" : `did you mean "${near}"?`;
    const message = `${labelOf(place)}: the field ${quotedValue(field)} is unknown and ignored; ${advice}`;
    addWarning(place.findings, "unknown_field", place.phase, message, near);
  }
}

function listOf(
  place: Place,
  field: string,
  read: (place: Place, field: string, entry: unknown, index: number) => string | null,
): string[] {
  const value = place.raw[field];
  if (isEmpty(value)) return [];
  if (!Array.isArray(value)) {
    wrongType(place, field, value);
    return [];
  }
  const items: string[] = [];
  for (let index = 0; index < value.length; index++) {
    const item = read(place, field, value[index], index);
    if (item !== null) items.push(item);
  }
  return items;
}

export function fieldText(place: Place, field: string, value: unknown, index?: number): string | null {
  if (typeof value !== "string") {
    wrongType(place, field, value, index);
    return null;
  }
  if (value.length > MAX_TEXT_CHARS) {
    const size = `has ${value.length} characters, the limit is ${MAX_TEXT_CHARS}`;
    const message = `${named(place, field, index)} ${size}; move the rest into a file`;
    reportError(place.findings, "too_large", place.phase, message);
    return null;
  }
  if (!hasControls.test(value)) return value;
  const clean = stripControls(value);
  if (!isEmpty(clean)) return clean;
  missing(place, field, index);
  return null;
}

function named(place: Place, field: string, index: number | undefined): string {
  return `${labelOf(place)}: "${field}"${index === undefined ? "" : ` entry ${index + 1}`}`;
}

function labelOf({ phase, within }: Place): string {
  return (phase === undefined ? "The plan" : `Phase ${phase}`) + (within === undefined ? "" : `, ${within}`);
}

const hasControls = /[\u0000-\u001f\u007f-\u009f]/;

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map (a text with a colon needs quotes)";
  if (typeof value === "string") return `the text ${quotedValue(value)}`;
  return `the ${typeof value === "boolean" ? "boolean" : "number"} ${String(value)}`;
}

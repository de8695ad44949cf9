// Reads one entry of `phases:` as a draft: every field typed, nothing compared yet with other phases or with agents.
import { AMOUNTS_EXPECTED, type Amounts, parseAmounts } from "../amounts.ts";
import { labelForm, type PhaseId } from "../ids.ts";
import {
  amount,
  exactTexts,
  flag,
  idOf,
  ids,
  isEmpty,
  isRecord,
  missing,
  optionalText,
  type Place,
  requiredText,
  requiredTexts,
  texts,
  warnUnknown,
  wrongType,
} from "./fields.ts";
import { inOneLine, quotedValue, reportError } from "./issue.ts";
import type { Pattern } from "./pattern.ts";
import { type Estimate, type Findings, fileFields, MAX_LABELS, type PlanPhase } from "./plan.ts";
import { commandList, readCommands } from "./read-commands.ts";

export interface DraftPhase {
  /** The phase as far as it could be read; `id` is "#3" when the third phase has no valid id. */
  phase: PlanPhase;
  hasId: boolean;
  /** The agents as written; the first one owns the phase. */
  agents: string[];
  /** Whether it declares files at all, valid or not. */
  declaresFiles: boolean;
  /** What it owns; filled in once the paths have been checked. */
  patterns: Pattern[];
}

const pathList = "a list of paths or globs relative to the project root";

const phaseFields: ReadonlyMap<string, string> = new Map([
  ["id", "a whole number or a short name of letters, digits, dots, dashes and underscores"],
  ["title", "a short text"],
  ["name", "a short text"],
  ["agent", "the name of one agent"],
  ["agents", "a list of agent names, the owner first"],
  ["description", "a text that tells the agent what to do"],
  ["validation_criteria", "a list of texts that say what must be true afterwards"],
  ["validation", commandList],
  ["parallel", "true or false"],
  ["blocked_by", "a list of phase ids"],
  ["requirements", "a list of requirement ids of the design"],
  ["files_created", pathList],
  ["files_modified", pathList],
  ["files_deleted", pathList],
  ["runtime", "the name of a runtime, such as gemini"],
  ["model", "the name of a model"],
  ["review_by", '"other", for a runtime that did not play the phases before it'],
  ["estimate", "a map of input_tokens, output_tokens and minutes"],
  ["budget", AMOUNTS_EXPECTED],
  ["needs", `a list of at most ${MAX_LABELS} labels of workers, such as gpu; phases to wait for are in blocked_by`],
]);

export const phaseFieldNames: readonly string[] = [...phaseFields.keys()];

const estimateFields: ReadonlyMap<string, string> = new Map(
  ["input_tokens", "output_tokens", "minutes"].map((field) => [field, "a number, zero or more"]),
);

/** `position` counts from 1. Undefined when the entry is not a map, which is reported. */
export function readPhase(raw: unknown, position: number, findings: Findings): DraftPhase | undefined {
  const unnamed = `#${position}`;
  if (!isRecord(raw)) {
    reportError(findings, "invalid_field_type", unnamed, `Phase ${unnamed} must be a map of fields, such as "id: 1"`);
    return undefined;
  }
  const knownId = idOf(raw.id);
  const id = knownId ?? unnamed;
  const place: Place = { raw, phase: id, fields: phaseFields, findings };
  if (knownId === null) reportId(place);
  const agents = agentsOf(place);
  const estimate = estimateOf(place);
  const budget = budgetOf(place);
  const requirements = ids(place, "requirements");
  const phase: PlanPhase = {
    // A plan with "#3" as an id is refused, and nothing else reads it.
    id: id as PhaseId,
    title: inOneLine(requiredText(place, "title", "name")),
    agent: agents[0] ?? "",
    description: requiredText(place, "description"),
    validation_criteria: requiredTexts(place, "validation_criteria"),
    ...readCommands(place),
    parallel: flag(place, "parallel", true),
    blocked_by: ids(place, "blocked_by"),
    files_created: exactTexts(place, "files_created"),
    files_modified: exactTexts(place, "files_modified"),
    files_deleted: exactTexts(place, "files_deleted"),
  };
  if (requirements.length > 0) phase.requirements = [...new Set<string>(requirements)];
  if (playerFields.some((field) => raw[field] !== undefined)) Object.assign(phase, playedBy(place));
  if (estimate !== undefined) phase.estimate = estimate;
  if (budget !== undefined) phase.budget = budget;
  const needs = labelsOf(place);
  if (needs.length > 0) phase.needs = needs;
  warnUnknown(place);
  const declaresFiles = fileFields.some((field) => !isEmpty(raw[field]));
  return { phase, hasId: knownId !== null, agents, declaresFiles, patterns: [] };
}

/** The journal accepts no other. A model becomes an argument of a command line, where a leading hyphen would make it an option. */
const playerForms = {
  runtime: /^[A-Za-z0-9][\w.:-]{0,63}$/,
  model: /^[^\s\p{C}-][^\p{C}]{0,199}$/u,
  review_by: /^other$/,
};

const playerFields = Object.keys(playerForms);

function playedBy(place: Place): Pick<PlanPhase, "runtime" | "model" | "review_by"> {
  const played: Record<string, string> = {};
  for (const [field, form] of Object.entries(playerForms)) {
    const value = optionalText(place, field);
    if (value === null) continue;
    if (form.test(value)) played[field] = value;
    else wrongType(place, field, value);
  }
  return played;
}

function reportId(place: Place): void {
  const value = place.raw.id;
  if (isEmpty(value)) missing(place, "id");
  else if (typeof value !== "string") wrongType(place, "id", value);
  else {
    const message = `Phase ${place.phase}: the id ${quotedValue(value)} is not ${phaseFields.get("id")} (at most 64 characters)`;
    reportError(place.findings, "invalid_id", place.phase, message);
  }
}

function agentsOf(place: Place): string[] {
  if (isEmpty(place.raw.agent) && isEmpty(place.raw.agents)) {
    missing(place, "agent");
    return [];
  }
  const owner = optionalText(place, "agent");
  const others = texts(place, "agents");
  if (owner === null) return others;
  return others.length === 0 ? [owner] : [owner, ...others.filter((other) => other !== owner)];
}

function budgetOf(place: Place): Amounts | undefined {
  const written = optionalText(place, "budget");
  const amounts = written === null ? undefined : parseAmounts(written);
  if (written !== null && amounts === undefined) wrongType(place, "budget", written);
  return amounts;
}

function labelsOf(place: Place): string[] {
  const labels = new Set(texts(place, "needs"));
  for (const label of labels) if (!labelForm.test(label)) wrongType(place, "needs", label);
  if (labels.size > MAX_LABELS) wrongType(place, "needs", [...labels]);
  return [...labels];
}

function estimateOf(place: Place): Estimate | undefined {
  const raw = place.raw.estimate ?? undefined;
  if (raw === undefined) return undefined;
  if (!isRecord(raw)) {
    wrongType(place, "estimate", raw);
    return undefined;
  }
  const inner: Place = { ...place, raw, within: "estimate", fields: estimateFields };
  const estimate: Estimate = {};
  for (const field of ["input_tokens", "output_tokens", "minutes"] as const) {
    const value = amount(inner, field);
    if (value !== undefined) estimate[field] = value;
  }
  warnUnknown(inner);
  return estimate;
}

// Parses a plan file to a draft: encoding, size, front matter, YAML, and the type of every field. validate.ts checks what the fields mean
// together.
import { splitFrontMatter } from "../front-matter.ts";
import { readYaml } from "../yaml.ts";
import {
  isEmpty,
  isRecord,
  missing,
  optionalText,
  type Place,
  requiredText,
  warnUnknown,
  wrongType,
} from "./fields.ts";
import { addWarning, inOneLine, reportError, shownValue } from "./issue.ts";
import { type Findings, MAX_PHASES, MAX_PLAN_BYTES } from "./plan.ts";
import { type DraftPhase, readPhase } from "./read-phase.ts";

export interface Draft {
  title: string;
  design_ref: string | null;
  created: string | null;
  status: string | null;
  phases: DraftPhase[];
}

const planFields: ReadonlyMap<string, string> = new Map([
  ["title", "a short text"],
  ["design_ref", "the path of the design document"],
  ["created", "a date as text"],
  ["status", "a text"],
  ["total_phases", "a whole number"],
  ["phases", "a list of phases"],
]);

/** Undefined when the plan cannot be read at all; the findings then say why. */
export function parsePlan(source: string | Uint8Array, findings: Findings): Draft | undefined {
  if (source.length > MAX_PLAN_BYTES) {
    const message = `The plan is larger than ${MAX_PLAN_BYTES} bytes; split it into several plans`;
    reportError(findings, "too_large", undefined, message);
    return undefined;
  }
  const text = typeof source === "string" ? source : decode(source, findings);
  const raw = text === undefined ? undefined : frontMatterOf(text, findings);
  return raw === undefined ? undefined : readPlan(raw, findings);
}

function decode(bytes: Uint8Array, findings: Findings): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    reportError(findings, "invalid_encoding", undefined, "The plan is not valid UTF-8; save it as UTF-8");
    return undefined;
  }
}

function frontMatterOf(text: string, findings: Findings): Record<string, unknown> | undefined {
  const split = splitFrontMatter(text);
  if (split === undefined) {
    const problem = /^\uFEFF?---[ \t]*[\r\n]/.test(text)
      ? 'The front matter is not closed; add a line "---" after it'
      : 'The plan has no YAML front matter; its first line must be "---"';
    reportError(findings, "no_front_matter", undefined, problem);
    return undefined;
  }
  const result = readYaml(split.yaml);
  if ("code" in result) {
    // The opening fence is line 1 of the file.
    const message = `Line ${result.line + 1} of the plan ${shownValue(result.problem, 200)}`;
    reportError(findings, result.code, undefined, message);
    return undefined;
  }
  if (isRecord(result.value)) return result.value;
  const message = 'The front matter is not a map of fields; it must hold "title: ..." and "phases: ..."';
  reportError(findings, "invalid_front_matter", undefined, message);
  return undefined;
}

function readPlan(raw: Record<string, unknown>, findings: Findings): Draft {
  const place: Place = { raw, phase: undefined, fields: planFields, findings };
  const draft: Draft = {
    title: inOneLine(requiredText(place, "title")),
    design_ref: optionalText(place, "design_ref"),
    created: optionalText(place, "created"),
    status: optionalText(place, "status"),
    phases: readPhases(place),
  };
  checkTotal(place);
  warnUnknown(place);
  return draft;
}

function readPhases(place: Place): DraftPhase[] {
  const list = place.raw.phases;
  if (!Array.isArray(list)) {
    if (isEmpty(list)) missing(place, "phases");
    else wrongType(place, "phases", list);
    return [];
  }
  if (list.length === 0) {
    reportError(place.findings, "no_phases", undefined, 'The plan has no phases; add at least one under "phases:"');
  }
  if (list.length > MAX_PHASES) {
    const message = `The plan has ${list.length} phases; the limit is ${MAX_PHASES}, split it into several plans`;
    reportError(place.findings, "too_large", undefined, message);
    return [];
  }
  return list.map((entry, index) => readPhase(entry, index + 1, place.findings)).filter((phase) => phase !== undefined);
}

function checkTotal(place: Place): void {
  const { total_phases: total, phases } = place.raw;
  if (isEmpty(total)) return;
  if (!Number.isSafeInteger(total)) wrongType(place, "total_phases", total);
  else if (Array.isArray(phases) && phases.length !== total) {
    const message = `The plan says total_phases: ${total} but has ${phases.length} phases; correct the number or remove it`;
    addWarning(place.findings, "total_phases_mismatch", undefined, message);
  }
}

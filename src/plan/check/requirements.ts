// The requirements in the front matter of a design, and whether the phases of a plan cover them.

import { splitFrontMatter } from "../../front-matter.ts";
import { isPhaseId } from "../../ids.ts";
import { stripControls } from "../../text.ts";
import { readYaml } from "../../yaml.ts";
import { isRecord } from "../fields.ts";
import { inOneLine, quotedValue, reportError, shownValue } from "../issue.ts";
import {
  type ErrorIssueCode,
  type Findings,
  MAX_REQUIREMENT_CHARS,
  MAX_REQUIREMENTS,
  type PlanPhase,
  type Requirement,
} from "../plan.ts";

const FORM = 'a list such as "- {id: R1, text: ...}"';

/** `source` is undefined when the design does not exist. Faults become findings; a design without `requirements:` has none. */
export function readRequirements(source: string | undefined, findings: Findings): Requirement[] {
  const yaml = source === undefined ? undefined : splitFrontMatter(source)?.yaml;
  if (yaml === undefined) return [];
  const fault = (code: ErrorIssueCode, problem: string) =>
    reportError(findings, code, undefined, `The design: ${problem}`);
  const result = readYaml(yaml);
  if ("code" in result) {
    // Front matter that is about something else is not read any further.
    if (/^requirements[ \t]*:/m.test(yaml))
      fault(result.code, `line ${result.line + 1} ${shownValue(result.problem, 200)}`);
    return [];
  }
  const list = isRecord(result.value) ? (result.value.requirements ?? []) : [];
  if (!Array.isArray(list) || list.length > MAX_REQUIREMENTS) {
    fault("invalid_field_type", `"requirements" must be ${FORM} with at most ${MAX_REQUIREMENTS} entries`);
    return [];
  }
  const known = new Map<string, Requirement>();
  for (const [index, entry] of list.entries()) {
    const requirement = requirementOf(entry);
    if (requirement === undefined) {
      const wanted = `a short id of letters, digits, dots, dashes and underscores, and a text of at most ${MAX_REQUIREMENT_CHARS} characters`;
      fault("invalid_field_type", `"requirements" entry ${index + 1} needs ${wanted}: ${FORM}`);
    } else if (known.has(requirement.id)) fault("duplicate_id", `two requirements have the id ${requirement.id}`);
    else known.set(requirement.id, requirement);
  }
  return [...known.values()];
}

function requirementOf(entry: unknown): Requirement | undefined {
  const { id, text } = isRecord(entry) ? entry : {};
  const name = typeof id === "number" ? String(id) : id;
  if (typeof name !== "string" || !isPhaseId(name) || typeof text !== "string") return undefined;
  const line = inOneLine(stripControls(text));
  return line === "" || line.length > MAX_REQUIREMENT_CHARS ? undefined : { id: name, text: line };
}

export function checkRequirements(
  requirements: readonly Requirement[],
  phases: readonly PlanPhase[],
  design: { ref: string | null; exists: boolean },
  findings: Findings,
): void {
  const known = new Set(requirements.map(({ id }) => id));
  const covered = new Set(phases.flatMap((phase) => phase.requirements ?? []));
  for (const { id, text } of requirements) {
    if (covered.has(id)) continue;
    const message = `Requirement ${id} of the design is covered by no phase (${shownValue(text, 120)}); add "requirements: [${id}]" to the phase that meets it`;
    reportError(findings, "requirement_uncovered", undefined, message);
  }
  for (const phase of phases) {
    for (const id of (phase.requirements ?? []).filter((one) => !known.has(one))) {
      const message = `Phase ${phase.id}: ${quotedValue(id)} is not a requirement: ${whyUnknown(design, known)}`;
      reportError(findings, "requirement_unknown", phase.id, message);
    }
  }
}

function whyUnknown({ ref, exists }: { ref: string | null; exists: boolean }, known: ReadonlySet<string>): string {
  if (ref === null) return 'the plan names no design; add "design_ref"';
  if (!exists) return `the design ${shownValue(ref)} cannot be read`;
  if (known.size === 0) return `the design has no "requirements" in its front matter; add ${FORM}`;
  return `the design has ${[...known].slice(0, 20).join(", ")}`;
}

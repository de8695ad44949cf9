// Warns about texts in a plan that contain secrets, which are not recorded, or invisible characters.
import { REDACTED, withoutShapes } from "../../secrets/redact.ts";
import { hasHidden } from "../../text.ts";
import { addWarning } from "../issue.ts";
import { type Findings, fileFields, type PlanPhase } from "../plan.ts";

export interface TextContext {
  /** Redacts the plan when it is recorded; by default only secrets of known form are found. */
  redact?: (text: string) => string;
}

const textFields = ["title", "description", "validation_criteria", "validation"] as const;

export function checkTexts(
  title: string,
  phases: readonly PlanPhase[],
  { redact = withoutShapes }: TextContext,
  findings: Findings,
): void {
  const plan = { label: "The plan", phase: undefined, redact, findings };
  checkField(plan, "title", title);
  // Nearly every plan has neither, so one search over the joined text of all phases is enough.
  const whole = joined(phases);
  if (!hasHidden(whole.paths) && !hasHidden(whole.texts) && !hasSecret(whole.texts, redact)) return;
  for (const phase of phases) {
    const place = { label: `Phase ${phase.id}`, phase: phase.id, redact, findings };
    for (const field of textFields) checkField(place, field, textOf(phase, field));
    for (const field of fileFields) if (phase[field].some(hasHidden)) warnHidden(place, field);
  }
}

function joined(phases: readonly PlanPhase[]): { texts: string; paths: string } {
  const texts: string[] = [];
  const paths: string[] = [];
  for (const phase of phases) {
    texts.push(phase.title, phase.description, phase.validation_criteria.join("\n"), phase.validation.join("\n"));
    paths.push(phase.files_created.join("\n"), phase.files_modified.join("\n"), phase.files_deleted.join("\n"));
  }
  return { texts: texts.join("\n"), paths: paths.join("\n") };
}

interface TextPlace {
  label: string;
  phase: string | undefined;
  redact: (text: string) => string;
  findings: Findings;
}

function textOf(phase: PlanPhase, field: (typeof textFields)[number]): string {
  return field === "title" || field === "description" ? phase[field] : phase[field].join("\n");
}

function hasSecret(text: string, redact: (text: string) => string): boolean {
  return text.includes(REDACTED) || redact(text) !== text;
}

function checkField(place: TextPlace, field: string, text: string): void {
  if (hasHidden(text)) warnHidden(place, field);
  if (!hasSecret(text, place.redact)) return;
  const then =
    field === "validation"
      ? "the command cannot run without it; put the secret into a variable and pass that with --pass-env"
      : "the agent does not see it; name a variable instead and pass that with --pass-env";
  const message = `${place.label}: "${field}" contains a secret, which is recorded as ${REDACTED}: ${then}`;
  addWarning(place.findings, "secret_in_plan", place.phase, message);
}

function warnHidden({ label, phase, findings }: TextPlace, field: string): void {
  const message = `${label}: "${field}" contains invisible or reordering characters, shown as escapes such as \\u202e; remove them`;
  addWarning(findings, "hidden_characters", phase, message);
}

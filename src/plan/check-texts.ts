// What is in the texts of a plan that should not be: secrets, which are not recorded, and characters that nobody sees. Warnings only.
import { REDACTED, withoutShapes } from "../redact.ts";
import { hasHidden } from "../text.ts";
import { addWarning } from "./issue.ts";
import { type Findings, fileFields, type PlanPhase } from "./plan.ts";

export interface TextContext {
  /** How the plan is redacted when it is recorded; absent: by known shapes alone. */
  redact?: (text: string) => string;
}

const textFields = ["title", "description", "validation_criteria", "validation"] as const;

export function checkTexts(
  title: string,
  phases: readonly PlanPhase[],
  { redact = withoutShapes }: TextContext,
  findings: Findings,
): void {
  checkField("The plan", "title", title, undefined, redact, findings);
  for (const phase of phases) {
    for (const field of textFields) {
      const text = field === "title" || field === "description" ? phase[field] : phase[field].join("\n");
      checkField(`Phase ${phase.id}`, field, text, phase.id, redact, findings);
    }
    for (const field of fileFields) {
      if (phase[field].some(hasHidden)) warnHidden(`Phase ${phase.id}`, field, phase.id, findings);
    }
  }
}

function checkField(
  label: string,
  field: string,
  text: string,
  phase: string | undefined,
  redact: (text: string) => string,
  findings: Findings,
): void {
  if (hasHidden(text)) warnHidden(label, field, phase, findings);
  if (!text.includes(REDACTED) && redact(text) === text) return;
  const then =
    field === "validation"
      ? "a command without it cannot run; put the secret into a variable and pass that with --pass-env"
      : "the agent does not see it; name a variable instead and pass that with --pass-env";
  addWarning(
    findings,
    "secret_in_plan",
    phase,
    `${label}: "${field}" holds a secret, which is recorded as ${REDACTED}: ${then}`,
  );
}

function warnHidden(label: string, field: string, phase: string | undefined, findings: Findings): void {
  const message = `${label}: "${field}" has characters that are invisible or change the order of the text; they are shown as \\u202e; remove them`;
  addWarning(findings, "hidden_characters", phase, message);
}

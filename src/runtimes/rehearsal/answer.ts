// An agent's answer in a rehearsal, in the form that Gemini CLI prints.

import type { PlanPhase } from "../../plan/plan.ts";
import { stripControls } from "../../text.ts";

export interface Rehearsal {
  agent: string;
  phase: Pick<PlanPhase, "id" | "title" | "files_created" | "files_modified" | "files_deleted">;
  promptBytes: number;
  estimate?: PlanPhase["estimate"];
  /** Makes the agent report a failure, so that the user sees a retry. */
  fail: boolean;
}

/** A complete stdout: the handoff that the plan asks for, and the tokens it might have cost. */
export function rehearsedAnswer(rehearsal: Rehearsal): string {
  const response = rehearsal.fail ? failure(rehearsal) : success(rehearsal);
  const prompt = tokens(rehearsal.estimate?.input_tokens) ?? tokensOf(rehearsal.promptBytes);
  const candidates = tokens(rehearsal.estimate?.output_tokens) ?? tokensOf(response.length);
  const counts = { input: prompt, prompt, candidates, total: prompt + candidates, cached: 0, thoughts: 0, tool: 0 };
  const stats = { models: { rehearsal: { tokens: counts } } };
  return JSON.stringify({ session_id: `rehearsal-${rehearsal.phase.id}`, response, stats }, null, 2);
}

function success({ agent, phase }: Rehearsal): string {
  return `## Task Report
- Status: success
- Objective Achieved: ${titleOf(phase.title)}
${fileLines("Files Created", phase.files_created)}
${fileLines("Files Modified", phase.files_modified)}
${fileLines("Files Deleted", phase.files_deleted)}
- Validation: pass
- Summary: Rehearsed by ${agent}: ${titleOf(phase.title)}

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: the files of phase ${phase.id}
- Assumptions: none
- Warnings: this was a rehearsal, no model was called
`;
}

function failure({ agent, phase }: Rehearsal): string {
  return `## Task Report
- Status: failure
- Objective Achieved: no
- Files Created: none
- Files Modified: none
- Files Deleted: none
- Validation: fail
- Summary: Rehearsed failure of ${agent} in "${titleOf(phase.title)}": 1 of 12 checks does not pass (expected 201, received 500)

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: this was a rehearsal, nothing is wrong
`;
}

/** One line that every Markdown reader takes for text. */
function titleOf(title: string): string {
  const plain = stripControls(title)
    .replace(/[^\p{L}\p{N} .,:;'()/+&-]+/gu, " ")
    .replace(/\s+/g, " ");
  return plain.trim().slice(0, 120).trim() || "untitled";
}

/** A report names files; for the globs and directories of a plan only a real agent would choose the files. */
function fileLines(name: string, declared: readonly string[]): string {
  const paths = declared.filter((path) => !/[*?{}]|\/$/.test(path));
  if (paths.length === 0) return `- ${name}: none`;
  return [`- ${name}:`, ...paths.map((path) => `  - ${path.includes("`") ? `"${path}"` : `\`${path}\``}`)].join("\n");
}

function tokens(estimate: number | undefined): number | undefined {
  return estimate === undefined || !(estimate >= 0) ? undefined : Math.round(estimate);
}

/** Four bytes per token, as for English text and code. */
function tokensOf(bytes: number): number {
  return Math.ceil(bytes / 4);
}

// The types of a plan that has been read, the issues it can have, and its limits. No behaviour.

import type { Amounts } from "../amounts.ts";
import type { PhaseId } from "../ids.ts";

/** One node of a plan. Agent names have hyphens, ids are strings, paths are relative to the project root. */
export interface PlanPhase {
  id: PhaseId;
  title: string;
  agent: string;
  description: string;
  validation_criteria: string[];
  /** Commands that the engine itself runs after the agent. */
  validation: string[];
  /** The commands of `validation` that may stay red if they were red before the work. */
  not_worse?: string[] | undefined;
  /** The commands of `validation` that are red before the work, and that this phase turns green. */
  meant_to_pass?: string[] | undefined;
  /** Ids of the design's requirements that this phase works on. */
  requirements?: string[] | undefined;
  /** False when the phase must run alone. */
  parallel: boolean;
  blocked_by: PhaseId[];
  files_created: string[];
  files_modified: string[];
  files_deleted: string[];
  /** The runtime that plays its agent, and the model. */
  runtime?: string | undefined;
  model?: string | undefined;
  /** `other`: by another runtime than the phases that it waits for. */
  review_by?: "other" | undefined;
  estimate?: Estimate | undefined;
  /** The most that one attempt of the phase may use. */
  budget?: Amounts | undefined;
  /** Labels that a worker must have to run it. */
  needs?: string[] | undefined;
}

/** The fields in which a phase declares what it owns. */
export const fileFields = ["files_created", "files_modified", "files_deleted"] as const;

export interface Estimate {
  input_tokens?: number | undefined;
  output_tokens?: number | undefined;
  minutes?: number | undefined;
}

/** What the design demands, in the words that the user approved. */
export interface Requirement {
  id: string;
  text: string;
}

export interface Plan {
  title: string;
  design_ref: string | null;
  /** Those of the design; absent when it names none. */
  requirements?: Requirement[];
  created: string | null;
  status: string | null;
  phases: PlanPhase[];
}

export type ErrorIssueCode =
  | "no_front_matter"
  | "yaml_parse"
  | "invalid_front_matter"
  | "invalid_encoding"
  | "too_large"
  | "missing_field"
  | "invalid_field_type"
  | "no_phases"
  | "invalid_id"
  | "duplicate_id"
  | "unknown_dependency"
  | "cycle"
  | "unknown_agent"
  | "broken_agent"
  | "disabled_agent"
  | "agent_capability"
  | "file_overlap"
  | "path_escape"
  | "path_reserved"
  | "requirement_uncovered"
  | "requirement_unknown";

export type WarningIssueCode =
  | "agent_name_normalized"
  | "total_phases_mismatch"
  | "duplicate_dependency"
  | "unknown_field"
  | "label_is_phase"
  | "no_files_declared"
  | "secret_in_plan"
  | "baseline_red"
  | "budget_over_session"
  | "hidden_characters";

/** `phase` is the id, or "#3" for the third phase when it has no valid id. */
export interface Issue<Code = ErrorIssueCode | WarningIssueCode> {
  code: Code;
  phase?: string;
  message: string;
  suggestion?: string;
}

export interface Findings {
  errors: Issue<ErrorIssueCode>[];
  warnings: Issue<WarningIssueCode>[];
}

/** The maximum size of a plan file: enough for 20,000 phases of ordinary size. */
export const MAX_PLAN_BYTES = 8 * 1024 * 1024;
export const MAX_PHASES = 20_000;
/** The maximum length of one text: a title, a description, one criterion, one command. */
export const MAX_TEXT_CHARS = 65_536;
export const MAX_PATH_CHARS = 1_024;
export const MAX_REQUIREMENTS = 200;
/** The maximum number of labels that a phase may need. */
export const MAX_LABELS = 8;
export const MAX_REQUIREMENT_CHARS = 2_000;

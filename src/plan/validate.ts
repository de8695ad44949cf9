// The validator: takes a plan file, returns everything that is wrong with it and the graph of its phases. Never throws.
import type { Amounts } from "../amounts.ts";
import type { PhaseId } from "../ids.ts";
import { type BaselineCommand, checkBaseline } from "./baseline.ts";
import { type AgentContext, checkAgents } from "./check/agents.ts";
import { checkBudgets } from "./check/budgets.ts";
import { checkCycles, checkDependencies } from "./check/dependencies.ts";
import { checkOverlaps, checkPaths } from "./check/files.ts";
import { checkRequirements, readRequirements } from "./check/requirements.ts";
import { checkTexts, type TextContext } from "./check/texts.ts";
import { batchesOf, type Graph, graphOf, longestPath, minutesOf } from "./graph.ts";
import { reportError } from "./issue.ts";
import { type Draft, parsePlan } from "./parse.ts";
import type { Findings, Plan, PlanPhase, Requirement } from "./plan.ts";
import { type ExecutionProfile, profileOf } from "./profile.ts";
import type { DraftPhase } from "./read-phase.ts";

export interface PlanContext extends AgentContext, TextContext {
  /** Relative to the project root. */
  stateDir: string;
  /** The text of the design that a plan names; undefined when it does not exist. */
  design?: ((path: string) => string | undefined) | undefined;
  /** What the validation commands do on the untouched project, as far as it is known. */
  baseline?: readonly BaselineCommand[] | undefined;
  /** The budget that the session would have. */
  budget?: Amounts | undefined;
}

export interface DependencyGraph {
  /** `depth` is null for a phase in a cycle or downstream of one. */
  phases: { id: PhaseId; title: string; agent: string; blocked_by: PhaseId[]; depth: number | null }[];
  /** Ids of the chain that takes longest. */
  critical_path: PhaseId[];
  /** Ids by dependency depth, ignoring `parallel`. */
  parallel_batches: PhaseId[][];
}

export interface ValidationReport extends Findings {
  valid: boolean;
  dependency_graph: DependencyGraph;
  /** Null when the phases cannot be ordered. */
  profile: ExecutionProfile | null;
  /** Present only when the plan is valid. */
  plan?: Plan;
  /** Present when overlaps are the only errors: merging the work of the phases can resolve them. */
  mergeable?: Plan;
}

export function validatePlan(source: string | Uint8Array, context: PlanContext): ValidationReport {
  const findings: Findings = { errors: [], warnings: [] };
  const draft = parsePlan(source, findings);
  const drafts = draft?.phases ?? [];
  checkAgents(drafts, context, findings);
  checkDependencies(drafts, findings);
  checkPaths(drafts, context.stateDir, findings);
  const distinct = distinctPhases(drafts, findings);
  const phases = distinct.map(({ phase }) => phase);
  checkTexts(draft?.title ?? "", phases, context, findings);
  const graph = graphOf(phases);
  checkCycles(phases, graph, findings);
  checkOverlaps(distinct, graph, findings);
  const requirements = requirementsOf(draft, phases, context, findings);
  checkBaseline(phases, context.baseline ?? [], findings);
  checkBudgets(phases, context.budget ?? {}, findings);
  const valid = findings.errors.length === 0;
  const isOrdered = phases.length > 0 && phases.length === drafts.length && graph.order.length === phases.length;
  return {
    valid,
    ...findings,
    dependency_graph: dependencyGraph(phases, graph),
    profile: isOrdered ? profileOf(phases, graph) : null,
    ...(draft === undefined ? {} : planIn(draft, requirements, findings)),
  };
}

function requirementsOf(
  draft: Draft | undefined,
  phases: readonly PlanPhase[],
  { design }: PlanContext,
  findings: Findings,
): Requirement[] {
  const ref = draft?.design_ref ?? null;
  const source = ref === null ? undefined : design?.(ref);
  const requirements = readRequirements(source, findings);
  checkRequirements(requirements, phases, { ref, exists: source !== undefined }, findings);
  return requirements;
}

function planIn(
  draft: Draft,
  requirements: Requirement[],
  { errors }: Findings,
): Pick<ValidationReport, "plan" | "mergeable"> {
  if (errors.length === 0) return { plan: planOf(draft, requirements) };
  return errors.every(({ code }) => code === "file_overlap") ? { mergeable: planOf(draft, requirements) } : {};
}

/** The phases with distinct ids, because only those can form a graph. */
function distinctPhases(drafts: readonly DraftPhase[], findings: Findings): DraftPhase[] {
  const distinct = new Map<string, DraftPhase>();
  for (const draft of drafts) {
    const { id } = draft.phase;
    if (!draft.hasId) continue;
    if (!distinct.has(id)) distinct.set(id, draft);
    else reportError(findings, "duplicate_id", id, `Two phases have the id ${id}; give each phase its own id`);
  }
  return [...distinct.values()];
}

function dependencyGraph(phases: readonly PlanPhase[], graph: Graph): DependencyGraph {
  const { path } = longestPath(graph, (position) => minutesOf(phases[position]));
  return {
    phases: phases.map(({ id, title, agent, blocked_by }, position) => ({
      id,
      title,
      agent,
      blocked_by,
      depth: graph.depths[position] ?? null,
    })),
    critical_path: path.flatMap((position) => phases[position]?.id ?? []),
    parallel_batches: batchesOf(phases, graph),
  };
}

function planOf({ phases, ...head }: Draft, requirements: Requirement[]): Plan {
  const demanded = requirements.length === 0 ? {} : { requirements };
  return { ...head, ...demanded, phases: phases.map(({ phase }) => phase) };
}

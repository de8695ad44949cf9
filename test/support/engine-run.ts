// Runs of the engine with the stand-in for gemini: a plan run to its end, and what its report and its attempts say.

import { commandLine } from "./command-line.ts";
import { maestro } from "./processes.ts";
import { type PhaseSpec, type Project, planPath } from "./project.ts";
import { prepare, type StandIn } from "./stand-in.ts";

export const results = ".gemini/parallel/2026-02-14-task-api/results";
/** A short grace period: no agent of these tests needs a longer one. */
export const quick = ["--grace", "300ms"];

/** Runs a plan of `phases` to its end. */
export async function runPlan(
  project: Project,
  phases: PhaseSpec[],
  { words = [] as string[], env = {} as Record<string, string> } = {},
) {
  const agent = prepare(project, phases);
  const run = await maestro(project, ["run", planPath, ...quick, ...words], agent.env(env));
  return { agent, run };
}

interface Report {
  status: string;
  phases: { id: string; status: string; retries: number; tokens: number | null }[];
  [key: string]: unknown;
}

export async function reportOf(project: Project): Promise<Report> {
  return JSON.parse((await commandLine(project, ["report", "--json"])).stdout);
}

export interface Span {
  phase: string;
  from: number;
  to: number;
}

/** From when to when each attempt ran, by its own clock. */
export function spansOf(agent: StandIn): Span[] {
  const ends = agent.notes("end");
  return agent.notes("start").map(({ phase, attempt, at }) => ({
    phase,
    from: at,
    to: ends.find((end) => end.phase === phase && end.attempt === attempt)?.at ?? Number.POSITIVE_INFINITY,
  }));
}

export function mostAtOnce(spans: readonly Span[]): number {
  return Math.max(...spans.map(({ from }) => spans.filter((other) => other.from <= from && from < other.to).length));
}

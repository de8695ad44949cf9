// maestro_context_chain: the Downstream Context of the phases that a phase depends on, ready for its delegation prompt. Read-only.

import { randomHex } from "../../disk/random.ts";
import { MaestroError } from "../../errors.ts";
import { readHandoff } from "../../handoff/handoff.ts";
import { type SessionId, workLabel } from "../../ids.ts";
import type { PlanPhase } from "../../plan/plan.ts";
import { contextChain, hasContext, inDependencyOrder } from "../../prompt/context-chain.ts";
import { insideProject } from "../../session/decide/evidence.ts";
import { sessionCreated } from "../../session/decide/facts.ts";
import { requirePhase } from "../../session/decide/operation.ts";
import { fold } from "../../session/fold.ts";
import { findPhase, type Session, type SessionPhase } from "../../session/session.ts";
import { MAX_READ_STDOUT } from "../../store/files/batch.ts";
import { listBatches, readBatch, readResult } from "../../store/files/batch-results.ts";
import { readPlan } from "../../store/files/plan-file.ts";
import { readSession } from "../../store/read-session.ts";
import { type Answer, MAX_ANSWER_BYTES } from "../answer.ts";
import { flagField, id, textField } from "../fields.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";
import { planReport } from "./session-create.ts";

/** Limits for all contexts together, in characters, tried from the largest. */
const rooms = [1_200, 1_000, 800, 600, 400, 200];
/** Batches are searched from the newest; a project may have hundreds. */
const MAX_SEARCHED = 200;

export const contextChainTool: Tool = {
  name: "maestro_context_chain",
  description:
    "The Downstream Context of every phase that a phase waits for, in dependency order, as one block of text.",
  actions: {
    [ONLY]: action({ phase_id: id(), plan_path: textField(4_096), full: flagField("all of it").optional() }, run),
  },
};

interface Input {
  phase_id: string;
  plan_path: string;
  full?: boolean | undefined;
}

function run(context: Context, { phase_id, plan_path, full }: Input): Answer {
  const { path, bytes } = readPlan(context.location, plan_path);
  const { plan, errors } = planReport(context, bytes);
  if (plan === undefined) {
    const [first] = errors;
    throw new MaestroError("invalid_plan", `The plan is not valid: ${first?.code}: ${first?.message}`, {
      hint: "maestro_validate_plan lists all errors.",
    });
  }
  const wanted = plan.phases.find((phase) => phase.id === phase_id);
  if (wanted === undefined) throw unknownPhase(phase_id, plan.phases);
  const known = followed(context, path, wanted, plan.phases);
  const session = known ?? imagined(path, plan.phases, context.now());
  const phase = requirePhase(session, phase_id);
  const blockers = inDependencyOrder(session, wanted.blocked_by);
  for (const blocker of blockers) completeFromFiles(context, findPhase(session, blocker), known?.session_id);
  const missing = blockers.filter((blocker) => !hasContext(findPhase(session, blocker) as SessionPhase));
  return answerOf(session, { ...phase, blocked_by: wanted.blocked_by }, blockers, missing, full === true);
}

/** Shortens the contexts until the answer fits. */
function answerOf(session: Session, phase: SessionPhase, blockers: string[], missing: string[], full: boolean): Answer {
  const tag = randomHex(8);
  const facts = { phase_id: phase.id, blocking_phases: blockers };
  const whole = { ...facts, context_chain: contextChain(session, phase, tag), missing_contexts: missing };
  if (full || Buffer.byteLength(JSON.stringify(whole)) <= MAX_ANSWER_BYTES) return { body: whole, full };
  const hint = "full: true for all";
  let answer: Answer = { body: whole };
  for (const total of rooms) {
    const context_chain = contextChain(session, phase, tag, { each: total, total });
    answer = { body: { ...facts, context_chain, missing_contexts: missing, cut: { hint } } };
    if (Buffer.byteLength(JSON.stringify(answer.body)) <= MAX_ANSWER_BYTES) return answer;
  }
  return answer;
}

function unknownPhase(phase: string, phases: readonly PlanPhase[]): MaestroError {
  const known = phases.slice(0, 20).map((other) => other.id);
  return new MaestroError("not_found", `The plan has no phase ${JSON.stringify(phase)}`, {
    hint: `Its phases are ${known.join(", ")}${phases.length > known.length ? ", ..." : ""}.`,
  });
}

/** A copy of the active session, if it follows that plan or has the same phases; undefined otherwise. */
function followed(
  { store }: Context,
  path: string,
  wanted: PlanPhase,
  phases: readonly PlanPhase[],
): Session | undefined {
  const read = readSession(store);
  if (read.state !== "open") return undefined;
  const { session } = read;
  const ids = new Set([wanted.id, ...wanted.blocked_by]);
  const follows = session.implementation_plan === path;
  const isThere = ({ id: phase, title, agent }: PlanPhase) => {
    const known = findPhase(session, phase);
    return known !== undefined && (follows || (known.name === title && known.agents[0] === agent));
  };
  if (!phases.filter((phase) => ids.has(phase.id)).every(isThere)) return undefined;
  // A copy, because results found in files are added to it, and only the journal may change the session itself.
  return { ...session, phases: session.phases.map((phase) => ({ ...phase })) };
}

/** A session for the plan in which no phase has started. */
function imagined(path: string, phases: PlanPhase[], now: Date): Session {
  const plan = { title: "", path, hash: "", design_document: null, phases };
  const created = sessionCreated({ session_id: "none" as SessionId, task: null, execution_mode: null, plan });
  return fold([{ ...created, seq: 1, ts: now.toISOString() }]) as Session;
}

/** Fills in what the journal lacks about a phase from the result files of its newest attempt. `session`: undefined when no session exists. */
function completeFromFiles(context: Context, phase: SessionPhase | undefined, session: string | undefined): void {
  if (phase === undefined || hasContext(phase)) return;
  // If the session has not started the phase, its result files are from an earlier session.
  if (session !== undefined && phase.started === null) return;
  const stdout = newestResult(context, phase);
  if (stdout === undefined) return;
  const { check } = readHandoff(context.redact(stdout));
  if (!check.has_task_report) return;
  const inside = (paths: readonly string[]) => paths.map((path) => insideProject(context.cwd, path));
  phase.downstream_context = check.downstream_context;
  phase.files_created = [...new Set([...phase.files_created, ...inside(check.files_created)])];
  phase.files_modified = [...new Set([...phase.files_modified, ...inside(check.files_modified)])];
  phase.files_deleted = [...new Set([...phase.files_deleted, ...inside(check.files_deleted)])];
  if (session === undefined) phase.status = "completed";
}

/** The output of the newest successful `<agent>.p<phase>-<n>` in any batch. */
function newestResult({ location }: Context, { id: phase, agents, started }: SessionPhase): string | undefined {
  const prefix = `${workLabel(agents[0] ?? "", phase)}-`;
  const since = started === null ? 0 : Date.parse(started);
  for (const batch of listBatches(location).slice(0, MAX_SEARCHED)) {
    const attempts = (readBatch(location, batch)?.results ?? [])
      .filter(({ name, exitCode, changed }) => {
        const isOurs = name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
        return isOurs && exitCode === 0 && (changed ?? 0) >= since;
      })
      .sort((a, b) => Number(b.name.slice(prefix.length)) - Number(a.name.slice(prefix.length)));
    const [last] = attempts;
    if (last !== undefined) return readResult(location, batch, last.name, "json", MAX_READ_STDOUT);
  }
  return undefined;
}

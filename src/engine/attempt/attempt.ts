// Prepares, starts and judges one attempt: it is recorded before its process starts, and judged from the files the process leaves.

import { attemptPolicy } from "../../agents/policies.ts";
import { brokenText } from "../../agents/resolve.ts";
import type { Agent } from "../../agents/roster.ts";
import type { Tier } from "../../agents/tiers.ts";
import type { Amounts } from "../../amounts.ts";
import { randomHex } from "../../disk/random.ts";
import { MaestroError } from "../../errors.ts";
import { type Handoff, readHandoff } from "../../handoff/handoff.ts";
import type { AttemptId, PhaseId } from "../../ids.ts";
import { buildPrompt, rolePrompt } from "../../prompt/build.ts";
import { complaintIn } from "../../runtimes/complaint.ts";
import type { Ending, Killed, Outcome, Runtime } from "../../runtimes/runtime.ts";
import { decideStart, nextAttempt, type Rules } from "../../session/decide/attempt.ts";
import { attemptPlaced } from "../../session/decide/facts.ts";
import { decideNote, requirePhase, requireSession } from "../../session/decide/operation.ts";
import type { SessionEvent } from "../../session/events.ts";
import { hasDependents, lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { MAX_READ_STDOUT, MAX_STDOUT_BYTES } from "../../store/files/batch.ts";
import { geminiHome } from "../../store/files/gemini-home.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { Update } from "../../store/session-store.ts";
import { stripControls } from "../../text.ts";
import { isOver, METER_MS, reserve } from "../budget.ts";
import { modelOfRole, type Player, type Role } from "../cast.ts";
import type { Ground, Moment } from "../isolation.ts";
import type { Exit } from "../process/supervisor.ts";
import { RUN_MARKER } from "../process/tree.ts";
import type { RunContext } from "../run-context.ts";
import { OutputFollower, shownActivity } from "./output-follower.ts";
import { isPlacedLater, knownGround, rootOf, sandboxed, stateFor, worktreeName } from "./place.ts";

/** How much of stderr is read to judge an attempt. */
const MAX_JUDGED_STDERR = 256 * 1024;

/** An attempt that is recorded but not yet started. */
export interface PreparedAttempt {
  phase: PhaseId;
  attempt: number;
  name: AttemptId;
  agent: string;
  tier: Tier;
  /** What plays the agent. */
  player: Player;
  model: string | null;
  prompt: string;
  timeoutMs: number;
  /** The most that it may use; absent without a budget. */
  reserved?: Amounts | undefined;
  /** The name of its worktree, which does not exist yet; null when it works in the project. */
  worktree: string | null;
  /** Where it works, when that is recorded with its start. */
  ground?: Ground | undefined;
  /** A worker runs it. */
  remote: boolean;
}

export interface StartedAttempt {
  phase: PhaseId;
  attempt: number;
  name: string;
  exit: Promise<Exit>;
  stop: (why: Killed) => void;
}

/** Callbacks of a running attempt. */
export interface Watcher {
  activity: (phase: PhaseId, line: string) => void;
  tokens: (phase: PhaseId, sofar: number) => void;
  quota: (phase: PhaseId, retryAfterMs: number | null) => void;
}

export function rulesOf(context: RunContext): Rules {
  const { limits, now, projectRoot } = context;
  return { maxRetries: limits.maxRetries, now: now(), hashes: (paths) => hashFiles(projectRoot, paths) };
}

/**
 * Records that the attempt starts. No file or process of the attempt may exist until this record is durable. `moment`: the state of the
 * project, when it is known.
 */
export function prepareAttempt(context: RunContext, id: PhaseId, update: Update, moment?: Moment): PreparedAttempt {
  const { limits } = context;
  return update((current) => {
    const session = requireSession(current);
    const phase = requirePhase(session, id);
    const agent = agentOf(context, phase);
    const role = context.cast.choose(session, phase, agent);
    const { player, insteadOf } = role;
    const { runtime } = player;
    const next = nextAttempt(phase);
    const worktree = worktreeName(context, session, phase);
    const built = buildPrompt({
      projectRoot: rootOf(context, worktree),
      agent: agent.name,
      role: roleOf(context, agent),
      redact: context.redact,
      session,
      phase,
      maxRetries: limits.maxRetries,
      tag: randomHex(8),
    });
    const prompt = runtime.payload(built);
    const timeoutMs = phase.timeout_ms ?? limits.timeoutMs;
    const model = modelOfRole(context, phase, agent, role);
    const reservation = reserve(context, session, phase);
    const reserved = reservation.kind === "reserved" ? reservation.amounts : undefined;
    const remote = context.remote?.takes(phase) ?? false;
    const start = {
      run: context.run,
      runtime: runtime.name,
      ...(insteadOf === null ? {} : { instead_of: insteadOf }),
      model,
      batch: context.batchId,
      prompt_bytes: Buffer.byteLength(prompt),
      timeout_ms: timeoutMs,
      ...(reserved === undefined ? {} : { reserved }),
      ...(remote ? { remote: true as const } : {}),
    };
    // Files of an earlier session with this name must be deleted before the attempt is recorded, or they would be taken for its result.
    context.batch.clear(next.name);
    const { name: agentName, tier } = agent;
    const made = { phase: id, prompt, player, model, tier, agent: agentName, timeoutMs, reserved, worktree, remote };
    const ground = remote ? undefined : knownGround(context, session, phase, { worktree, moment });
    const result = { ...made, ...next, ground };
    const events = [
      ...ownReviewNote(session, phase, agent, role),
      ...decideStart(session, id, start, rulesOf(context)),
    ];
    // Nothing of a listing is recorded, so the place is known now. A record of its own would cost another write to the disk.
    if (ground !== undefined || !isPlacedLater(context)) {
      const base = typeof ground?.before === "string" ? ground.before : null;
      events.push(attemptPlaced({ phase: id, attempt: next.attempt, worktree, base }));
    }
    return { events, result };
  });
}

/** Says once that the plan's wish for a reviewer of another vendor cannot be met. */
function ownReviewNote(session: Session, phase: SessionPhase, { name, tier }: Agent, role: Role): SessionEvent[] {
  if (!role.isOwnReview || phase.attempts.length > 0) return [];
  const { name: runtime } = role.player.runtime;
  const text = `Phase ${phase.id} asks for a review by another vendor, but ${runtime} reviews its own work: no other runtime here can play ${name} (${tier}).`;
  return decideNote(session, text, phase.id, name);
}

/** What starting an attempt needs: of an engine, or of a worker that runs an attempt for one. */
export type AttemptBench = Pick<RunContext, "run" | "batch" | "supervisor" | "redact" | "prices"> & {
  store: Pick<RunContext["store"], "location"> & { session: Pick<Session, "session_id"> | undefined };
  isolation: Pick<RunContext["isolation"], "options">;
};

/** The environment of the attempt's process. Throws when it cannot be built; that fails only this attempt. */
export function attemptEnvironment(
  context: AttemptBench,
  { phase, attempt, name, agent, tier, player }: PreparedAttempt,
  { root, worktree }: Ground,
): Record<string, string> {
  return player.agentEnvironment(root, {
    ...player.runtime.tierEnvironment?.(tier),
    ...stateFor(context, worktree),
    MAESTRO_SESSION: context.store.session?.session_id ?? "",
    MAESTRO_PHASE: phase,
    MAESTRO_AGENT: agent,
    MAESTRO_ATTEMPT: String(attempt),
    [RUN_MARKER]: markerOf(context, name),
  });
}

function markerOf({ run }: AttemptBench, name: string): string {
  return `${run}.${name}`;
}

/** Writes the prompt and starts the process in its prepared directory. */
export function startAttempt(
  context: AttemptBench,
  prepared: PreparedAttempt,
  { root, worktree }: Ground,
  env: Record<string, string>,
  watcher: Watcher,
): StartedAttempt {
  const { batch, supervisor } = context;
  const { phase, attempt, name, agent, tier, model, timeoutMs, player } = prepared;
  const { runtime, extraArgs, program = runtime.program } = player;
  batch.writePrompt(name, prepared.prompt);
  const policyFile = policyOf(context, runtime, tier);
  const maxUsd = prepared.reserved?.usd;
  const args = runtime.argv({ agent, tier, model, policyFile, isStreamed: true, maxUsd, extraArgs });
  const [host, ...words] = runtime.host ?? [];
  const { home } = runtime;
  const command =
    host === undefined ? { program, args, home } : { program: host, args: [...words, program, ...args], home };
  const { exit, stop } = supervisor.launch({
    ...(worktree === null ? command : sandboxed(context, command, worktree)),
    cwd: root,
    env,
    marker: markerOf(context, name),
    stdin: batch.promptPath(name),
    stdout: batch.resultPath(name, "json"),
    stderr: batch.resultPath(name, "log"),
    exitFile: batch.resultPath(name, "exit"),
    timeoutMs,
    check: watch(context, prepared, followerOf(prepared, env), watcher),
  });
  return { phase, attempt, name, exit, stop };
}

function followerOf({ player: { runtime }, name, reserved }: PreparedAttempt, env: Record<string, string>) {
  return new OutputFollower(runtime, name, geminiHome(env), reserved === undefined ? undefined : METER_MS);
}

function agentOf({ agents, brokenAgents }: RunContext, phase: SessionPhase) {
  const name = phase.agents[0] ?? "";
  const agent = agents.get(name);
  if (agent !== undefined) return agent;
  const broken = brokenAgents.find((one) => one.agent === name);
  const why = broken === undefined ? `Agent '${name}' is not in agents/` : brokenText(broken);
  throw new MaestroError("environment", `Cannot start phase ${phase.id}: ${why}`, {
    hint: 'Restore the agent, or assign the phase to another one in the plan file, then run "maestro session revise".',
  });
}

const roles = new WeakMap<RunContext, Map<string, string>>();

/** Redacted once in a run: it is the same in every prompt of the agent, and most of each. */
function roleOf(context: RunContext, agent: Agent): string {
  const known = roles.get(context) ?? new Map<string, string>();
  roles.set(context, known);
  const role = known.get(agent.name) ?? context.redact(rolePrompt(agent, context.protocols));
  known.set(agent.name, role);
  return role;
}

/** Writes the policy file of an attempt, which applies even where hooks do not run, or the file that its program takes instead. */
function policyOf({ batch }: AttemptBench, { startFile }: Runtime, tier: Tier): string {
  if (startFile !== undefined) return batch.writePolicy(tier, () => startFile.text, startFile.ending);
  return batch.writePolicy(tier, () => attemptPolicy(tier));
}

/**
 * Checks a running attempt: reports its activity and signs of an exhausted quota, and stops it when its output is too large or it has used
 * more than it reserved.
 */
function watch(
  context: AttemptBench,
  prepared: PreparedAttempt,
  follower: OutputFollower,
  watcher: Watcher,
): () => Killed {
  const { batch } = context;
  const { name } = follower;
  const { phase, player } = prepared;
  return () => {
    if (batch.size(name, "json") > MAX_STDOUT_BYTES) return "output_too_large";
    const { progress } = follower;
    const complaints = follower.read(batch);
    if (batch.trimLog(name)) follower.skipStderr(batch);
    if (follower.progress !== progress) watcher.activity(phase, shownActivity(follower.progress, context.redact));
    if (follower.tokens !== null) watcher.tokens(phase, follower.tokens);
    const sign = complaints === "" ? null : player.runtime.quotaSign(complaints);
    if (sign !== null) watcher.quota(phase, sign.retryAfterMs);
    return isOver(context, follower, prepared) ? "over_budget" : null;
  };
}

export interface Judged {
  outcome: Outcome;
  /** The parsed hand-off; null when the answer is empty. */
  handoff: Handoff | null;
  /** The end of what it printed, when it ran out of time. */
  partial?: string;
}

/** Judges an attempt from the files it left. */
export function judgeFiles(context: RunContext, phase: PhaseId, name: string, exit: Omit<Exit, "durationMs">): Judged {
  const { batch, store, redact } = context;
  const runtime = context.cast.reader(lastAttempt(requirePhase(requireSession(store.session), phase))?.runtime ?? "");
  // Output that was cut before has exactly this size.
  const tooLarge = batch.size(name, "json") >= MAX_STDOUT_BYTES;
  if (tooLarge) batch.cut(name, "json", MAX_STDOUT_BYTES);
  batch.trimLog(name);
  const printed = batch.redact(name, "json", redact);
  batch.redact(name, "log", redact);
  const ending: Ending = {
    exitCode: exit.code,
    killed: tooLarge ? "output_too_large" : exit.killed,
    stdout: tooLarge ? "" : (printed ?? batch.read(name, "json", MAX_READ_STDOUT)),
    // Read lazily: the judgement of a successful attempt does not need it.
    get stderr() {
      return redact(batch.read(name, "log", MAX_JUDGED_STDERR));
    },
  };
  const outcome = runtime.judge(ending);
  const partial = outcome.kind === "timeout" ? partialOutput({ runtime, redact }, outcome.text, ending) : {};
  if (outcome.text === "") return { outcome, handoff: null, ...partial };
  const dependents = hasDependents(requireSession(store.session), phase);
  return { outcome, handoff: readHandoff(redact(outcome.text), { format: "text", dependents }), ...partial };
}

/** The runtime that played the phase's last attempt. */
export function runtimeOf({ cast, store }: RunContext, phase: PhaseId): Runtime {
  const last = lastAttempt(requirePhase(requireSession(store.session), phase));
  return cast.named(last?.runtime ?? "").runtime;
}

interface Output {
  runtime: Runtime;
  redact: (text: string) => string;
}

const MAX_PARTIAL_CHARS = 4_000;

/**
 * What the attempt did and said so far, or what was printed. Never the events themselves: the first one is the prompt. Redacted before it is
 * cut: half a secret would not be recognised.
 */
function partialOutput({ runtime, redact }: Output, answer: string, ending: Ending): Pick<Judged, "partial"> {
  const shown = runtime.shown(ending.stdout, false);
  const printed =
    (shown === null ? answer || ending.stdout : shown.text) || complaintIn(ending.stderr, MAX_PARTIAL_CHARS);
  const text = redact(stripControls(printed)).trim().slice(-MAX_PARTIAL_CHARS);
  return text === "" ? {} : { partial: text };
}

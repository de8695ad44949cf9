// Runs validation commands on a snapshot of the untouched project: in a worktree, or in a copy outside git. The project itself is never
// changed.

import { randomHex } from "../../disk/random.ts";
import { dropKept } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { type Snapshot, snapshot } from "../../git/snapshot/snapshot.ts";
import { deadWorktrees } from "../../git/worktree/dead-worktrees.ts";
import { inPlace, markedNames } from "../../git/worktree/marker.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import { addWorktree } from "../../git/worktree/worktree.ts";
import type { CommitId, SessionId } from "../../ids.ts";
import type { BaselineCommand } from "../../plan/baseline.ts";
import { REDACTED } from "../../secrets/redact.ts";
import { type CommandEnd, runCommand } from "../attempt/command-run.ts";
import { inWorktree, runSetup, sandboxed, type WorktreeBench } from "../attempt/place.ts";
import type { Command } from "../isolation.ts";
import type { Stopping } from "../process/stopping.ts";
import { copyProject } from "./copied-project.ts";

/** What a shell exits with when a command is not found, or cannot be executed. */
const cannotRun: readonly (number | null)[] = [126, 127];
const TAIL_CHARS = 32_000;
/** The name of a baseline's logs, and what the names of its batch and its worktree begin with. */
export const BASELINE = "baseline";

export interface BaselineRequest {
  commands: readonly string[];
  /** Of each command. */
  timeoutMs: number;
  /** Keeps the snapshot while the commands run; absent without a session. */
  session?: SessionId | undefined;
  /** The commit to take instead of the project as it is now. */
  commit?: CommitId | undefined;
  /** Told before each command. */
  tell?: ((command: string) => void) | undefined;
  /** When no further command may run, as performance.now() counts. */
  until?: number | undefined;
}

interface Place {
  root: string;
  env: Record<string, string>;
  wrap: (command: Command) => Command;
}

/** Null when it was stopped. Throws when no snapshot can be made, or its setup fails. */
export function takeBaseline(
  bench: WorktreeBench,
  request: BaselineRequest,
  stopping: Stopping,
): Promise<BaselineCommand[] | null> {
  const { repository, projectRoot, exclude } = bench.isolation.options;
  if (repository !== null) return inSnapshot(bench, repository, request, stopping);
  return inCopy(bench, { projectRoot, exclude }, request, stopping);
}

async function inCopy(
  bench: WorktreeBench,
  { projectRoot, exclude }: { projectRoot: string; exclude: readonly string[] },
  request: BaselineRequest,
  stopping: Stopping,
): Promise<BaselineCommand[] | null> {
  const { root, remove } = await copyProject(projectRoot, exclude);
  try {
    return await runAll(bench, { root, env: inWorktree(bench), wrap: (command) => command }, request, stopping);
  } finally {
    remove();
  }
}

async function inSnapshot(
  bench: WorktreeBench,
  repository: Repository,
  request: BaselineRequest,
  stopping: Stopping,
): Promise<BaselineCommand[] | null> {
  const { exclude, include, prefix } = bench.isolation.options;
  const now = await snapshot(repository, { exclude, include });
  const from: Snapshot = request.commit === undefined ? now : { ...now, commit: request.commit };
  const own = `${prefix}${BASELINE}-`;
  const session = request.session ?? (BASELINE as SessionId);
  const worktree = await addWorktree(repository, session, `${own}${randomHex(4)}`, from);
  try {
    if (!(await runSetup(bench, { name: `${BASELINE}-setup` }, worktree, stopping))) return null;
    const wrap = (command: Command) => sandboxed(bench, command, worktree);
    return await runAll(bench, { root: worktree.root, env: inWorktree(bench), wrap }, request, stopping);
  } finally {
    await removeWorktree(repository, worktree.name);
    await forgetSnapshots(repository, own);
  }
}

/** Deletes what kept the snapshot, and what a killed process left, unless another process takes a baseline now. */
export async function forgetSnapshots(repository: Repository, prefix: string): Promise<void> {
  for (const name of deadWorktrees(repository, prefix)) await removeWorktree(repository, name);
  const left = inPlace(repository, markedNames).filter((name) => name.startsWith(prefix));
  if (left.length === 0) await dropKept(repository, BASELINE as SessionId);
}

async function runAll(
  bench: WorktreeBench,
  { root, env, wrap }: Place,
  { commands, timeoutMs, tell, until = Number.POSITIVE_INFINITY }: BaselineRequest,
  stopping: Stopping,
): Promise<BaselineCommand[] | null> {
  const taken: BaselineCommand[] = [];
  for (const [position, command] of commands.entries()) {
    const limit = Math.min(timeoutMs, until - performance.now());
    if (command.includes(REDACTED) || limit <= 0) {
      const result = limit <= 0 ? "timed_out" : "cannot_run";
      taken.push({ command, result, exit_code: null, failing: null });
      continue;
    }
    tell?.(command);
    const marker = `${bench.run}.${BASELINE}.v${position + 1}`;
    const own = { MAESTRO_PHASE: "", MAESTRO_AGENT: "", MAESTRO_SESSION: "" };
    const request = { command, name: BASELINE, marker, cwd: root, env: { ...own, ...env }, wrap, tail: TAIL_CHARS };
    const ended = await runCommand(bench, { ...request, timeoutMs: limit }, stopping);
    if (ended.killed === "stopped" || stopping.isStopped) return null;
    taken.push(resultOf(command, ended));
  }
  return taken;
}

function resultOf(command: string, { code, killed, failure, failing }: CommandEnd): BaselineCommand {
  if (killed === "timeout") return { command, result: "timed_out", exit_code: null, failing: null };
  if (killed !== null || failure !== undefined || code === null) {
    return { command, result: "cannot_run", exit_code: null, failing: null };
  }
  if (code === 0) return { command, result: "passes_already", exit_code: 0, failing: [] };
  const result = cannotRun.includes(code) ? "cannot_run" : "fails_now";
  return { command, result, exit_code: code, failing: failing() };
}

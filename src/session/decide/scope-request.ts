// Judges an agent's request for files that its phase does not own: granted unless another open phase owns them. Pure; the request is
// recorded in both cases.

import { agentTiers } from "../../agents/tiers.ts";
import { MaestroError } from "../../errors.ts";
import type { PhaseId } from "../../ids.ts";
import { readOwnedPath, reservedDirectories } from "../../plan/owned-path.ts";
import { overlap, type Pattern, patternOf } from "../../plan/pattern.ts";
import { sensitivityOfFile, sensitivityReasons } from "../../secrets/sensitive-files.ts";
import { stripControls } from "../../text.ts";
import type { SessionEvent } from "../events.ts";
import { ownershipOf } from "../scope.ts";
import { isClosed, type Session, type SessionPhase } from "../session.ts";
import { ownedFiles } from "./attempt.ts";
import { requirePhase } from "./operation.ts";

export interface ScopeRequest {
  phase: string;
  agent: string;
  paths: readonly string[];
  reason: string;
}

export type ScopeVerdict =
  /** `paths` in normal form. */
  | { granted: true; paths: string[] }
  /** `paths`: those that cannot be granted. `owner`: the phase that owns them; null if no phase may. */
  | { granted: false; owner: PhaseId | null; paths: string[]; reason: string };

const MAX_RECORDED_CHARS = 1_024;

/** Records the request, even if it is refused; no event if the phase already owns every path. The phase must be in progress. */
export function decideScopeRequest(
  session: Session,
  { phase: id, agent, paths, reason }: ScopeRequest,
  stateDir: string,
): { events: SessionEvent[]; result: ScopeVerdict } {
  const phase = requirePhase(session, id);
  if (paths.length === 0 || reason.trim() === "") {
    throw new MaestroError("usage", "A request for more files must name them and say why");
  }
  if (phase.status !== "in_progress") {
    const status = phase.status.replace("_", " ");
    throw new MaestroError("illegal_transition", `Phase ${id} is ${status}: only running phases can request files`);
  }
  const verdict = judgeScopeRequest(session, id, paths, stateDir);
  const { granted } = verdict;
  const event = { type: "phase.scope_requested", phase: phase.id, agent, reason, granted } as const;
  if (!verdict.granted) {
    const asked = paths.map((path) => stripControls(path).slice(0, MAX_RECORDED_CHARS)).filter((path) => path !== "");
    return { events: [{ ...event, paths: asked, owner: verdict.owner }], result: verdict };
  }
  const owns = ownershipOf(phase);
  const added = verdict.paths.filter((path) => !owns(path));
  return { events: added.length === 0 ? [] : [{ ...event, paths: added, owner: null }], result: verdict };
}

/**
 * Granted when every path is a file or a directory that a phase may own, and none overlaps with the files of another open phase. A
 * request is granted completely or not at all.
 */
export function judgeScopeRequest(
  session: Session,
  id: string,
  paths: readonly string[],
  stateDir: string,
): ScopeVerdict {
  const phase = requirePhase(session, id);
  const tier = agentTiers.get(phase.agents[0] ?? "");
  if (tier === "read-only" || tier === "read-shell") {
    return { granted: false, owner: null, paths: [...paths], reason: `${phase.agents[0]} writes no files` };
  }
  const reserved = reservedFor(stateDir);
  const wanted = new Map<string, Pattern>();
  for (const path of paths) {
    const read = readWanted(path, reserved);
    if ("problem" in read) {
      return { granted: false, owner: null, paths: [path], reason: `${JSON.stringify(path)} ${read.problem}` };
    }
    const kind = sensitivityOfFile(read.path.replace(/\/$/, ""));
    if (kind !== undefined) {
      const reason = `${JSON.stringify(path)} ${sensitivityReasons[kind]}: only the user may change it`;
      return { granted: false, owner: null, paths: [path], reason };
    }
    wanted.set(read.path, read.pattern);
  }
  const owns = ownershipOf(phase);
  const added = [...wanted].filter(([path]) => !owns(path));
  return refusalOf(session, id, added) ?? { granted: true, paths: [...wanted.keys()] };
}

/** In a worktree, only the absolute path of the state directory is known, not where the project starts in it, so every suffix is reserved. */
function reservedFor(stateDir: string): string[][] {
  const written = stateDir.replaceAll("\\", "/");
  if (!/^(?:\/|[A-Za-z]:)/.test(written)) return reservedDirectories(written);
  const names = written.split("/").filter((name) => name !== "" && name !== ".");
  return names.flatMap((_, at) => reservedDirectories(names.slice(at).join("/")));
}

function readWanted(
  path: string,
  reserved: readonly (readonly string[])[],
): { path: string; pattern: Pattern } | { problem: string } {
  const owned = readOwnedPath(path, reserved);
  if ("problem" in owned) return owned;
  if (owned.path === ".") return { problem: "is the whole project; name files or directories" };
  const isDirectory = owned.path.endsWith("/");
  const name = isDirectory ? owned.path.slice(0, -1) : owned.path;
  const isSpeltOut = owned.patterns.every(({ text }) => text === (isDirectory ? `${name}/**` : name));
  if (!isSpeltOut || !patternOf(name.split("/"), false).isPath) {
    return { problem: "is a glob; name files or directories" };
  }
  return { path: owned.path, pattern: patternOf(folded(name).split("/"), isDirectory) };
}

const MAX_NAMED_PATHS = 5;

/** The refusal because of the first open phase that owns one of the paths. */
function refusalOf(
  session: Session,
  asking: string,
  wanted: readonly (readonly [string, Pattern])[],
): ScopeVerdict | undefined {
  for (const phase of session.phases) {
    if (phase.id === asking || isClosed(phase)) continue;
    const theirs = patternsOf(phase);
    const taken = wanted.filter(([, pattern]) => theirs.some((other) => meets(pattern, other)));
    if (taken.length === 0) continue;
    const paths = taken.map(([path]) => path);
    const more = paths.length > MAX_NAMED_PATHS ? ` and ${paths.length - MAX_NAMED_PATHS} more` : "";
    const named = paths.slice(0, MAX_NAMED_PATHS).join(", ") + more;
    const status = phase.status.replace("_", " ");
    const reason = `phase ${phase.id} (${phase.agents.join(", ")}), which is ${status}, owns ${named}`;
    return { granted: false, owner: phase.id, paths, reason };
  }
  return undefined;
}

function patternsOf(phase: SessionPhase): Pattern[] {
  return [...ownedFiles(phase), ...phase.granted].flatMap((path) => {
    const owned = readOwnedPath(folded(path), []);
    return "problem" in owned ? [] : owned.patterns;
  });
}

/** Some file systems treat "A.ts" and "a.ts" as one file, so case is ignored. */
function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function meets(a: Pattern, b: Pattern): boolean {
  // Fast path: most patterns differ in their literal first segments.
  for (let at = 0; at < a.literal && at < b.literal; at++) {
    if (a.segments[at] !== b.segments[at]) return false;
  }
  return overlap(a, b);
}

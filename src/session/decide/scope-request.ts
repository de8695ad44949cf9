// An agent asks for files that its phase does not own: granted when nobody else has a claim to them. Pure; the request is recorded
// either way.

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
  /** `paths`: those that stand against it. `owner`: the phase that has them; null: nobody may. */
  | { granted: false; owner: PhaseId | null; paths: string[]; reason: string };

const MAX_RECORDED_CHARS = 1_024;

/** The event that records it, also a refusal; none when the phase has all of it already. Only for a phase that is in progress. */
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
    throw new MaestroError("illegal_transition", `Phase ${id} is ${status}: only one in progress can ask for files`);
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
 * Granted when every path is a file or a directory that a phase may own, and no other phase that is still open has something that
 * overlaps: all of it or nothing.
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

/** A worktree knows the state directory by its absolute path, and not where the project begins in it: every end of it counts. */
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

/** By the first phase of the plan that is open and has some of it. */
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

/** On some disks "A.ts" is "a.ts": a doubt is an overlap. */
function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function meets(a: Pattern, b: Pattern): boolean {
  // Nearly all differ in their first names, and then there is nothing to compare.
  for (let at = 0; at < a.literal && at < b.literal; at++) {
    if (a.segments[at] !== b.segments[at]) return false;
  }
  return overlap(a, b);
}

// What changed in the project while a native delegation ran, found in the files and never in its report. Delegations that ran at the same
// time share the project: then a change belongs to the phase that owns the file, and to none when no running phase owns it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { agentTiers } from "../../agents/tiers.ts";
import { changesBetween } from "../../git/objects/changes.ts";
import { statusChanges } from "../../git/snapshot/status.ts";
import type { Warned } from "../../session/decide/attempt.ts";
import type { FileLists } from "../../session/decide/operation.ts";
import type { FileChange } from "../../session/events.ts";
import { declaresFiles } from "../../session/scope.ts";
import { isNative, type OpenDelegation, type Session } from "../../session/session.ts";
import {
  changesOf,
  type ExaminedWork,
  inSharedProject,
  keepAsCommit,
  linkWarnings,
  listingWarnings,
  recorded,
} from "../attempt/examine.ts";
import { claimWarnings, judgeWork } from "../attempt/judge-work.ts";
import { listingChanges } from "../attempt/listing.ts";
import type { Before, Sight } from "./look.ts";

export async function examineDelegation(
  session: Session,
  delegation: OpenDelegation,
  before: Before,
  now: Sight,
  projectRoot: string,
): Promise<ExaminedWork> {
  const { phase, attempt } = delegation;
  const links = await outsideLinks(before, now);
  if (isShared(session, delegation)) {
    const files = await differences(before, now);
    return { ...inSharedProject(session, phase, files, attempt.started), warnings: links };
  }
  if (before.kind === "commit" && now.kind === "commit") {
    const { repository, snapshot } = now;
    const kept = { repository, store: { session } };
    const examined = { phase: phase.id, attempt: attempt.attempt };
    const { changes, commit } = await keepAsCommit(kept, examined, phase, before.commit, snapshot.tree);
    // A file that git ignores since then has not been deleted.
    const files = changes.filter(({ kind, path }) => kind !== "deleted" || !existsSync(join(projectRoot, path)));
    const left = snapshot.warnings.map((message) => ({ code: "left_out" as const, message }));
    return worked(changesOf(phase, files, before.commit, commit), files, [...left, ...links]);
  }
  const files = await differences(before, now);
  const left = now.kind === "listing" ? listingWarnings(projectRoot, files, now.listing) : [];
  return worked(changesOf(phase, files, null, null), files, left);
}

function worked(changes: ExaminedWork["changes"], files: readonly FileChange[], warnings: Warned[]): ExaminedWork {
  return { changes, files, where: "project", warnings, trouble: null };
}

async function outsideLinks(before: Before, now: Sight): Promise<Warned[]> {
  if (before.kind !== "commit" || now.kind !== "commit") return [];
  return linkWarnings(now.repository, before.commit, now.snapshot.commit);
}

async function differences(before: Before, now: Sight): Promise<FileChange[]> {
  if (before.kind === "commit" && now.kind === "commit") {
    return (await changesBetween(now.repository, before.commit, now.snapshot.commit)).map(recorded);
  }
  if (before.kind === "listing" && now.kind === "listing") return listingChanges(before.listing, now.listing);
  if (before.kind !== "status" || now.kind !== "status")
    throw new Error("the states before and after are of different kinds");
  const changes = statusChanges(before.status, now.status);
  return changes.map(({ path, kind }): FileChange => ({ path, kind, added: null, removed: null }));
}

/** Whether a delegation of another phase ran at the same time. */
function isShared(session: Session, { phase, attempt }: OpenDelegation): boolean {
  return session.phases.some(
    (other) =>
      other.id !== phase.id &&
      other.attempts.some((one) => isNative(one) && (one.finished === null || one.finished > attempt.started)),
  );
}

/** The warnings about examined work. The work is in the project already, so nothing is rejected. `claimed`: the files that the report names. */
export function workWarnings(
  { phase, attempt }: OpenDelegation,
  work: ExaminedWork,
  claimed: FileLists | null,
  projectRoot: string,
): Warned[] {
  const tier = agentTiers.get(attempt.agent);
  const writes = tier !== "read-only" && tier !== "read-shell";
  const scope = judgeWork(work, { ownership: "warn", writes, declares: declaresFiles(phase) });
  const rejected: Warned[] =
    scope.verdict === null ? [] : [{ code: "outside_scope", message: scope.verdict.message.replaceAll("\n", " ") }];
  const claims = claimed === null ? [] : claimWarnings(phase, claimed, work, projectRoot);
  return [...work.warnings, ...claims, ...scope.warnings, ...rejected];
}

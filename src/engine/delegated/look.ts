// The state of the project when a native delegation begins and ends: a snapshot in git, the output of `git status` where a snapshot costs
// too much or is not possible, a listing outside git. Changes nothing that belongs to the user.

import { MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { indexEntries } from "../../git/snapshot/index-file.ts";
import { type Snapshot, snapshot } from "../../git/snapshot/snapshot.ts";
import { gitStatus, type StatusLook } from "../../git/snapshot/status.ts";
import type { CommitId } from "../../ids.ts";
import type { Session } from "../../session/session.ts";
import type { Environment } from "../../setting-layers.ts";
import type { StateLocation } from "../../store/location.ts";
import { type Listing, listProject } from "../attempt/listing.ts";
import { declaredFiles } from "../isolation.ts";
import { excluded, openProject, ownPaths } from "../open-project.ts";

/** The project of a delegation. */
export interface DelegationPlace {
  location: StateLocation;
  env: Environment;
}

/** The state before a delegation, as far as its end needs it. */
export type Before =
  | { kind: "commit"; commit: CommitId }
  | { kind: "status"; status: StatusLook }
  | { kind: "listing"; listing: Listing };

export type Sight =
  | { kind: "commit"; repository: Repository; snapshot: Snapshot }
  | { kind: "status"; status: StatusLook }
  | { kind: "listing"; listing: Listing };

/** A snapshot of more tracked files makes a conversation wait too long. */
const MAX_TRACKED = 50_000;

/** Throws when the project cannot be read. `like`: the state that the result is compared with. */
export async function lookAtProject(place: DelegationPlace, session: Session, like?: Before): Promise<Sight> {
  if (like?.kind === "listing") return list(place);
  const repository = like?.kind === "status" ? undefined : await openForWork(place);
  if (repository === "outside git") return list(place);
  if (repository === undefined) return readStatus(place, like?.kind === "status" ? like.status : undefined);
  if (isTooLarge(repository) && like === undefined) return statusIn(repository, place);
  const force = declaredFiles(session);
  const exclude = excluded(repository, place.location, place.env);
  return { kind: "commit", repository, snapshot: await snapshot(repository, { exclude, include: [], force }) };
}

/** Undefined when the repository is refused, for example because it has submodules. */
async function openForWork({ location, env }: DelegationPlace): Promise<Repository | "outside git" | undefined> {
  const opening = await openProject({ cwd: location.projectRoot, env, location });
  if (opening.kind === "open") return opening.repository;
  return opening.kind === "none" ? "outside git" : undefined;
}

async function readStatus(place: DelegationPlace, before: StatusLook | undefined): Promise<Sight> {
  const { location, env } = place;
  const opening = await openProject({ cwd: location.projectRoot, env, location }, "status");
  if (opening.kind !== "open") throw new MaestroError("environment", opening.reason);
  return statusIn(opening.repository, place, before);
}

async function statusIn(
  repository: Repository,
  { location, env }: DelegationPlace,
  before?: StatusLook,
): Promise<Sight> {
  const exclude = excluded(repository, location, env);
  return { kind: "status", status: await gitStatus(repository, exclude, before?.head) };
}

async function list({ location, env }: DelegationPlace): Promise<Sight> {
  const listing = await listProject(location.projectRoot, { exclude: ownPaths(location, env) });
  return { kind: "listing", listing };
}

function isTooLarge({ gitDir, objectFormat }: Repository): boolean {
  return indexEntries(gitDir, objectFormat).length > MAX_TRACKED;
}

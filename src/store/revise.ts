// Replaces the plan of a session: by its own file, edited in place, or by another version. The journal records the revision before a file
// changes, and every step can be repeated.

import { basename } from "node:path";
import { MaestroError } from "../errors.ts";
import { recordedText } from "../plan/mark/recorded.ts";
import { planRevised } from "../session/decide/facts.ts";
import { noSession, requireSession } from "../session/decide/operation.ts";
import { revisedPlanName } from "../session/identify.ts";
import { planChanges } from "../session/plan-change.ts";
import type { Session } from "../session/session.ts";
import { finishRevision } from "./archive.ts";
import { contentOf, readPlan } from "./files/plan-file.ts";
import { hashPlan, hashText } from "./files/project-files.ts";
import { inState, recordedPath, type StateLocation } from "./location.ts";
import { type ApprovedPlan, freeze } from "./operations.ts";
import type { SessionStore } from "./session-store.ts";
import { copySuperseded, isInPlans, keepEarlier, supersededPath } from "./supersede.ts";

export interface Revised {
  /** The plan file that the session follows now. */
  path: string;
  /** Where the version before it is kept; null when its text is not known. */
  superseded: string | null;
  /** One line per added, removed or changed phase. */
  changes: string[];
}

/**
 * The revision gets the next `-v<n>` name in `plans/`, and the plan before it goes to the archive as `.superseded`, marked as outdated. A draft
 * in `plans/` and an edited plan become that file: neither stays behind. A plan elsewhere is the user's own file, and edited in place it stays
 * where it is. Started phases must still be in the plan, with the same agent.
 */
export function revisePlan(store: SessionStore, given: ApprovedPlan, confirm?: (session: Session) => void): Revised {
  const revised = store.locked((directory) => {
    const session = requireSession(store.requireHealthy(directory));
    confirm?.(session);
    const text = store.redact(Buffer.from(given.bytes).toString("utf8"));
    const changes = planChanges(session, given.plan.phases);
    const revision = revisionOf(store.location, session, given, text);
    const { path, bytes, superseded, earlier, taken, to } = revision;
    const { implementation_plan: old, plan_hash: hash } = session;
    refuseRevision(session, { ...given, bytes });
    const plan = freeze({ ...given, bytes, path });
    store.append(directory, [planRevised({ plan, text, superseded, earlier, taken })]);
    finishRevision(store.location, { path, text, superseded, earlier, taken });
    if (superseded === null && earlier !== undefined) keepEarlier(store.location, to, earlier, path);
    else if (superseded === null && old !== null && hash !== null) copySuperseded(store.location, old, hash, to, path);
    return { path, superseded: archivedPlans(store.location).includes(basename(to)) ? to : null, changes };
  });
  if (revised === undefined) throw noSession();
  return revised;
}

/** The plan file that the session follows. */
export function ownPlan(store: SessionStore): string {
  return ownedBy(store).path;
}

/** The plan that a patch changes. Refused when its file was edited: the edit would be taken with the patch, unseen. */
export function planToPatch(store: SessionStore): { path: string; bytes: Buffer } {
  const { path, session } = ownedBy(store);
  const { bytes } = readPlan(store.location, path);
  if (hashText(bytes) === session.plan_hash) return { path, bytes };
  throw new MaestroError("conflict", `Cannot apply a patch: the plan has changed since the session started: ${path}`, {
    hint: 'Take the edited plan first, with "maestro session revise", or restore it.',
  });
}

function ownedBy(store: SessionStore): { path: string; session: Session } {
  store.refresh();
  const session = requireSession(store.session);
  const { implementation_plan: path } = session;
  if (path !== null) return { path, session };
  throw new MaestroError("usage", `Session ${session.session_id} follows no plan file`, { hint: "Name the plan." });
}

function revisionOf(location: StateLocation, session: Session, given: ApprovedPlan, text: string) {
  const old = session.implementation_plan;
  const to = supersededPath(location, basename(old ?? given.path), new Set(archivedPlans(location)));
  const isOwn = given.path === old;
  const isEdited = isOwn && hashPlan(location.projectRoot, old) !== session.plan_hash;
  const earlier = isEdited ? earlierText(session) : undefined;
  if (isEdited && !isInPlans(location, old)) {
    return { path: old, bytes: given.bytes, superseded: null, earlier, taken: undefined, to };
  }
  // After a crash the file is rewritten from the recorded (redacted) text, so the recorded hash must be of that text.
  const bytes = Buffer.from(text);
  const name = revisionName(location, session.session_id, basename(old ?? ""), bytes);
  const path = recordedPath(location, "plans", name);
  const superseded = old !== null && isInPlans(location, old) ? { from: old, to } : null;
  const isTaken = (isEdited || !isOwn) && given.path !== path && isInPlans(location, given.path);
  const taken = isTaken ? { path: given.path, hash: hashText(given.bytes) } : undefined;
  return { path, bytes, superseded, earlier, taken, to };
}

/** The plan that the session follows, as the journal has it: its text after a revision, else its recorded phases. */
function earlierText({ revised, implementation_plan, title, design_document, phases }: Session): string | undefined {
  if (revised !== null && revised.path === implementation_plan) return revised.text;
  const recorded = phases.flatMap(({ plan }) => plan ?? []);
  return recorded.length === phases.length ? recordedText({ title, design_document, phases: recorded }) : undefined;
}

/** The next free `-v<n>` name, or one whose file already has exactly these bytes (written by the user, or before a crash). */
function revisionName(location: StateLocation, id: string, current: string, bytes: Uint8Array): string {
  const archived = new Set(archivedPlans(location).map((name) => name.replace(/\.superseded(-\d+)?$/, "")));
  let name = revisedPlanName(id, current);
  for (;;) {
    const present = inState(location, ["plans"], (plans) => contentOf(plans, name, bytes)) ?? "none";
    if (present === "same" || (present === "none" && !archived.has(name))) return name;
    name = revisedPlanName(id, name);
  }
}

function archivedPlans(location: StateLocation): string[] {
  return inState(location, ["plans", "archive"], (archive) => archive.list()) ?? [];
}

function refuseRevision(session: Session, { plan, bytes }: ApprovedPlan): void {
  if (hashText(bytes) === session.plan_hash) {
    throw new MaestroError("conflict", "Cannot revise the plan: the session already follows this plan", {
      hint: `Edit ${session.implementation_plan} first, or name the changed phases in a patch.`,
    });
  }
  if (session.status === "completed" || session.aborted) {
    const what = session.aborted ? "was aborted" : "is completed";
    throw new MaestroError("conflict", `Cannot revise the plan: session ${session.session_id} ${what}`, {
      hint: "Archive it, then start a new one.",
    });
  }
  const next = new Map(plan.phases.map((phase) => [phase.id, phase]));
  for (const phase of session.phases) {
    if (phase.status === "pending") continue;
    const kept = next.get(phase.id);
    const what = `Cannot revise the plan: phase ${phase.id} is ${phase.status}`;
    if (kept === undefined) throw new MaestroError("conflict", `${what} and is missing from the revision`);
    // The plan keeps its agent when the user gave a retry to another one.
    if (kept.agent !== phase.agents[0] && kept.agent !== phase.plan?.agent) {
      throw new MaestroError("conflict", `${what} and its agent changes from ${phase.agents[0]} to ${kept.agent}`);
    }
  }
}

// maestro_session_write: the changes that a TechLead makes to the session. Each is one durable change of the journal.

import * as z from "zod";
import { pathFault, withoutDetours } from "../../disk/contained.ts";
import { MaestroError } from "../../errors.ts";
import { errorTypes } from "../../handoff/output/error-type.ts";
import { insideProject } from "../../session/decide/evidence.ts";
import { decideMode } from "../../session/decide/operation.ts";
import { moveByReport } from "../../session/decide/report-move.ts";
import { decideAnswer } from "../../session/decide/requirement.ts";
import { executionModes, phaseStatuses } from "../../session/event-parts.ts";
import { verdicts } from "../../session/events.ts";
import { unmetRequirements } from "../../session/requirements.ts";
import { findPhase, hasDependents, isClosed, isVerified, type Session } from "../../session/session.ts";
import {
  addError,
  addFiles,
  archiveQuestion,
  changeSession,
  completeSession,
  movePhase,
  type Recorder,
} from "../../store/operations.ts";
import type { Answer } from "../answer.ts";
import { agentName, countField, flagField, id, textField, verbatim, word } from "../fields.ts";
import { action, type Context, type Tool } from "../tool.ts";
import { createFrom, planFields } from "./session-create.ts";
import { revise } from "./session-revise.ts";

const MAX_FILES = 1_000;
/** How many ids an answer lists; maestro_session_read has all of them. */
const MAX_IDS = 50;

const expected_revision = countField("reject at any other").optional();
const paths = z.array(textField(4_096), { error: "must be a list of paths" }).max(MAX_FILES, {
  error: `must not have more than ${MAX_FILES} paths`,
});
const files = z.strictObject(
  { created: paths.optional(), modified: paths.optional(), deleted: paths.optional() },
  { error: "must be an object with created, modified or deleted" },
);
const error = z.strictObject(
  {
    agent: agentName().optional(),
    type: word(errorTypes),
    message: textField(100_000),
    resolution: textField(10_000, "default pending").optional(),
  },
  { error: "must be an object with agent, type and message" },
);

const patch = z
  .array(z.record(z.string(), z.unknown()), { error: "must be a list of phases, each an object with its id" })
  .meta({ type: "array", items: { type: "object" }, description: "phases to change: id and the new fields" });

export const sessionWrite: Tool = {
  name: "maestro_session_write",
  description:
    "Change the session. create takes task and plan_path, or plan_content with plan_filename; revise takes the edited plan, plan_path or phases. Revising, skipping, aborting and retries beyond the limit need user_decision: true (the user said so); completing with a requirement that is not met needs accept_open, after ask_user.",
  actions: {
    create: action({ ...planFields, expected_revision }, (context, input) =>
      createFrom(context, recorderOf(context, input.expected_revision), input),
    ),
    update_phase: action(
      {
        phase_id: id(),
        phase_status: word(phaseStatuses),
        user_decision: flagField().optional(),
        reason: textField(10_000).optional(),
        handoff: verbatim(1_000_000, "the agent's report, word for word").optional(),
        expected_revision,
      },
      updatePhase,
    ),
    revise: action(
      {
        plan_path: textField(4_096).optional(),
        phases: patch.optional(),
        user_decision: flagField().optional(),
        expected_revision,
      },
      (context, input) => revise(context, input, (session) => refuseOther(session.seq, input.expected_revision)),
    ),
    add_files: action({ phase_id: id(), files, expected_revision }, (context, input) => {
      const { phase_id } = input;
      const lists = filesOf(context, input.files);
      addFiles(recorderOf(context, input.expected_revision), phase_id, lists);
      const recorded = lists.created.length + lists.modified.length + lists.deleted.length;
      return written(context, { phase_id, files: recorded });
    }),
    add_error: action({ phase_id: id(), error, expected_revision }, (context, input) => {
      const { agent = "", type, message, resolution = "pending" } = input.error;
      const timestamp = context.now().toISOString();
      const entry = { agent, timestamp, type, message, resolution };
      addError(recorderOf(context, input.expected_revision), input.phase_id, entry);
      return written(context, { phase_id: input.phase_id, type, resolved: resolution !== "pending" });
    }),
    set_mode: action({ execution_mode: word(executionModes), expected_revision }, (context, input) => {
      const { execution_mode } = input;
      changeSession(recorderOf(context, input.expected_revision), (session) => decideMode(session, execution_mode));
      return written(context, { execution_mode });
    }),
    answer_requirement: action(
      { id: id(), verdict: word(verdicts), evidence: textField(10_000), expected_revision },
      (context, input) => {
        const { id: requirement, verdict, evidence } = input;
        changeSession(recorderOf(context, input.expected_revision), (session) =>
          decideAnswer(session, { id: requirement, verdict, evidence }),
        );
        const left = unmetRequirements(context.store.session ?? { requirements: [] });
        return written(context, { id: requirement, verdict, not_met: left.slice(0, MAX_IDS).map((one) => one.id) });
      },
    ),
    complete: action(
      {
        summary: textField(100_000).optional(),
        accept_open: textField(10_000, "the user's reason").optional(),
        expected_revision,
      },
      complete,
    ),
  },
};

/** The store, but every change is rejected unless the session is at the revision that the caller saw. */
function recorderOf({ store }: Context, expected: number | undefined): Recorder {
  if (expected === undefined) return store;
  return {
    location: store.location,
    update: (decide) =>
      store.update((session) => {
        refuseOther(session?.seq ?? 0, expected);
        return decide(session);
      }),
  };
}

function refuseOther(revision: number, expected: number | undefined): void {
  if (expected === undefined || revision === expected) return;
  throw new MaestroError("conflict", `The session is at revision ${revision}, not at ${expected}`, {
    hint: "Read it again with maestro_session_read, then decide.",
  });
}

function written({ store }: Context, body: object): Answer {
  return { body: { ...body, revision: store.session?.seq ?? 0 } };
}

interface PhaseUpdate {
  phase_id: string;
  phase_status: (typeof phaseStatuses)[number];
  user_decision?: boolean | undefined;
  reason?: string | undefined;
  handoff?: string | undefined;
  expected_revision?: number | undefined;
}

function updatePhase(context: Context, input: PhaseUpdate): Answer {
  const { phase_id, phase_status, reason } = input;
  const report = input.handoff;
  const dependents = report !== undefined && isAwaited(context, phase_id);
  movePhase(recorderOf(context, input.expected_revision), {
    phase: phase_id,
    to: phase_status,
    userDecision: input.user_decision ?? false,
    reason,
    maxRetries: context.settings.MAESTRO_MAX_RETRIES,
    now: context.now(),
    ...moveByReport(
      { to: phase_status, reason, report, dependents },
      { projectRoot: context.cwd, redact: context.redact },
    ),
  });
  return written(context, { phase_id, phase_status, ...consequences(context.store.session, phase_id) });
}

/** Without a known session, assumes that other phases wait for this one, so that the report must have all parts. */
function isAwaited({ store }: Context, phase: string): boolean {
  store.refresh();
  return store.session === undefined || hasDependents(store.session, phase);
}

/** What the caller would otherwise have to read next. */
function consequences(session: Session | undefined, id: string): object {
  const phase = session && findPhase(session, id);
  if (session === undefined || phase === undefined || !isClosed(phase)) return {};
  const isDone = (other: string) => isClosed(findPhase(session, other) ?? { status: "missing" });
  const unblocked = session.phases.filter(
    (other) => other.status === "pending" && other.blocked_by.includes(phase.id) && other.blocked_by.every(isDone),
  );
  const verified = isVerified(phase);
  const doubt = "No successful report, or no passed validation, is recorded: the completion is marked unverified.";
  return {
    ...(phase.status === "completed" ? { verified, ...(verified ? {} : { note: doubt }) } : {}),
    unblocked: unblocked.slice(0, MAX_IDS).map((other) => other.id),
  };
}

function filesOf({ cwd }: Context, given: z.output<typeof files>) {
  const [created = [], modified = [], deleted = []] = [given.created, given.modified, given.deleted].map((list) =>
    list?.map((path) => insideProject(cwd, withoutDetours(path))),
  );
  const all = [...created, ...modified, ...deleted];
  if (all.length === 0) {
    throw new MaestroError("usage", "No files given", { hint: "Name them in files.created, modified or deleted." });
  }
  const outside = all.filter((path) => pathFault(path) !== undefined);
  if (outside.length > 0) {
    const shown = outside.slice(0, 5).join(", ");
    throw new MaestroError("path", `Not inside the project: ${shown}${outside.length > 5 ? ", ..." : ""}`, {
      hint: "Name files relative to the project.",
    });
  }
  return { created, modified, deleted };
}

interface Completion {
  summary?: string | undefined;
  accept_open?: string | undefined;
  expected_revision?: number | undefined;
}

async function complete(context: Context, input: Completion) {
  const { store, settings, location, env, now } = context;
  let revision = 0;
  const recorder = recorderOf(context, input.expected_revision);
  const archived = completeSession(
    store,
    { summary: input.summary, acceptOpen: input.accept_open },
    {
      archive: settings.MAESTRO_AUTO_ARCHIVE,
      recorder: {
        location,
        update: (decide) => {
          const result = recorder.update(decide);
          revision = store.session?.seq ?? 0;
          return result;
        },
      },
    },
  );
  if (archived === null) return { body: { status: "completed", archived, question: archiveQuestion, revision } };
  // Loads git, as a run does.
  const { openProject } = await import("../../engine/open-project.ts");
  const { plansHint } = await import("../../engine/plans-hint.ts");
  const open = () => openProject({ cwd: location.projectRoot, env, location });
  const hint = await plansHint({ env, location, open }, now());
  return { body: { status: "completed", archived, ...(hint === undefined ? {} : { hint }), revision } };
}

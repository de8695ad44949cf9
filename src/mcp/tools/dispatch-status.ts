// maestro_dispatch_status: the batches of engines and dispatches under parallel/, and the result of one agent. Read-only.

import { normalizeAgentName } from "../../agents/names.ts";
import { MaestroError } from "../../errors.ts";
import { readHandoff } from "../../handoff/handoff.ts";
import { workLabel } from "../../ids.ts";
import { hasDependents, type Session } from "../../session/session.ts";
import { readArchived } from "../../store/archived.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { MAX_READ_STDOUT } from "../../store/files/batch.ts";
import { batchIdFault, listBatches, readBatch, readResult } from "../../store/files/batch-results.ts";
import { readSession } from "../../store/read-session.ts";
import { seenSession } from "../../store/seen-session.ts";
import { stripControls } from "../../text.ts";
import { claimOf } from "../../views/claim.ts";
import type { Answer } from "../answer.ts";
import { type AttemptState, type BatchState, batchState } from "../batch-state.ts";
import { countField, flagField, textField } from "../fields.ts";
import { action, type Context, type Tool } from "../tool.ts";

const LOG_TAIL_CHARS = 300;
const WORDS_TAIL_CHARS = 500;
const FULL_LOG_BYTES = 256 * 1024;
const MAX_NAMED = 20;

const batch_id = textField(200);
const paging = { offset: countField().optional(), limit: countField().optional() };

export const dispatchStatus: Tool = {
  name: "maestro_dispatch_status",
  description:
    "Results of dispatched agents: list_batches, batch_status (of batch_id, also while it runs), agent_result (report, tokens and log of one agent).",
  actions: {
    list_batches: action({ ...paging, full: flagField().optional() }, (context, { offset, limit, full }) => {
      const ids = listBatches(context.location);
      const item = (index: number) => {
        const { agents: _, ...summary } = stateOf(context, ids[index] as string);
        return summary;
      };
      return { body: {}, page: { key: "batches", total: ids.length, item, offset, limit }, full };
    }),
    batch_status: action({ batch_id, ...paging, full: flagField().optional() }, (context, input) => {
      const { agents, ...summary } = stateOf(context, input.batch_id);
      const { offset, limit, full } = input;
      return {
        body: summary,
        page: { key: "agents", total: agents.length, item: (at) => agents[at], offset, limit },
        full,
      };
    }),
    agent_result: action(
      { batch_id, agent: textField(200, "<agent> or <agent>.<label>"), full: flagField().optional() },
      (context, input) => resultOf(context, input.batch_id, input.agent, input.full === true),
    ),
  },
};

function stateOf(context: Context, id: string): BatchState {
  const fault = batchIdFault(id);
  if (fault !== undefined) throw new MaestroError("path", fault, { hint: "list_batches lists them." });
  const batch = readBatch(context.location, id);
  if (batch === undefined) {
    const known = listBatches(context.location).slice(0, MAX_NAMED);
    throw new MaestroError("not_found", `Batch ${JSON.stringify(id)} does not exist`, {
      hint: known.length === 0 ? "No batches yet." : `Batches: ${known.join(", ")}.`,
    });
  }
  return batchState(batch, {
    ...sessionOf(context, id),
    now: context.now().getTime(),
    timeoutMs: context.settings.MAESTRO_AGENT_TIMEOUT * 60_000,
  });
}

/** The session that the batch belongs to; a session's batch has the session's id. */
function sessionOf({ store, location, now }: Context, id: string): { session: Session | undefined; isDriven: boolean } {
  const read = readSession(store);
  if (read.state === "open" && read.session.phases.some(({ attempts }) => attempts.some(({ batch }) => batch === id))) {
    return { session: seenSession(location, read.session, now()), isDriven: runningEngine(location) !== undefined };
  }
  return { session: archivedSession(location, id), isDriven: false };
}

function archivedSession(location: Context["location"], id: string): Session | undefined {
  try {
    return readArchived(location, id);
  } catch (error) {
    // If the archived journal cannot be read, the state still follows from the result files.
    if (error instanceof MaestroError && error.code === "parse_failed") return undefined;
    throw error;
  }
}

function resultOf(context: Context, id: string, agent: string, full: boolean): Answer {
  const { location, redact } = context;
  const { batch_id: batch, agents } = stateOf(context, id);
  const found = pick(agents, agent, id);
  const { session } = sessionOf(context, id);
  const stdout = readResult(location, batch, found.name, "json", MAX_READ_STDOUT);
  const phase = found.phase_id;
  const dependents = session === undefined || phase === undefined ? undefined : hasDependents(session, phase);
  const read = stdout === "" ? null : readHandoff(redact(stdout), { dependents });
  const log = redact(
    stripControls(readResult(location, batch, found.name, "log", full ? FULL_LOG_BYTES : 4 * LOG_TAIL_CHARS)),
  );
  return {
    body: {
      batch_id: batch,
      ...found,
      report: read === null ? null : { ...reportOf(read), ...claimedIn(read, session, found) },
      ...(read === null || read.check.valid ? {} : { words: wordsOf(read, full) }),
      tokens: read?.check.tokens ?? null,
      log_tail: full ? log : log.slice(-LOG_TAIL_CHARS),
    },
    full,
  };
}

/** What the agent said instead of a complete report; its end, because agents sum up last. */
function wordsOf({ words }: ReturnType<typeof readHandoff>, full: boolean): string {
  const said = stripControls(words).trim();
  return full || said.length <= WORDS_TAIL_CHARS ? said : `…${said.slice(-WORDS_TAIL_CHARS)}`;
}

function reportOf({ check, summary }: ReturnType<typeof readHandoff>) {
  const { valid, status, missing, files_created, files_modified, files_deleted, parse_error, error_type } = check;
  return {
    valid,
    status,
    summary,
    files_created,
    files_modified,
    files_deleted,
    downstream_context: check.has_downstream_context ? check.downstream_context : null,
    missing,
    ...(parse_error === null ? {} : { parse_error }),
    ...(error_type === null ? {} : { error_type }),
  };
}

/** The claim of this attempt's report, with the proof if its work is what was validated. */
function claimedIn(read: ReturnType<typeof readHandoff>, session: Session | undefined, found: AttemptState): object {
  if (read.validationText === "") return {};
  const phase = session?.phases.find(({ id }) => id === found.phase_id);
  const isLast = phase !== undefined && phase.attempts.at(-1)?.attempt === found.attempt;
  return { claimed: read.validationText, proof: (isLast ? claimOf(phase)?.proof : undefined) ?? null };
}

/** Finds an attempt by its full name, by `<agent>.p<phase>`, or by its agent if that is unambiguous. */
function pick(agents: readonly AttemptState[], wanted: string, batch: string): AttemptState {
  const name = spelling(wanted);
  const exact = agents.find((state) => spelling(state.name) === name);
  if (exact !== undefined) return exact;
  const found = agents.filter(
    ({ agent, phase_id }) => name === agent || (phase_id !== undefined && name === workLabel(agent, phase_id)),
  );
  const phases = new Set(found.map((state) => state.phase_id ?? state.name));
  if (phases.size === 1) return found.reduce((a, b) => ((a.attempt ?? 0) < (b.attempt ?? 0) ? b : a));
  const names = (found.length === 0 ? agents : found).slice(0, MAX_NAMED).map((state) => state.name);
  const more = (found.length === 0 ? agents : found).length > MAX_NAMED ? ", ..." : "";
  const shown = JSON.stringify(wanted);
  if (found.length === 0) {
    throw new MaestroError("not_found", `Batch ${batch} has no agent ${shown}`, {
      hint: `It has ${names.join(", ")}${more}.`,
    });
  }
  throw new MaestroError("usage", `${shown} is ambiguous in batch ${batch}`, {
    hint: `Name one of ${names.join(", ")}${more}.`,
  });
}

/** Normalizes the agent's name and keeps the label. */
function spelling(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? normalizeAgentName(name) : `${normalizeAgentName(name.slice(0, dot))}${name.slice(dot)}`;
}

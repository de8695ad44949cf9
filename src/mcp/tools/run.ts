// maestro_run: starts or resumes the detached engine for the session's plan. The engine is `maestro resume` in a session of its own: it
// survives this server, and all its checks are those of the command line. The user's confirmation of the call is the consent to unattended
// agents; the session records it.

import { join } from "node:path";
import * as z from "zod";
import { startEngine } from "../../engine/process/start-detached.ts";
import { MaestroError } from "../../errors.ts";
import { exitCodes } from "../../exit-codes.ts";
import { commandLineOf } from "../../extension-path.ts";
import { graphOf } from "../../plan/graph.ts";
import { profileOf } from "../../plan/profile.ts";
import { programRoot } from "../../program-root.ts";
import { decideNote, noSession } from "../../session/decide/operation.ts";
import { executionModes, reviewModes } from "../../session/event-parts.ts";
import { sessionFingerprint } from "../../session/fingerprint.ts";
import { reviewSubject } from "../../session/review/review.ts";
import { isClosed, type Session, type SessionPhase } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { UserRecord } from "../../store/files/user-record.ts";
import { changeSession } from "../../store/operations.ts";
import { readSession } from "../../store/read-session.ts";
import { undecided } from "../../views/decision/open-decisions.ts";
import { short } from "../../views/record/brief.ts";
import type { Answer } from "../answer.ts";
import { choice, countField, id } from "../fields.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";
import { costIn } from "./validate-plan.ts";

/** How long the engine may take to lock the session. */
const START_LIMIT_MS = 60_000;
const MAX_NAMED = 40;
const MAX_SAID = 600;

export const runTool: Tool = {
  name: "maestro_run",
  description:
    "Start or resume the engine for the whole plan, in the background: it survives this conversation. Its agents run unattended with ALL their tool calls approved (yolo); confirming this call is the user's consent. The session stays open for the final review.",
  actions: {
    [ONLY]: action(
      {
        mode: choice(executionModes, "either way agents approve all their tool calls"),
        review: choice(reviewModes, "when the user reviews"),
        phases: z
          .array(id(), { error: "must be a list of phase ids" })
          .min(1, { error: "must not be empty" })
          .max(500, { error: "must not have more than 500 ids" })
          .meta({ type: "array", items: {}, description: "only these; default all that are left" })
          .optional(),
        concurrency: countField("agents at once; 0: no limit").optional(),
      },
      start,
    ),
  },
};

interface Input {
  mode: (typeof executionModes)[number];
  review: (typeof reviewModes)[number];
  phases?: string[] | undefined;
  concurrency?: number | undefined;
}

async function start(context: Context, input: Input): Promise<Answer> {
  const { store, news, cwd, env, location } = context;
  const session = runnable(context, input);
  const wanted = left(session, input.phases);
  news.begin(session);
  changeSession(store, (current) => decideNote(current, consentText(input, wanted), undefined));
  const args = [join(programRoot, "dist", "maestro.js"), ...command(input)];
  const started = await startEngine({ location, args, cwd, env, limitMs: START_LIMIT_MS });
  if ("said" in started) throw notStarted(started);
  const { mode, review, concurrency = context.settings.MAESTRO_MAX_CONCURRENT } = input;
  return {
    body: {
      started: true,
      session_id: started.session_id,
      engine: started.pid,
      mode,
      review,
      concurrency: mode === "sequential" ? 1 : concurrency === 0 ? "no limit" : concurrency,
      phases: wanted.slice(0, MAX_NAMED).map(({ id: phase, agents }) => `${phase} (${agents.join(", ")})`),
      ...(wanted.length > MAX_NAMED ? { more_phases: wanted.length - MAX_NAMED } : {}),
      estimate: estimateOf(context, wanted, mode),
    },
  };
}

/** The session, if an engine may run it. The engine checks again; these are the refusals that name a tool. */
function runnable({ store, location, env }: Context, { mode, phases }: Input): Session {
  const read = readSession(store);
  if (read.state === "broken") throw new MaestroError("parse_failed", `The session cannot be read: ${read.reason}`);
  if (read.state === "none") throw noSession();
  const { session } = read;
  const { session_id, execution_mode, status, aborted } = session;
  if (aborted || status === "completed") {
    throw new MaestroError("conflict", `Session ${session_id} ${aborted ? "was aborted" : "is completed"}`, {
      hint: "Archive it, then create a new one.",
    });
  }
  const engine = runningEngine(location);
  if (engine !== undefined) {
    throw new MaestroError(
      "environment",
      `An engine is already running session ${session_id} (process ${engine.pid})`,
      {
        hint: "maestro_wait follows it; maestro_decide stop stops it.",
      },
    );
  }
  if (!new UserRecord(env).knowsSession(sessionFingerprint(session))) {
    throw new MaestroError("environment", `Session ${session_id} was not started by this user on this machine`, {
      hint: `The user sees what it would do, and accepts it, in a terminal: ${commandLineOf(programRoot)} resume`,
    });
  }
  if (execution_mode !== null && execution_mode !== mode) {
    throw new MaestroError("conflict", `The session runs in ${execution_mode} mode`, {
      hint: "The mode applies to the whole session.",
    });
  }
  refuseUndecided(session, phases);
  return session;
}

function refuseUndecided(session: Session, phases: Input["phases"]): void {
  const open = undecided(session).filter((one) => !("phase" in one) || phases?.includes(one.phase.id) !== false);
  if (open.length > 0) {
    const named = open.slice(0, MAX_NAMED).map((one) => {
      if ("budget" in one) return "the spent budget";
      return "review" in one ? reviewSubject(one.review) : `phase ${one.phase.id}`;
    });
    const isOnlyBudget = open.every((one) => "budget" in one);
    throw new MaestroError("illegal_transition", `The user has to decide first about ${named.join(", ")}`, {
      hint: isOnlyBudget
        ? "maestro_session_read shows the command with which the user raises it in a terminal."
        : "maestro_session_read shows the options; maestro_decide records the answer.",
    });
  }
  if (!session.phases.every(isClosed)) return;
  throw new MaestroError("conflict", "All phases are done", {
    hint: 'After the final review: maestro_session_write {"action":"complete"}.',
  });
}

function left({ phases }: Session, ids: Input["phases"]): SessionPhase[] {
  return phases.filter((phase) => !isClosed(phase) && ids?.includes(phase.id) !== false);
}

function command({ mode, review, phases, concurrency }: Input): string[] {
  return [
    ...["resume", "--mode", mode, "--review", review, "--leave-open"],
    ...(phases === undefined ? [] : ["--phases", phases.join(",")]),
    ...(concurrency === undefined ? [] : ["--max-concurrent", String(concurrency)]),
  ];
}

function consentText({ mode, review }: Input, phases: readonly SessionPhase[]): string {
  const ids = phases.slice(0, MAX_NAMED).map(({ id: phase }) => phase);
  return `The user confirmed maestro_run: ${mode}, review: ${review}, phases ${ids.join(", ")}${phases.length > ids.length ? ", ..." : ""}. Agents approve all their tool calls.`;
}

/** Of the phases that run now; what they wait for and is done takes no time. */
function estimateOf(context: Context, phases: readonly SessionPhase[], mode: Input["mode"]) {
  const ids = new Set<string>(phases.map((phase) => phase.id));
  const planned = phases.flatMap(({ plan }) =>
    plan === undefined ? [] : [{ ...plan, blocked_by: plan.blocked_by.filter((other) => ids.has(other)) }],
  );
  const { estimated_minutes, estimated_tokens } = profileOf(planned, graphOf(planned));
  return { minutes: estimated_minutes[mode], tokens: estimated_tokens, cost_usd: costIn(context)(planned) };
}

/** What the engine printed before it ended, as an error answer: "ERROR: message", then its hint. */
function notStarted({ code, said, log }: { code: number | null; said: string; log: string }): MaestroError {
  if (code === null) {
    return new MaestroError("environment", `The engine did not lock the session within ${START_LIMIT_MS / 1000} s`, {
      hint: `Its output is in ${log}.`,
    });
  }
  const [, error = said] = /^ERROR: ((?:.|\n)*)/m.exec(said) ?? [];
  const [message = "", ...rest] = error.trim().split("\n");
  const hint = short(rest.join(" "), MAX_SAID);
  const why = message === "" ? `the engine exited with code ${code}` : short(message, MAX_SAID);
  return new MaestroError(code === exitCodes.usage ? "usage" : "environment", `Not started: ${why}`, {
    ...(hint === "" ? {} : { hint }),
  });
}

// maestro_request_scope: a dispatched agent asks for files that its phase does not own, for its own running attempt only.

import { isAbsolute, posix } from "node:path";
import * as z from "zod";
import { normalizeAgentName } from "../../agents/names.ts";
import { MaestroError } from "../../errors.ts";
import { insideProject } from "../../session/decide/evidence.ts";
import { requirePhase, requireSession } from "../../session/decide/operation.ts";
import { decideScopeRequest } from "../../session/decide/scope-request.ts";
import type { Session } from "../../session/session.ts";
import { recordedPath } from "../../store/location.ts";
import { runningAttempt } from "../../views/report/times.ts";
import type { Answer } from "../answer.ts";
import type { AttemptIdentity } from "../attempt-identity.ts";
import { textField } from "../fields.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";

const MAX_PATHS = 50;

const paths = z
  .array(textField(4_096), { error: "must be a list of paths" })
  .min(1, { error: "must name at least one path" })
  .max(MAX_PATHS, { error: `must not have more than ${MAX_PATHS} paths` });

export const requestScope: Tool = {
  name: "maestro_request_scope",
  description:
    "Ask for files or directories outside your file lists, before you change them. Granted if no other open phase owns them.",
  actions: { [ONLY]: action({ paths, reason: textField(2_000) }, request) },
};

/** The engine sets SANDBOX to this value inside its sandbox, where the state directory is read-only. On a worker, which sets MAESTRO_REMOTE, it is a copy. */
const SANDBOX = "bubblewrap";

const instead = "Leave them as they are, and name them in your report with what should change.";

function request(context: Context, input: { paths: string[]; reason: string }): Answer {
  const { store, cwd, location, env } = context;
  const where = env.SANDBOX === SANDBOX ? "inside a sandbox" : env.MAESTRO_REMOTE ? "a worker" : undefined;
  if (where !== undefined) {
    const reason = `the session cannot be written to from ${where}`;
    return { body: { granted: false, reason, owner: null, paths: input.paths, next: instead } };
  }
  const asked = input.paths.map((path) => fromProject(cwd, path));
  const verdict = store.update((current) => {
    const session = requireSession(current);
    const { phase, agent } = requireRunning(session, context.attempt);
    return decideScopeRequest(session, { phase, agent, paths: asked, reason: input.reason }, recordedPath(location));
  });
  const revision = store.session?.seq ?? 0;
  if (verdict.granted) return { body: { granted: true, paths: verdict.paths, revision } };
  const { reason, owner } = verdict;
  return { body: { granted: false, reason, owner, paths: verdict.paths, next: instead, revision } };
}

function fromProject(cwd: string, path: string): string {
  return isAbsolute(path) ? insideProject(cwd, posix.normalize(path)) : path;
}

/** The phase and agent of the attempt that asks. Throws when the attempt belongs to another session or is not running. */
function requireRunning(session: Session, attempt: AttemptIdentity | null): { phase: string; agent: string } {
  if (attempt?.phase === undefined) throw notRunning("This process does not work on a phase");
  const { phase: id, agent, session: own } = attempt;
  if (own !== session.session_id) {
    throw notRunning(`This attempt belongs to session ${own ?? "(none)"}; the active one is ${session.session_id}`);
  }
  const running = runningAttempt(session, requirePhase(session, id));
  const name = normalizeAgentName(agent);
  if (running === undefined || String(running.attempt) !== attempt.number || running.agent !== name) {
    throw notRunning(`Attempt ${attempt.number ?? "(none)"} of ${name} at phase ${id} is not running`);
  }
  return { phase: id, agent: name };
}

function notRunning(message: string): MaestroError {
  return new MaestroError("conflict", message, { hint: instead });
}

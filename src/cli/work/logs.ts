// maestro logs: prints the log and the answer of a phase's agent.

import { errno, MaestroError } from "../../errors.ts";
import { geminiRuntime } from "../../runtimes/gemini/gemini.ts";
import { requirePhase } from "../../session/decide/operation.ts";
import type { Attempt, Session } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { Batch, MAX_STDERR_BYTES, MAX_STDOUT_BYTES } from "../../store/files/batch.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { stripControls } from "../../text.ts";
import { openStore, settingsOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { batchPath, sessionFor } from "./results.ts";

const POLL_MS = 200;

export interface LogFlags {
  follow?: boolean;
  attempt?: string;
  session?: string;
  json?: boolean;
}

export async function logs(io: Io, id: string, flags: LogFlags): Promise<number> {
  const store = openStore(io, settingsOf(io));
  const print = (bytes: string) => io.out(asLines(store.redact(stripControls(bytes))));
  const session = sessionFor(store, flags.session);
  const attempt = attemptOf(session, id, flags.attempt);
  const batch = openResults(store, attempt);
  try {
    if (flags.json) {
      printJson(io, { phase: id, ...attempt, files: filesOf(batch, attempt), answer: answerOf(store, batch, attempt) });
      return 0;
    }
    const isActive = store.session?.session_id === session.session_id;
    if (flags.follow && isActive) await follow(io, store, batch, id, attempt, print);
    else print(batch.read(attempt.name, "log", MAX_STDERR_BYTES));
    const answer = answerOf(store, batch, attempt);
    if (answer !== "") io.out(`${answer.trimEnd()}\n`);
    print(batch.read(attempt.name, "validation.log", MAX_STDERR_BYTES));
    return 0;
  } finally {
    batch.close();
  }
}

function attemptOf(session: Session, id: string, number: string | undefined): Attempt {
  const { attempts } = requirePhase(session, id);
  const found = number === undefined ? attempts.at(-1) : attempts.find((one) => String(one.attempt) === number);
  if (found !== undefined) return found;
  const what = number === undefined ? `Phase ${id} has no attempt yet` : `Phase ${id} has no attempt ${number}`;
  throw new MaestroError("not_found", what, { hint: 'See "maestro status".' });
}

function openResults(store: SessionStore, attempt: Attempt): Batch {
  try {
    return new Batch(batchPath(store.location, attempt.batch), attempt.batch);
  } catch (error) {
    if (errno(error) !== "ENOENT") throw error;
    throw new MaestroError("not_found", `The log files of attempt ${attempt.name} do not exist any more`, {
      cause: error,
    });
  }
}

/** Prints the log as it grows, until the attempt ends or its engine stops. */
async function follow(
  io: Io,
  store: SessionStore,
  batch: Batch,
  phase: string,
  { attempt, name }: Attempt,
  print: (bytes: string) => void,
): Promise<void> {
  let isLeaving = false;
  const stopListening = io.onSignal(() => {
    isLeaving = true;
  });
  let seen = 0;
  // Only whole lines are printed: half of a secret at the end of a partial line would not be redacted.
  let rest = "";
  const printNew = (isLast: boolean) => {
    const size = batch.size(name, "log");
    const fresh = rest + (size > seen ? batch.read(name, "log", MAX_STDERR_BYTES, seen) : "");
    seen = size;
    const end = isLast ? fresh.length : fresh.lastIndexOf("\n") + 1;
    if (end > 0) print(fresh.slice(0, end));
    rest = fresh.slice(end);
  };
  const isRunning = () => {
    store.refresh();
    const session = store.session;
    const now = session && requirePhase(session, phase).attempts.find((one) => one.attempt === attempt);
    return now?.result === null && runningEngine(store.location) !== undefined;
  };
  while (!isLeaving && isRunning()) {
    printNew(false);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  printNew(true);
  stopListening();
}

/** The agent's answer, or its raw output if that cannot be parsed. */
function answerOf(store: SessionStore, batch: Batch, { name }: Attempt): string {
  const stdout = batch.read(name, "json", MAX_STDOUT_BYTES);
  const { text: said } = geminiRuntime.judge({ exitCode: 0, killed: null, stdout, stderr: "" });
  return store.redact(stripControls(said || stdout));
}

function filesOf(batch: Batch, { name }: Attempt) {
  const kinds = ["json", "log", "exit", "validation.log"] as const;
  return Object.fromEntries(kinds.map((kind) => [kind, batch.resultPath(name, kind)]));
}

function asLines(shown: string): string {
  return shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`;
}

// maestro logs: prints the log and the answer of a phase's agent.

import { attemptReader } from "../../engine/runtimes/described.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { requirePhase } from "../../session/decide/operation.ts";
import { isDelegated } from "../../session/seen.ts";
import { type Attempt, isNative, type Session } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { Batch, batchPath, MAX_READ_STDOUT, MAX_STDERR_BYTES } from "../../store/files/batch.ts";
import { NewLines } from "../../store/output/new-lines.ts";
import { seenSession } from "../../store/seen-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { stripControls } from "../../text.ts";
import { placeText } from "../../views/text/place.ts";
import { openStore, settingsOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { sessionFor } from "./results.ts";

const POLL_MS = 200;

export interface LogFlags {
  follow?: boolean;
  raw?: boolean;
  attempt?: string;
  session?: string;
  json?: boolean;
}

export async function logs(io: Io, id: string, flags: LogFlags): Promise<number> {
  const store = openStore(io, settingsOf(io));
  let isEmpty = true;
  const print: Print = (bytes) => {
    const text = asLines(store.redact(stripControls(bytes)));
    isEmpty &&= text.trim() === "";
    io.out(text);
  };
  const session = sessionFor(store, flags.session);
  const attempt = attemptOf(session, id, flags.attempt);
  const batch = openResults(store, attempt);
  const runtime = attemptReader(io.env, io.cwd)(attempt);
  try {
    if (flags.json) {
      printJson(io, {
        phase: id,
        ...attempt,
        files: filesOf(batch, attempt),
        answer: answerOf(store, batch, attempt, runtime),
      });
      return 0;
    }
    const place = placeText(attempt);
    if (place !== "") io.err(`Attempt ${attempt.attempt} ${place}\n`);
    const isActive = store.session?.session_id === session.session_id;
    const output = new AttemptOutput(batch, attempt, runtime, { isRaw: flags.raw === true, print });
    if (flags.follow && isActive) await follow(io, store, id, attempt, output);
    output.printNew(true);
    if (flags.raw) return 0;
    if (!output.isStream) print(answerOf(store, batch, attempt, runtime).trimEnd());
    print(batch.read(attempt.name, "validation.log", MAX_STDERR_BYTES));
    if (isEmpty) io.err(`Attempt ${attempt.attempt} ${noOutput(attempt)}\n`);
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

type Print = (bytes: string) => void;

/** The log and the output of an attempt, printed piece by piece. Only whole lines: half of a secret would not be redacted. */
class AttemptOutput {
  readonly #batch: Batch;
  readonly #isRaw: boolean;
  readonly #print: Print;
  readonly #log: NewLines;
  readonly #stdout: NewLines;
  readonly #runtime: Runtime;
  /** Text that has no line break yet. */
  #rest = "";
  /** Whether the attempt prints its text and tool calls as they happen. */
  isStream = false;

  constructor(batch: Batch, attempt: Attempt, runtime: Runtime, { isRaw, print }: { isRaw: boolean; print: Print }) {
    const { name } = attempt;
    this.#batch = batch;
    this.#runtime = runtime;
    this.#isRaw = isRaw;
    this.#print = print;
    this.#log = new NewLines(name, "log", MAX_STDERR_BYTES);
    this.#stdout = new NewLines(name, "json", MAX_READ_STDOUT);
  }

  /** `isLast`: nothing follows, so that a line without its end is printed too. */
  printNew(isLast: boolean): void {
    const log = this.#log.next(this.#batch, isLast);
    const lines = this.#stdout.next(this.#batch, isLast);
    if (!this.#isRaw && log !== "") this.#print(log);
    const shown = this.#isRaw ? { text: lines } : this.#runtime.shown(lines, this.#rest !== "");
    if (shown !== null) this.isStream = true;
    const text = this.#rest + (shown?.text ?? "");
    const end = isLast ? text.length : text.lastIndexOf("\n") + 1;
    if (end > 0) this.#print(text.slice(0, end));
    this.#rest = text.slice(end);
  }
}

/** Prints what is new until the attempt ends or its engine stops. */
async function follow(
  io: Io,
  store: SessionStore,
  phase: string,
  { attempt }: Attempt,
  output: AttemptOutput,
): Promise<void> {
  let isLeaving = false;
  const stopListening = io.onSignal(() => {
    isLeaving = true;
  });
  const isRunning = () => {
    store.refresh();
    const session = store.session;
    const now = session && requirePhase(session, phase).attempts.find((one) => one.attempt === attempt);
    if (session === undefined || now?.result !== null) return false;
    if (runningEngine(store.location) !== undefined) return true;
    return isDelegated(requirePhase(seenSession(store.location, session, io.now()), phase));
  };
  while (!isLeaving && isRunning()) {
    output.printNew(false);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  stopListening();
}

function noOutput(attempt: Attempt): string {
  if (attempt.result === null) return "has no output yet";
  const isLost = isNative(attempt) && attempt.result.outcome === "interrupted";
  return isLost ? "left no output: its conversation ended before its agent reported" : "left no output";
}

/** The agent's answer, or its raw output if that cannot be parsed and is not a stream, which has the prompt in it. */
function answerOf(store: SessionStore, batch: Batch, attempt: Attempt, runtime: Runtime): string {
  const stdout = batch.read(attempt.name, "json", MAX_READ_STDOUT);
  const { text: said } = runtime.judge({ exitCode: 0, killed: null, stdout, stderr: "" });
  const printed = said || runtime.shown(stdout, false)?.text;
  return store.redact(stripControls(printed ?? stdout));
}

function filesOf(batch: Batch, { name }: Attempt) {
  const kinds = ["json", "log", "exit", "validation.log"] as const;
  return Object.fromEntries(kinds.map((kind) => [kind, batch.resultPath(name, kind)]));
}

function asLines(shown: string): string {
  return shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`;
}

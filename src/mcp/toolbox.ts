// Runs tool calls: one store for the lifetime of the server, settings resolved for every call. A call never throws; an error becomes
// an answer.

import { refuseDecision } from "../engine/process/inside-attempt.ts";
import { projectRedactor } from "../secrets/redact.ts";
import { usersOwn } from "../setting-layers.ts";
import { resolveSettings } from "../settings.ts";
import { locateState, type StateLocation } from "../store/location.ts";
import { projectStore } from "../store/project-store.ts";
import type { SessionStore } from "../store/session-store.ts";
import { type Answer, answerText, fitting } from "./answer.ts";
import { attemptIn } from "./attempt-identity.ts";
import { failureOf, type ToolFailure } from "./failure.ts";
import { readToolInput } from "./input.ts";
import { News } from "./news.ts";
import { toolsFor } from "./offered.ts";
import type { Context, Wire } from "./tool.ts";
import type { Offered } from "./tool-table.ts";

/** How late the view may be, so that a burst of calls renders it once. */
const VIEW_DELAY_MS = 250;
/** How long `close` waits for the lock to render the last view. Short, because the next process renders it otherwise. */
const CLOSE_WAIT_MS = 200;
/** The faults of a plan in a refusal; maestro_validate_plan has all of them. */
const MAX_ERRORS_BYTES = 900;

export interface ServerMachine {
  cwd: () => string;
  env: Readonly<Record<string, string | undefined>>;
  now: () => Date;
  /** Logs defects in Maestro. */
  complain: (error: unknown) => void;
}

interface Result {
  [key: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: true;
}

export class Toolbox {
  readonly #machine: ServerMachine;
  readonly #attempt: Context["attempt"];
  #store: SessionStore | undefined;
  #maxRetries = 0;
  /** Built for every call from the environment and the project's .env. */
  #redact: Context["redact"] = (text) => text;
  /** Warnings of the store, added to the next answer. */
  #warnings: string[] = [];
  readonly #endings = new Set<() => void>();
  /** One for each running call. */
  readonly #calls = new Set<AbortController>();
  readonly #news = new News();

  constructor(machine: ServerMachine) {
    this.#machine = machine;
    this.#attempt = attemptIn(machine.env);
  }

  async call(name: string, args: unknown, wire: Wire = unheard): Promise<Result> {
    const offered = this.#offered().find(({ tool }) => tool.name === name);
    if (offered === undefined) return failed(this.#unknownTool(name));
    const running = new AbortController();
    const cancel = () => running.abort();
    wire.signal.addEventListener("abort", cancel);
    this.#calls.add(running);
    try {
      const { action, input } = readToolInput(offered.tool, args);
      const context = { ...this.#context(), signal: running.signal, progress: wire.progress };
      // An attempt could start a server without the variables that identify it.
      if (offered.offeredTo === "techlead" && !offered.readOnly) refuseDecision(context.env, context.location);
      const answer = await action.run(context, cleaned(input, context.redact));
      if (context.store.session !== undefined) this.#news.begin(context.store.session);
      return { content: [{ type: "text", text: answerText(this.#withWarnings(answer)) }] };
    } catch (error) {
      const failure = failureOf(error);
      if (failure.error === "internal") this.#machine.complain(error);
      return failed(failure);
    } finally {
      this.#calls.delete(running);
      wire.signal.removeEventListener("abort", cancel);
    }
  }

  /** No more requests come: calls that only wait are over. */
  interrupt(): void {
    for (const call of this.#calls) call.abort();
  }

  /** Stops what calls have started, and renders the view if it is out of date. */
  close(): void {
    for (const end of this.#endings) end();
    this.#closeStore();
  }

  #closeStore(): void {
    this.#store?.close(CLOSE_WAIT_MS);
    this.#store = undefined;
  }

  #offered(): readonly Offered[] {
    return toolsFor(this.#attempt === null ? "techlead" : "attempts");
  }

  #unknownTool(name: string): ToolFailure {
    const names = this.#offered().map(({ tool }) => tool.name);
    const where = this.#attempt === null ? "" : "Inside an attempt only these are offered: ";
    const shown = JSON.stringify(name.slice(0, 80));
    return { error: "unknown_tool", message: `unknown tool ${shown}`, hint: `${where}${names.join(", ")}.` };
  }

  #context(): Omit<Context, keyof Wire> {
    const { now } = this.#machine;
    const cwd = this.#machine.cwd();
    const env = usersOwn(this.#machine.env, cwd);
    const settings = resolveSettings(cwd, env).values;
    const location = locateState(cwd, settings.MAESTRO_STATE_DIR);
    this.#maxRetries = settings.MAESTRO_MAX_RETRIES;
    const redact = projectRedactor(cwd, env);
    this.#redact = redact;
    const store = this.#storeAt(location, env);
    const warn = (message: string) => void this.#warnings.push(message);
    const beforeEnd = (end: () => void) => {
      this.#endings.add(end);
      return () => void this.#endings.delete(end);
    };
    return {
      cwd,
      env,
      settings,
      location,
      store,
      now,
      redact,
      warn,
      beforeEnd,
      news: this.#news,
      attempt: this.#attempt,
    };
  }

  #storeAt(location: StateLocation, env: ServerMachine["env"]): SessionStore {
    if (this.#store !== undefined && isSame(this.#store.location, location)) return this.#store;
    this.#closeStore();
    this.#store = projectStore(location, {
      now: this.#machine.now,
      env,
      redact: (text) => this.#redact(text),
      warn: (message) => void this.#warnings.push(message),
      maxRetries: () => this.#maxRetries,
      viewDelayMs: VIEW_DELAY_MS,
    });
    this.#store.observe(this.#news.note);
    return this.#store;
  }

  #withWarnings(answer: Answer): Answer {
    if (this.#warnings.length === 0) return answer;
    const warnings = this.#warnings;
    this.#warnings = [];
    return { ...answer, body: { ...answer.body, warnings } };
  }
}

/** Of a call that cannot be cancelled. */
const unheard: Wire = { signal: new AbortController().signal, progress: undefined };

function isSame(one: StateLocation, other: StateLocation): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function failed(failure: ToolFailure): Result {
  const { errors = [] } = failure;
  const shown = fitting(errors, MAX_ERRORS_BYTES);
  const total = shown.length < errors.length ? { errors_total: errors.length } : {};
  const body = { ...failure, ...(errors.length === 0 ? {} : { errors: shown, ...total }) };
  const rest = "maestro_validate_plan with full: true lists everything about a plan.";
  return { content: [{ type: "text", text: answerText({ body, rest }) }], isError: true };
}

/** Not redacted here: a report is redacted after it is parsed. */
const verbatim = new Set(["handoff"]);

/** The input with all secrets redacted, because it may be recorded. */
function cleaned<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === "string") return redact(value) as Value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, redact)) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, verbatim.has(key) ? item : cleaned(item, redact)]);
  return Object.fromEntries(entries) as Value;
}

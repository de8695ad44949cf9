// What the dashboard answers to a request that was let in. Decisions take the path of the MCP tool maestro_decide, with its schema.

import type { ServerResponse } from "node:http";
import { MaestroError } from "../errors.ts";
import { Toolbox } from "../mcp/toolbox.ts";
import type { Session, SessionPhase } from "../session/session.ts";
import type { StateLocation } from "../store/location.ts";
import type { Overview } from "../web/model/wire.ts";
import { type LogChunk, readLog, readPrompt } from "./attempt-files.ts";
import type { RecordFeed } from "./feed.ts";
import type { AskedRoute } from "./request.ts";
import { Sessions } from "./sessions.ts";
import { streamArchived, streamLive } from "./stream.ts";

type Of<Kind extends AskedRoute["kind"]> = Extract<AskedRoute, { kind: Kind }>;

export interface AnswerOptions {
  location: StateLocation;
  feed: RecordFeed;
  redact: (text: string) => string;
  overview: Omit<Overview, "sessions" | "unread">;
  /** The changes of an attempt as a patch; throws when they are not kept. */
  patch: (session: Session, phase: SessionPhase, attempt: number) => Promise<string>;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  now: () => Date;
  complain: (error: unknown) => void;
}

export class Answers {
  readonly #options: AnswerOptions;
  readonly #sessions: Sessions;
  #tools: Toolbox | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#sessions = new Sessions(options.location, options.feed, options.redact);
  }

  overview(): Overview {
    return { ...this.#options.overview, ...this.#sessions.list() };
  }

  /** A function that sends the records; throws when the session does not exist. */
  records(session: string, after: number): (answer: ServerResponse) => Promise<void> {
    const { feed } = this.#options;
    if (this.#sessions.isActive(session)) {
      // Without it a page would show a running session as idle until the next pulse.
      feed.readPulse();
      return (answer) => streamLive(answer, feed, after, (last) => this.#archivedLines(session, last));
    }
    const archived = this.#sessions.archived(session, after);
    if (archived === undefined) throw new MaestroError("not_found", `Session ${session} does not exist`);
    return (answer) => streamArchived(answer, archived.lines, archived.layout);
  }

  #archivedLines(session: string, after: number): string[] {
    try {
      return this.#sessions.archived(session, after)?.lines ?? [];
    } catch (error) {
      // A damaged journal in the archive must not end the dashboard.
      if (!(error instanceof MaestroError)) throw error;
      return [];
    }
  }

  log({ session, phase, attempt: number, part, from }: Of<"log">): LogChunk & { isOver: boolean } {
    const { attempt } = this.#sessions.attempt(session, phase, number);
    return { ...readLog(this.#options, attempt, part, from), isOver: attempt.result !== null };
  }

  prompt({ session, phase, attempt: number }: Of<"prompt" | "diff">): string {
    const { location, redact } = this.#options;
    return readPrompt(location, this.#sessions.attempt(session, phase, number).attempt, redact);
  }

  async diff({ session: id, phase: name, attempt: number }: Of<"prompt" | "diff">): Promise<string> {
    const { session, phase, attempt } = this.#sessions.attempt(id, name, number);
    if (attempt.changes?.total === 0) return "";
    return this.#options.redact(await this.#options.patch(session, phase, number));
  }

  async decide(session: string, input: unknown): Promise<{ status: number; body: unknown }> {
    if (!this.#options.overview.control) {
      const message = 'This dashboard only reads. Start it with "maestro dashboard --control" to decide here.';
      return { status: 403, body: { error: "denied", message } };
    }
    const { cwd, env, now, complain, feed } = this.#options;
    // Another session may have begun since the last look; its phases have the same names.
    feed.poll();
    if (!this.#sessions.isActive(session)) {
      return { status: 409, body: { error: "conflict", message: `Session ${session} is not the active session.` } };
    }
    // A conversation shows the work and approves in one breath; a page may be hours old.
    if (approvesUnseen(input)) {
      return { status: 409, body: { error: "usage", message: "An approval names the tree that was shown." } };
    }
    this.#tools ??= new Toolbox({ cwd: () => cwd, env, now, complain });
    const { content, isError } = await this.#tools.call("maestro_decide", input);
    feed.poll();
    return { status: isError ? 409 : 200, body: JSON.parse(content[0]?.text ?? "{}") };
  }

  close(): void {
    this.#tools?.close();
  }
}

function approvesUnseen(input: unknown): boolean {
  const { action, tree } = (input ?? {}) as { action?: unknown; tree?: unknown };
  return action === "approve" && tree === undefined;
}

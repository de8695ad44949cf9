// Follows the records of a session. One tab of the browser, elected with a lock, keeps the stream open and passes the records on to other
// tabs: a browser opens at most six connections to a server, and a stream uses one. A lost stream is opened again from the last known
// record.

import type { TimedEvent } from "../../session/fold.ts";
import type { Layout, LivePulse } from "../model/wire.ts";
import { get, loggedIn } from "./api.ts";
import { readEvents, type ServerEvent } from "./events.ts";
import { addRecords, clearRecords, connection, idlePulse, layout, pulse, replay } from "./state.ts";

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5_000;
/** Records that are shown together, so that a long history is not drawn piece by piece. */
const BATCH_MS = 50;

type Told =
  | { kind: "records"; from: number; records: TimedEvent[] }
  | { kind: "layout"; layout: Layout }
  | { kind: "pulse"; pulse: LivePulse }
  | { kind: "reset" }
  | { kind: "state"; state: "live" | "ended" | "lost" | "refused" }
  /** A tab that has just been opened asks for the records of the leader. */
  | { kind: "join"; after: number };

export class Follower {
  readonly #session: string;
  readonly #channel: BroadcastChannel;
  readonly #stop = new AbortController();
  #isLeader = false;
  #waiting: TimedEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(session: string) {
    this.#session = session;
    this.#channel = new BroadcastChannel(`maestro ${session}`);
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Told>) => this.#hear(data));
    this.#channel.postMessage({ kind: "join", after: 0 } satisfies Told);
    void this.#lead();
  }

  close(): void {
    this.#stop.abort();
    this.#channel.close();
    clearTimeout(this.#timer);
  }

  /** Waits until this tab may hold the stream, and holds it until the tab is closed. */
  async #lead(): Promise<void> {
    try {
      await navigator.locks.request(`maestro ${this.#session}`, { signal: this.#stop.signal }, () => this.#follow());
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  async #follow(): Promise<void> {
    this.#isLeader = true;
    for (let pause = FIRST_PAUSE_MS; !this.#stop.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const before = replay.records.length;
      const end = await this.#read();
      if (end === "ended" || end === "refused") {
        this.#tell({ kind: "state", state: end });
        if (end === "ended") return;
        await loggedIn();
        continue;
      }
      if (this.#stop.signal.aborted) return;
      this.#tell({ kind: "state", state: "lost" });
      if (replay.records.length > before) pause = FIRST_PAUSE_MS;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #read(): Promise<"ended" | "refused" | "lost"> {
    try {
      const after = replay.records.at(-1)?.seq ?? 0;
      const path = `/api/sessions/${encodeURIComponent(this.#session)}/records?after=${after}`;
      const answer = await get(path, this.#stop.signal);
      if (answer.status === 401) return "refused";
      // The address names a session that this project does not have.
      if (answer.status === 404) return "ended";
      if (!answer.ok || answer.body === null) return "lost";
      this.#tell({ kind: "state", state: "live" });
      return (await this.#readEvents(answer.body)) ? "ended" : "lost";
    } catch {
      // The server has exited, or the tab is being closed.
      return "lost";
    }
  }

  /** Returns whether the server said that nothing follows. */
  async #readEvents(body: ReadableStream<Uint8Array>): Promise<boolean> {
    let hasEnded = false;
    await readEvents(body, (event) => {
      hasEnded = this.#take(event) || hasEnded;
      return false;
    });
    this.#flush();
    return hasEnded;
  }

  #take({ kind, data }: ServerEvent): boolean {
    if (kind === "end") return true;
    if (data === "") return false;
    const value: unknown = JSON.parse(data);
    if (kind === "message") this.#collect(value as TimedEvent);
    else if (kind === "reset") {
      this.#waiting = [];
      this.#tell({ kind: "reset" });
    } else if (kind === "layout") this.#tell({ kind: "layout", layout: value as Layout });
    else if (kind === "pulse") this.#tell({ kind: "pulse", pulse: value as LivePulse });
    return false;
  }

  #collect(record: TimedEvent): void {
    this.#waiting.push(record);
    this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const records = this.#waiting;
    this.#waiting = [];
    this.#tell({ kind: "records", from: records[0]?.seq ?? 0, records });
  }

  #tell(told: Told): void {
    this.#apply(told);
    this.#channel.postMessage(told);
  }

  #hear(told: Told): void {
    if (told.kind !== "join") {
      if (!this.#isLeader) this.#apply(told);
      return;
    }
    if (!this.#isLeader) return;
    const records = replay.records.filter(({ seq }) => seq > told.after);
    if (layout.value !== null) this.#channel.postMessage({ kind: "layout", layout: layout.value } satisfies Told);
    this.#channel.postMessage({ kind: "pulse", pulse: pulse.value } satisfies Told);
    if (records.length > 0) this.#channel.postMessage({ kind: "records", from: 1, records } satisfies Told);
    const state = connection.value;
    if (state === "live" || state === "ended" || state === "lost" || state === "refused")
      this.#channel.postMessage({ kind: "state", state } satisfies Told);
  }

  #apply(told: Told): void {
    if (told.kind === "records") {
      const last = replay.records.at(-1)?.seq ?? 0;
      // This record arrived before the earlier ones: the tab asks for all of them.
      if (told.from > last + 1) this.#channel.postMessage({ kind: "join", after: last } satisfies Told);
      else addRecords(told.records);
    } else if (told.kind === "layout") layout.value = told.layout;
    else if (told.kind === "pulse") pulse.value = told.pulse;
    else if (told.kind === "reset") clearRecords();
    else if (told.kind === "state") {
      connection.value = told.state;
      // Nothing runs in an archived session.
      if (told.state === "ended") pulse.value = idlePulse;
    }
  }
}

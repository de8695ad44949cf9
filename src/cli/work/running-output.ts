// What the agents of running phases do, for `watch` and `status`: read from the output files of their attempts, never recorded.

import { OutputFollower, shownActivity } from "../../engine/attempt/output-follower.ts";
import { attemptReader } from "../../engine/runtimes/described.ts";
import { errno } from "../../errors.ts";
import { type Attempt, findPhase, type Session } from "../../session/session.ts";
import type { Environment } from "../../setting-layers.ts";
import { Batch, batchPath } from "../../store/files/batch.ts";
import { geminiHome } from "../../store/files/gemini-home.ts";
import type { StateLocation } from "../../store/location.ts";

export interface RunningWork {
  activity: Map<string, string>;
  tokens: Map<string, number>;
}

/** Remembers how far each attempt was read, so that every byte is read once. */
export class RunningOutput {
  readonly #location: StateLocation;
  readonly #redact: (text: string) => string;
  readonly #home: string;
  readonly #reader: ReturnType<typeof attemptReader>;
  #followers = new Map<string, OutputFollower>();

  constructor(location: StateLocation, redact: (text: string) => string, env: Environment) {
    this.#location = location;
    this.#home = geminiHome(env);
    this.#reader = attemptReader(env, location.projectRoot);
    this.#redact = redact;
  }

  /** What the agent of each running phase did last, and its tokens so far, by phase. */
  read(session: Session): RunningWork {
    const work: RunningWork = { activity: new Map(), tokens: new Map() };
    const followers = new Map<string, OutputFollower>();
    for (const id of session.running) {
      const attempt = findPhase(session, id)?.attempts.at(-1);
      if (attempt === undefined || attempt.result !== null) continue;
      const key = `${attempt.batch} ${attempt.name}`;
      const follower = this.#followers.get(key) ?? new OutputFollower(this.#reader(attempt), attempt.name, this.#home);
      followers.set(key, follower);
      this.#follow(attempt, follower);
      const activity = shownActivity(follower.progress, this.#redact);
      if (activity !== "") work.activity.set(id, activity);
      if (follower.tokens !== null) work.tokens.set(id, follower.tokens);
    }
    this.#followers = followers;
    return work;
  }

  #follow({ batch: id }: Attempt, follower: OutputFollower): void {
    const batch = openResults(this.#location, id);
    if (batch === undefined) return;
    try {
      follower.read(batch);
    } finally {
      batch.close();
    }
  }
}

/** Undefined when the files do not exist: a native delegation has none while it runs. */
function openResults(location: StateLocation, id: string): Batch | undefined {
  try {
    return new Batch(batchPath(location, id), id);
  } catch (error) {
    if (errno(error) === "ENOENT") return undefined;
    throw error;
  }
}

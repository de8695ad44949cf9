// A stop switch for work that runs several processes in turn: it stops the current one, or the next one if none is running.

import type { Killed } from "../../runtimes/runtime.ts";

export class Stopping {
  #why: Killed = null;
  #stop: (why: Killed) => void = () => undefined;

  readonly stop = (why: Killed): void => {
    this.#why ??= why;
    this.#stop(why);
  };

  get isStopped(): boolean {
    return this.#why !== null;
  }

  /** Sets how to stop the current process; stops it at once when a stop was already requested. */
  runs(stop: (why: Killed) => void): void {
    this.#stop = stop;
    if (this.#why !== null) stop(this.#why);
  }
}

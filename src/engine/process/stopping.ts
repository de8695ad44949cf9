// Work that can be stopped at any moment, whatever runs in it just then, and also when nothing does.

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

  /** What runs now, by the way to end it. It is ended at once when that was asked for before. */
  runs(stop: (why: Killed) => void): void {
    this.#stop = stop;
    if (this.#why !== null) stop(this.#why);
  }
}

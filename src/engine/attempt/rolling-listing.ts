// The listing of a project, kept up to date for all attempts of a run. Attempts that ask together share one sweep over the files. A sweep
// that follows another one closely is skipped when watched directories saw no change; a watch alone never answers for long, because a
// write through a memory map causes no event.

import { DirectoryWatch } from "./directory-watch.ts";
import { type Listing, type ListingOptions, listProject } from "./listing.ts";

/** After a sweep, the watch answers for this many times the sweep's duration, so sweeps take at most a twentieth of the time. */
const WATCHED_FACTOR = 20;

interface Swept {
  listing: Listing;
  took: number;
  ended: number;
}

export class RollingListing {
  readonly #root: string;
  readonly #options: ListingOptions;
  #last: Swept | undefined;
  /** Null when directories cannot be watched here. */
  #watch: DirectoryWatch | null | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #isSweeping = false;
  #next: Promise<Listing> | undefined;

  constructor(root: string, options: ListingOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** The files as they are at a moment after this call. The same object as before when nothing has changed. */
  now(): Promise<Listing> {
    if (this.#next !== undefined) return this.#next;
    const begin = () => {
      this.#next = undefined;
      return this.#look();
    };
    const next = this.#running.then(begin, begin);
    this.#next = next;
    this.#running = next.catch(() => undefined);
    return next;
  }

  /** The last listing, if it shows the files as they are at a moment after this call; undefined when only a sweep can tell. */
  async unchanged(): Promise<Listing | undefined> {
    const last = this.#last;
    const isSoon = last !== undefined && performance.now() - last.ended < WATCHED_FACTOR * last.took;
    if (!isSoon || !last.listing.complete || this.#isSweeping || (await this.#watch?.isQuiet()) !== true)
      return undefined;
    // A sweep that began meanwhile has made the watch forget what it saw.
    return this.#isSweeping || this.#last !== last ? undefined : last.listing;
  }

  close(): void {
    this.#watch?.close();
    this.#watch = null;
  }

  async #look(): Promise<Listing> {
    const unchanged = await this.unchanged();
    if (unchanged !== undefined) return unchanged;
    this.#isSweeping = true;
    try {
      return await this.#sweep();
    } finally {
      this.#isSweeping = false;
    }
  }

  async #sweep(): Promise<Listing> {
    const began = performance.now();
    if (this.#watch === undefined) this.#watch = DirectoryWatch.begin(this.#options.exclude);
    const watch = this.#watch;
    watch?.startSweep();
    const listing = await listProject(this.#root, {
      ...this.#options,
      earlier: this.#last?.listing,
      visits: (directory, path) => watch?.add(directory, path),
    });
    if (watch?.endSweep() === false) this.#watch = null;
    const ended = performance.now();
    this.#last = { listing, took: ended - began, ended };
    return listing;
  }
}

// Watches the directories that a sweep visits, and reports whether anything changed in them since the sweep began, but not what: the next
// sweep finds that out. Only on Linux, where the kernel queues an event before the write that causes it returns.

import { type FSWatcher, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import type { Directory } from "../../disk/contained.ts";
import { errno } from "../../errors.ts";
import { excludedPaths, isFilledByTools } from "./listing.ts";

const MAX_WATCHES = 4096;
/** The user needs watches for other programs too. */
const SHARE_OF_WATCHES = 1 / 8;
/** A full queue loses events, so a part of it counts as full. */
const SHARE_OF_EVENTS = 1 / 2;
const limits = "/proc/sys/fs/inotify";

interface Watched {
  inode: number;
  watcher: FSWatcher;
  /** The last sweep that visited it. */
  sweep: number;
}

export class DirectoryWatch {
  readonly #exclude: ReadonlySet<string>;
  readonly #mostWatches: number;
  readonly #mostEvents: number;
  readonly #directories = new Map<string, Watched>();
  #sweep = 0;
  /** How many events there were so far. */
  #events = 0;
  #isChanged = false;
  #isBroken = false;

  private constructor(exclude: readonly string[], watches: number, events: number) {
    this.#exclude = excludedPaths(exclude);
    this.#mostWatches = Math.min(MAX_WATCHES, watches * SHARE_OF_WATCHES);
    this.#mostEvents = events * SHARE_OF_EVENTS;
  }

  /** Null where the system cannot be relied on to report every change. */
  static begin(exclude: readonly string[]): DirectoryWatch | null {
    if (process.platform !== "linux") return null;
    try {
      const [watches = 0, events = 0] = ["max_user_watches", "max_queued_events"].map((name) =>
        Number(readFileSync(join(limits, name), "utf8")),
      );
      return new DirectoryWatch(exclude, watches, events);
    } catch (error) {
      if (errno(error) === undefined) throw error;
      return null;
    }
  }

  startSweep(): void {
    this.#sweep += 1;
    this.#isChanged = false;
  }

  /** Must be called before the directory is read, so that no change falls between the two. */
  add(directory: Directory, path: string): void {
    if (this.#isBroken) return;
    const inode = directory.stat.ino;
    const known = this.#directories.get(path);
    if (known?.inode === inode) {
      known.sweep = this.#sweep;
      return;
    }
    known?.watcher.close();
    this.#directories.delete(path);
    if (this.#directories.size >= this.#mostWatches) this.#break();
    else this.#watch(directory, path, inode);
  }

  /** False when directories cannot be watched any longer. */
  endSweep(): boolean {
    for (const [path, { sweep, watcher }] of this.#directories) {
      if (sweep === this.#sweep) continue;
      watcher.close();
      this.#directories.delete(path);
    }
    return !this.#isBroken;
  }

  /** Whether nothing has changed since the last sweep began, up to this call. */
  async isQuiet(): Promise<boolean> {
    if (this.#directories.size === 0) return false;
    const before = this.#events;
    // The event loop reads all queued events between two immediates.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    return !this.#isChanged && !this.#isBroken && this.#events - before < this.#mostEvents;
  }

  close(): void {
    for (const { watcher } of this.#directories.values()) watcher.close();
    this.#directories.clear();
  }

  #watch(directory: Directory, path: string, inode: number): void {
    try {
      const watcher = watch(directory.at("."), { persistent: false }, (_, name) => this.#note(path, name));
      watcher.on("error", () => this.#break());
      this.#directories.set(path, { inode, watcher, sweep: this.#sweep });
    } catch (error) {
      if (errno(error) === undefined) throw error;
      this.#break();
    }
  }

  #note(path: string, name: string | null): void {
    this.#events += 1;
    if (name !== null) {
      const below = path === "" ? name : `${path}/${name}`;
      if (isFilledByTools(name) || this.#exclude.has(below)) return;
    }
    this.#isChanged = true;
  }

  #break(): void {
    this.#isBroken = true;
    this.close();
  }
}

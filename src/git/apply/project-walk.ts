// Opens directories of the project one below the other, without following a link. The path to the last one stays open, because the steps of
// an integration are sorted by path; a directory that is removed, or may have been replaced meanwhile, must be forgotten.

import { Directory } from "../../disk/contained.ts";
import { errno } from "../../errors.ts";
import type { Repository } from "../repository.ts";

export class ProjectWalk {
  /** The first one is the project; `#names` has the names of the others. */
  readonly #open: Directory[];
  #names: string[] = [];

  constructor({ projectRoot }: Repository) {
    this.#open = [Directory.openRoot(projectRoot, "")];
  }

  /** The directory, or its nearest existing parent; `depth` is the number of components that exist. */
  to(components: readonly string[]): { directory: Directory; depth: number } {
    this.#keepCommon(components);
    try {
      for (const name of components.slice(this.#names.length)) this.#enter(name);
    } catch (error) {
      // Missing, a file, or a link (which is not followed).
      if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(errno(error) ?? "")) throw error;
    }
    return { directory: this.at(this.#names.length), depth: this.#names.length };
  }

  /** The directory, created if missing. */
  make(components: readonly string[]): Directory {
    for (let depth = this.to(components).depth; depth < components.length; depth++) {
      const name = components[depth] ?? "";
      const parent = this.at(depth);
      try {
        parent.mkdir(name, 0o777);
        parent.sync();
      } catch (error) {
        if (errno(error) !== "EEXIST") throw error;
      }
      this.#enter(name);
    }
    return this.at(components.length);
  }

  /** An open directory on the path to the last one. */
  at(depth: number): Directory {
    const directory = this.#open[depth];
    if (directory === undefined) throw new Error(`no directory is open at depth ${depth}`);
    return directory;
  }

  /** Closes all deeper directories. */
  forget(depth = 0): void {
    for (const directory of this.#open.splice(depth + 1)) directory.close();
    this.#names = this.#names.slice(0, depth);
  }

  close(): void {
    for (const directory of this.#open.splice(0)) directory.close();
  }

  #keepCommon(components: readonly string[]): void {
    let shared = 0;
    while (shared < this.#names.length && this.#names[shared] === components[shared]) shared += 1;
    this.forget(shared);
  }

  #enter(name: string): void {
    this.#open.push(this.at(this.#names.length).child(name));
    this.#names.push(name);
  }
}

/** Runs `work` with a walk that is closed afterwards. */
export async function walking<T>(repository: Repository, work: (walk: ProjectWalk) => T | Promise<T>): Promise<T> {
  const walk = new ProjectWalk(repository);
  try {
    return await work(walk);
  } finally {
    walk.close();
  }
}

// In a repository without isolation: takes a snapshot only when a listing of the files shows that something has changed since the last
// one. A snapshot costs several git processes, the listing none.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { treeNames } from "../../git/objects/tree-names.ts";
import type { Repository } from "../../git/repository.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import { type Listing, leavesOut } from "./listing.ts";
import { RollingListing } from "./rolling-listing.ts";

/** A file that changed this shortly before the listing may change again without a new time. */
const SETTLED_MS = 100;

interface Taken {
  listing: Listing;
  /** What a snapshot depends on beside the files. */
  inputs: string;
  snapshot: Promise<Snapshot>;
  /** The snapshot, once it is complete. */
  made?: Snapshot;
}

export class ReusedSnapshot {
  readonly #repository: Repository;
  readonly #rolling: RollingListing;
  #last: Taken | undefined;

  constructor(repository: Repository, exclude: readonly string[]) {
    this.#repository = repository;
    const paths = exclude.map((path) => join(repository.prefix, path));
    this.#rolling = new RollingListing(repository.toplevel, { exclude: paths });
  }

  /** `force`: the files that the snapshot includes although git ignores them. `take` takes a new snapshot. */
  async now(force: readonly string[], take: () => Promise<Snapshot>): Promise<Snapshot> {
    const asked = Date.now();
    const listing = await this.#rolling.now();
    const inputs = this.#inputs(force);
    const last = this.#last;
    if (last !== undefined && last.listing === listing && last.inputs === inputs) return last.snapshot;
    const snapshot = take();
    const isSeen = listing.complete && listing.unreadable.length === 0 && isSettled(listing, asked);
    const taken: Taken = { listing, inputs, snapshot };
    this.#last = isSeen ? taken : undefined;
    const forget = () => {
      if (this.#last === taken) this.#last = undefined;
    };
    try {
      const made = await snapshot;
      if (isSeen && (await this.#hasUnlisted(made))) forget();
      taken.made = made;
      return made;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** The last snapshot, if it shows the project as it is at a moment after this call; undefined when the files have to be looked at. */
  async unchanged(force: () => readonly string[]): Promise<Snapshot | undefined> {
    const last = this.#last;
    if (last?.made === undefined || (await this.#rolling.unchanged()) !== last.listing) return undefined;
    return this.#last === last && last.inputs === this.#inputs(force()) ? last.made : undefined;
  }

  #inputs(force: readonly string[]): string {
    return [...force, ...this.#gitStamps()].join("\n");
  }

  close(): void {
    this.#rolling.close();
  }

  #gitStamps(): string[] {
    const { gitDir, commonDir } = this.#repository;
    return [
      join(gitDir, "index"),
      join(gitDir, "HEAD"),
      join(commonDir, "config"),
      join(commonDir, "info/exclude"),
    ].map((path) => {
      const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? "none" : `${stat.ino} ${stat.size} ${stat.ctimeNs}`;
    });
  }

  /** Whether the repository keeps files in directories that a listing leaves out. */
  async #hasUnlisted({ tree }: Snapshot): Promise<boolean> {
    return leavesOut(await treeNames(this.#repository, tree));
  }
}

function isSettled({ files }: Listing, asked: number): boolean {
  const limit = BigInt(asked - SETTLED_MS) * 1_000_000n;
  for (const { ctime } of files.values()) if (ctime === undefined || ctime > limit) return false;
  return true;
}

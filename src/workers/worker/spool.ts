// The attempts that a worker has begun, on disk: a restarted worker delivers what an earlier one could not.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { replaceDurably } from "../../disk/durable.ts";
import { judge, ownIdentity, type ProcessIdentity } from "../../disk/identity.ts";
import { makeDirectories } from "../../disk/make-directories.ts";
import { errno } from "../../errors.ts";
import { type CommitId, objectIdForm } from "../../ids.ts";
import * as is from "../../shape.ts";
import { locateState, type StateLocation } from "../../store/location.ts";
import { attemptKeyForm } from "../protocol/attempt-key.ts";

const RECORD = "record.json";

const commit = is.matching<CommitId>(objectIdForm, "an object id");
const record = is.object({
  v: is.only(1),
  key: is.matching(attemptKeyForm, "the key of an attempt"),
  home: is.text(64),
  order: commit,
  /** The name of its worktree; null until it has one. */
  worktree: is.nullable(is.text(200)),
  /** The commit that the agent started from; null until it may have started. */
  start: is.nullable(commit),
  /** The commit to deliver; null until it exists. */
  delivery: is.nullable(commit),
  owner: is.anything,
});

type Recorded = is.TypeOf<typeof record>;
export interface Spooled extends Omit<Recorded, "v" | "owner"> {
  owner: ProcessIdentity;
}

export class Spool {
  readonly #path: string;

  /** `path`: the worker's directory for one exchange. */
  constructor(path: string) {
    this.#path = path;
    makeDirectories(path, 0o700);
  }

  /** The state directory of an attempt: its copy of the session, and the files that its agent prints to. */
  location(key: string, projectRoot: string): StateLocation {
    return locateState(projectRoot, join(this.#path, key, "state-dir"));
  }

  /** Durable when this returns. */
  write(spooled: Omit<Spooled, "owner">): void {
    const path = join(this.#path, spooled.key);
    makeDirectories(path, 0o700);
    const directory = Directory.openRoot(path);
    try {
      replaceDurably(directory, RECORD, JSON.stringify({ v: 1, ...spooled, owner: ownIdentity() }));
    } finally {
      directory.close();
    }
  }

  read(key: string): Spooled | undefined {
    return readRecord(join(this.#path, key, RECORD));
  }

  /** What dead workers of this user have left. */
  left(): Spooled[] {
    return readdirSync(this.#path).flatMap((key) => {
      const found = attemptKeyForm.test(key) ? readRecord(join(this.#path, key, RECORD)) : undefined;
      return found !== undefined && judge(found.owner) === "dead" ? [found] : [];
    });
  }

  /** The attempts of all workers of this user. */
  keys(): ReadonlySet<string> {
    return new Set(readdirSync(this.#path));
  }

  remove(key: string): void {
    rmSync(join(this.#path, key), { recursive: true, force: true });
  }
}

function readRecord(path: string): Spooled | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return record(value) === undefined ? (value as Spooled) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || errno(error) === "ENOENT") return undefined;
    throw error;
  }
}

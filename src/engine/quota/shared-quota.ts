// What the sessions on this machine that use one credential share: how many attempts each runs, and the limit that the provider
// has set. In the user's state directory: one directory per credential, in it a file per session and, only while the provider rejects
// requests, the limit. Without a limit a session writes its own small file and looks whether the limit exists, no more.

import { closeSync, constants, writeSync } from "node:fs";
import { join } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { readRegular, replaceDurably } from "../../disk/durable.ts";
import { judge, ownIdentity, type ProcessIdentity } from "../../disk/identity.ts";
import { withLock } from "../../disk/lock.ts";
import { makeDirectories } from "../../disk/make-directories.ts";
import { randomHex } from "../../disk/random.ts";
import { isObject } from "../../shape.ts";
import type { Credential } from "./credential.ts";
import { afterRefusal, afterSuccess, isForgotten, readLimit, roomIn, type SharedLimit } from "./shared-limit.ts";

const LIMIT = "limit.json";
const LOCK = ".lock";
const SALT = "salt";
const HOLDER_BYTES = 2048;
const MAX_BYTES = 8192;
/** How old the count of other sessions' attempts may be while nothing is claimed. */
const LOOK_MS = 200;
const holderForm = /^session-[0-9a-f]{16}\.json$/;

export interface Holder extends ProcessIdentity {
  kind: string;
  session: string;
  project: string;
  running: number;
}

export interface SharedState {
  limit: SharedLimit | null;
  holders: Holder[];
}

export type About = Pick<Holder, "session" | "project">;

/** The salt of all fingerprints of this user; made when it is first needed. Two sessions that make it at once may not share their first run. */
export function saltIn(root: string): string {
  makeDirectories(root, 0o700);
  const directory = Directory.openRoot(root);
  try {
    const known = () => {
      const salt = readRegular(directory, SALT, MAX_BYTES)?.toString("utf8") ?? "";
      return /^[0-9a-f]{32}$/.test(salt) ? salt : undefined;
    };
    const salt = known() ?? randomHex(16);
    if (known() === undefined) overwrite(directory, SALT, salt);
    return known() ?? salt;
  } finally {
    directory.close();
  }
}

/** One write from the beginning: a reader sees the old text or a new one of the same length. It need not survive a power cut. */
function overwrite(directory: Directory, name: string, text: string): void {
  const fd = directory.open(name, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

export class SharedQuota {
  readonly #directory: Directory;
  readonly #name = `session-${randomHex(8)}.json`;
  readonly #about: Omit<Holder, "running">;
  readonly #now: () => number;
  #running = 0;
  #seen: { stamp: string; limit: SharedLimit | null } = { stamp: "", limit: null };
  #others = { at: Number.NEGATIVE_INFINITY, running: 0 };

  /** `root`: the directory with the state of all credentials. */
  constructor(root: string, { kind, fingerprint }: Credential, about: About, now: () => number = Date.now) {
    const path = join(root, fingerprint);
    makeDirectories(path, 0o700);
    this.#directory = Directory.openRoot(path);
    this.#about = { ...ownIdentity(), kind, ...about };
    this.#now = now;
    // Deletes what sessions left that were killed.
    holdersIn(this.#directory);
    this.#publish();
  }

  /** The limit that holds now; null when the provider rejects nothing. */
  get limit(): SharedLimit | null {
    const stat = this.#directory.lstat(LIMIT);
    if (stat === undefined) return null;
    const stamp = `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
    if (stamp !== this.#seen.stamp) this.#seen = { stamp, limit: limitIn(this.#directory) };
    const { limit } = this.#seen;
    return limit === null || isForgotten(limit, this.#now()) ? null : limit;
  }

  /** How many attempts may start now; Infinity without a limit. It may be a little old: only `claim` is binding. */
  get room(): number {
    const { limit } = this;
    if (limit === null) return Number.POSITIVE_INFINITY;
    const at = performance.now();
    if (at - this.#others.at >= LOOK_MS) this.#others = { at, running: this.#runningElsewhere() };
    return roomIn(limit, this.#now(), this.#others.running + this.#running);
  }

  /** Takes up to `wanted` slots and returns how many. They are free again with `release`. */
  claim(wanted: number): number {
    if (wanted === 0) return 0;
    if (this.limit === null) {
      this.#set(this.#running + wanted);
      // A session that limits the credential now counts these; one that did so just before is seen here.
      if (this.limit === null) return wanted;
      this.#set(this.#running - wanted);
    }
    return this.#locked(() => {
      const { limit } = this;
      const running = this.#runningElsewhere() + this.#running;
      const granted = limit === null ? wanted : Math.min(wanted, roomIn(limit, this.#now(), running));
      if (granted > 0) this.#set(this.#running + granted);
      return granted;
    });
  }

  release(count = 1): void {
    if (count > 0) this.#set(Math.max(0, this.#running - count));
  }

  /** The provider has rejected an attempt of this session, which still counts as running. `waitMs`: how long to wait at least. */
  refused(waitMs: number): void {
    this.#locked(() => {
      const now = this.#now();
      const running = this.#runningElsewhere() + Math.max(1, this.#running);
      this.#write(afterRefusal(this.limit, { now, until: now + waitMs, running }));
    });
  }

  success(): void {
    if (this.limit === null) return;
    this.#locked(() => {
      const { limit } = this;
      if (limit !== null) this.#write(afterSuccess(limit, this.#now()));
    });
  }

  close(): void {
    this.#directory.unlink(this.#name);
    this.#directory.close();
  }

  #set(running: number): void {
    this.#running = running;
    this.#publish();
  }

  #publish(): void {
    const text = JSON.stringify({ v: 1, ...this.#about, running: this.#running });
    overwrite(this.#directory, this.#name, text.padEnd(HOLDER_BYTES));
  }

  #write(limit: SharedLimit | null): void {
    if (limit === null) this.#directory.unlink(LIMIT);
    else replaceDurably(this.#directory, LIMIT, JSON.stringify({ v: 1, ...limit }));
  }

  #locked<T>(work: () => T): T {
    return withLock(this.#directory, LOCK, work);
  }

  #runningElsewhere(): number {
    const others = holdersIn(this.#directory).filter(({ name }) => name !== this.#name);
    return others.reduce((sum, { holder }) => sum + holder.running, 0);
  }
}

/** The state of every credential that is in use or limited. */
export function sharedStates(root: string, now: number): { fingerprint: string; state: SharedState }[] {
  const names = listed(root).filter((name) => /^[0-9a-f]{32}$/.test(name));
  return names.flatMap((fingerprint) => {
    const directory = Directory.openRoot(join(root, fingerprint));
    try {
      const limit = limitIn(directory);
      const holders = holdersIn(directory).map(({ holder }) => holder);
      const state = { limit: limit === null || isForgotten(limit, now) ? null : limit, holders };
      return state.limit === null && holders.length === 0 ? [] : [{ fingerprint, state }];
    } finally {
      directory.close();
    }
  });
}

function listed(root: string): string[] {
  makeDirectories(root, 0o700);
  const directory = Directory.openRoot(root);
  try {
    return directory.list();
  } finally {
    directory.close();
  }
}

/** The sessions that live. The file of a dead one is deleted, which gives back its slots. */
function holdersIn(directory: Directory): { name: string; holder: Holder }[] {
  return directory.list().flatMap((name) => {
    if (!holderForm.test(name)) return [];
    const holder = parsed(readRegular(directory, name, MAX_BYTES));
    if (!isHolder(holder)) return [];
    if (judge(holder) !== "dead") return [{ name, holder }];
    directory.unlink(name);
    return [];
  });
}

function limitIn(directory: Directory): SharedLimit | null {
  return readLimit(parsed(readRegular(directory, LIMIT, MAX_BYTES)));
}

function parsed(bytes: Buffer | undefined): unknown {
  try {
    return bytes === undefined ? undefined : JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    // Cut off by a full disk.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isHolder(value: unknown): value is Holder {
  if (!isObject(value)) return false;
  const texts = [value.host, value.kind, value.session, value.project].every((one) => typeof one === "string");
  return texts && Number.isSafeInteger(value.pid) && Number.isSafeInteger(value.running) && Number(value.running) >= 0;
}

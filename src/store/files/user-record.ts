// What this user has agreed to on this machine: which sessions they started or accepted, which execution mode and which commands of a plan
// they confirmed for which project; and what they were offered once. Stored outside of every project, so that a repository cannot ship it.

import { createHash } from "node:crypto";
import { closeSync, constants, fsyncSync, lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { posix, win32 } from "node:path";
import { Directory, ioError } from "../../disk/contained.ts";
import { writeAll } from "../../disk/durable.ts";
import { makeDirectories } from "../../disk/make-directories.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { ExecutionMode } from "../../session/events.ts";
import type { Environment } from "../../setting-layers.ts";

/** What the user can agree to; each kind has its own directory. */
type Matter = "sessions" | "modes" | "commands" | "offers";

/** How many agreements of a kind are kept; the oldest are deleted first. */
const MAX_KEPT = 2000;

export class UserRecord {
  readonly #root: string;

  constructor(env: Environment) {
    this.#root = userStateRoot(env);
  }

  /** Whether the user started or accepted a session with this fingerprint. */
  knowsSession(fingerprint: string): boolean {
    return this.#has("sessions", fingerprint);
  }

  rememberSession(fingerprint: string, about: { session: string; project: string; now: Date }): void {
    const { session, project, now } = about;
    this.#keep("sessions", fingerprint, { v: 1, session, project, at: now.toISOString() });
  }

  /** Whether the user confirmed that this project may preset this mode. */
  knowsMode(project: string, mode: ExecutionMode): boolean {
    return this.#has("modes", modeKey(project, mode));
  }

  rememberMode(project: string, mode: ExecutionMode, now: Date): void {
    this.#keep("modes", modeKey(project, mode), { v: 1, project, mode, at: now.toISOString() });
  }

  /** Whether the user agreed to run exactly these commands in this project before a session exists. */
  knowsCommands(project: string, commands: readonly string[]): boolean {
    return this.#has("commands", keyOf([realpathSync(project), ...commands]));
  }

  rememberCommands(project: string, commands: readonly string[], now: Date): void {
    const key = keyOf([realpathSync(project), ...commands]);
    this.#keep("commands", key, { v: 1, project, commands, at: now.toISOString() });
  }

  /** Whether something was offered to the user, which happens once. */
  hasOffered(what: "setup"): boolean {
    return this.#has("offers", what);
  }

  rememberOffer(what: "setup", now: Date): void {
    this.#keep("offers", what, { v: 1, at: now.toISOString() });
  }

  /** Whether Maestro has said that the plans of this project can be committed or ignored. */
  hasToldPlans(project: string): boolean {
    return this.#has("offers", plansKey(project));
  }

  rememberToldPlans(project: string, now: Date): void {
    this.#keep("offers", plansKey(project), { v: 1, project, at: now.toISOString() });
  }

  #has(matter: Matter, key: string): boolean {
    const path = `${this.#root}/${matter}`;
    if (!isOwn(this.#root) || !isOwn(path)) return false;
    return lstatSync(`${path}/${key}.json`, { throwIfNoEntry: false })?.isFile() === true;
  }

  #keep(matter: Matter, key: string, content: object): void {
    const path = `${this.#root}/${matter}`;
    try {
      makeDirectories(path, 0o700);
      if (!isOwn(this.#root) || !isOwn(path)) throw notOwn(isOwn(this.#root) ? path : this.#root);
      const directory = Directory.openRoot(path);
      try {
        write(directory, `${key}.json`, `${JSON.stringify(content)}\n`);
        prune(directory);
      } finally {
        directory.close();
      }
    } catch (error) {
      throw ioError("write", path, error);
    }
  }
}

/** Not written atomically, because the file's existence is the agreement and its content is only information for the user. */
function write(directory: Directory, name: string, content: string): void {
  const fd = directory.open(name, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    writeAll(fd, Buffer.from(content), "write");
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  directory.sync();
}

function prune(directory: Directory): void {
  const names = directory.list();
  if (names.length <= MAX_KEPT) return;
  const dated = names.map((name) => ({ name, time: directory.lstat(name)?.mtimeMs ?? 0 }));
  for (const { name } of dated.sort((a, b) => a.time - b.time).slice(0, names.length - MAX_KEPT)) {
    directory.unlink(name);
  }
}

function modeKey(project: string, mode: ExecutionMode): string {
  return keyOf([realpathSync(project), mode]);
}

function plansKey(project: string): string {
  return keyOf([realpathSync(project), "plans"]);
}

function keyOf(words: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(words)).digest("hex");
}

/** A directory that other users can write to does not prove what this user agreed to. */
export function isOwn(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return false;
  const isMine = process.getuid === undefined || stat.uid === process.getuid();
  return isMine && (process.platform === "win32" || (stat.mode & 0o022) === 0);
}

function notOwn(path: string): MaestroError {
  return new MaestroError("environment", `${path} belongs to another user, or others can write to it`, {
    hint: `Make it yours and remove the write permission of others: chmod go-w ${path}`,
  });
}

/** The directory where programs keep persistent state, as an absolute path. A relative value in a variable is ignored. */
export function userStateRoot(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const { join, isAbsolute } = platform === "win32" ? win32 : posix;
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const given = absolute(env.XDG_STATE_HOME);
  if (given !== undefined) return join(given, "maestro");
  const home = absolute(platform === "win32" ? env.USERPROFILE : env.HOME) ?? homedir();
  if (platform === "win32")
    return join(absolute(env.LOCALAPPDATA) ?? join(home, "AppData", "Local"), "maestro", "state");
  return platform === "darwin"
    ? join(home, "Library", "Application Support", "maestro")
    : join(home, ".local", "state", "maestro");
}

/** Whether an agreement could not be saved because of the system, not a defect: the user is asked again, and nothing else is lost. */
export function isForgettable(error: unknown): error is MaestroError {
  return (
    error instanceof MaestroError &&
    (error.code === "io" || error.code === "environment" || errno(error.cause) !== undefined)
  );
}

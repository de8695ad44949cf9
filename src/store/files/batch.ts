// A batch on disk: parallel/<batch-id>/prompts and results. Agents write their output directly into these files, never
// through the engine's memory. The files are readable by their owner only, because agents may print private data.

import { closeSync, constants, fstatSync, ftruncateSync, rmSync, type Stats, statSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { Directory, ioError, withDirectory } from "../../disk/contained.ts";
import {
  newTemporaryName,
  readFrom,
  readRegular,
  replaceDurably,
  shownPath,
  sweepTemporaries,
  writeAll,
} from "../../disk/durable.ts";
import { crashPoint } from "../../disk/fault.ts";
import { isAbandoned } from "../../disk/lock.ts";
import { makeDirectories } from "../../disk/make-directories.ts";
import { errno, MaestroError } from "../../errors.ts";
import { inState, type StateLocation, walk } from "../location.ts";
import { claimDispatch, DISPATCH_LOCK } from "./dispatch-lock.ts";

export const MAX_STDOUT_BYTES = 50 * 1024 * 1024;
/** How much of the end of an agent's output is read for its answer: what it prints before is noise. */
export const MAX_READ_STDOUT = 4 * 1024 * 1024;
export const MAX_STDERR_BYTES = 10 * 1024 * 1024;
const MAX_REDACTED_BYTES = 16 * 1024 * 1024;
/** How much of the end of a trimmed stderr is kept. */
const KEPT_TAIL_BYTES = 64 * 1024;
/** An agent that writes without a pause is trimmed, too: its end is not written yet. */
const MAX_TAIL_READS = 50;

const SUMMARY_FILE = "summary.json";
const MAX_SUMMARY_BYTES = 4 * 1024 * 1024;

export type ResultKind = "json" | "log" | "exit" | "validation.log";

/** What a native delegation leaves for the process that records its end: `results/<name>.before`. */
const BEFORE = "before";
/** Where the order of an attempt went that a worker runs: `results/<name>.order`. */
const ORDER = "order";
const MAX_ORDER_BYTES = 64 * 1024;
const MAX_BEFORE_BYTES = 128 * 1024 * 1024;

export function batchPath(location: StateLocation, batch: string): string {
  return join(location.root, ...location.components, "parallel", batch);
}

/** An open batch. Names are the stems of prompt files: `<agent>[.<label>]`. */
export class Batch {
  readonly path: string;
  readonly prompts: Directory;
  readonly results: Directory;
  /** By file name: the stamp of the policy file right after it was written. */
  readonly #policies = new Map<string, string>();

  constructor(path: string, shown: string) {
    this.path = path;
    this.prompts = Directory.openRoot(join(path, "prompts"), `${shown}/prompts`);
    this.results = Directory.openRoot(join(path, "results"), `${shown}/results`);
  }

  resultPath(name: string, kind: ResultKind): string {
    return join(this.path, "results", `${name}.${kind}`);
  }

  /** Writes the prompt of an attempt. Not synced to disk, because after a power cut the attempt is repeated anyway. */
  writePrompt(name: string, prompt: string): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
    withFile(this.prompts, `${name}.txt`, flags, (fd) => writeAll(fd, Buffer.from(prompt), "prompt"));
  }

  /** Writes the policy unless the file is still exactly as written, so that an agent cannot change it for the next attempt; returns its path. */
  writePolicy(tier: string, policy: () => string, ending?: string): string {
    const path = policyPath(this.path, tier, ending);
    const name = basename(path);
    if (this.#policies.get(name) === stampOf(this.results.lstat(name))) return path;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
    withFile(this.results, name, flags, (fd) => writeAll(fd, Buffer.from(policy()), "prompt"));
    this.#policies.set(name, stampOf(this.results.lstat(name)));
    return path;
  }

  removePolicy(tier: string): void {
    this.results.unlink(basename(policyPath(this.path, tier)));
  }

  promptPath(name: string): string {
    return join(this.path, "prompts", `${name}.txt`);
  }

  /** Opens a descriptor with the text for a process's standard input; the file behind it is already unlinked. */
  openText(text: Uint8Array): number {
    const name = newTemporaryName();
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    try {
      withFile(this.results, name, flags, (fd) => writeAll(fd, text, "prompt"));
      return open(this.results, name, constants.O_RDONLY);
    } finally {
      this.results.unlink(name);
    }
  }

  /** Deletes the log, so that the next validation command starts with an empty one. */
  startValidationLog(name: string): void {
    this.results.unlink(`${name}.validation.log`);
  }

  /** Deletes the results of an earlier attempt with that name. */
  clear(name: string): void {
    for (const kind of ["json", "log", "exit", "validation.log", BEFORE, ORDER]) {
      // Deleting a file that does not exist costs more than looking for it.
      if (this.results.lstat(`${name}.${kind}`) !== undefined) this.results.unlink(`${name}.${kind}`);
    }
  }

  size(name: string, kind: ResultKind): number {
    return this.results.lstat(`${name}.${kind}`)?.size ?? 0;
  }

  /** Tells a result from one that has replaced it; 0 when it does not exist. */
  inode(name: string, kind: ResultKind): number {
    return this.results.lstat(`${name}.${kind}`)?.ino ?? 0;
  }

  /** The bytes of a result from `from` on, at most the last `limit`; empty when the file does not exist. */
  read(name: string, kind: ResultKind, limit: number, from = 0): string {
    return this.readBytes(name, kind, limit, from).bytes.toString("utf8");
  }

  /** As `read`, with the position of the first byte. */
  readBytes(name: string, kind: ResultKind, limit: number, from: number): { start: number; bytes: Buffer } {
    if (this.results.lstat(`${name}.${kind}`) === undefined) return { start: 0, bytes: Buffer.alloc(0) };
    return withFile(this.results, `${name}.${kind}`, constants.O_RDONLY | constants.O_NONBLOCK, (fd) => {
      const { size } = fstatSync(fd);
      const start = Math.max(from, size - limit);
      return { start, bytes: readFrom(fd, start, size) };
    });
  }

  /** At most `most` bytes of a result from `from` on, and its size; empty when the file does not exist. */
  readRange(name: string, kind: ResultKind, from: number, most: number): { bytes: Buffer; size: number } {
    if (this.results.lstat(`${name}.${kind}`) === undefined) return { bytes: Buffer.alloc(0), size: 0 };
    return withFile(this.results, `${name}.${kind}`, constants.O_RDONLY | constants.O_NONBLOCK, (fd) => {
      const { size } = fstatSync(fd);
      return { bytes: from >= size ? Buffer.alloc(0) : readFrom(fd, from, Math.min(size, from + most)), size };
    });
  }

  /** The exit code recorded by the attempt's wrapper; null when the wrapper did not get that far. */
  exitCode(name: string): number | null {
    const code = /^(\d{1,3})\n$/.exec(this.read(name, "exit", 16));
    return code === null ? null : Number(code[1]);
  }

  /** Records in the log why an attempt never started. */
  writeLog(name: string, text: string): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
    withFile(this.results, `${name}.log`, flags, (fd) => writeSync(fd, `${text}\n`));
  }

  /** Writes the answer or the log of an agent that no process of Maestro's ran. */
  writeResult(name: string, kind: "json" | "log", text: string): void {
    replaceDurably(this.results, `${name}.${kind}`, text);
  }

  writeBefore(name: string, text: string): void {
    replaceDurably(this.results, `${name}.${BEFORE}`, text);
  }

  readBefore(name: string): string | undefined {
    return readRegular(this.results, `${name}.${BEFORE}`, MAX_BEFORE_BYTES)?.toString("utf8");
  }

  removeBefore(name: string): void {
    this.results.unlink(`${name}.${BEFORE}`);
  }

  /** Durable when this returns: the order may leave the machine. */
  writeOrder(name: string, text: string): void {
    replaceDurably(this.results, `${name}.${ORDER}`, text);
  }

  readOrder(name: string): string | undefined {
    return readRegular(this.results, `${name}.${ORDER}`, MAX_ORDER_BYTES)?.toString("utf8");
  }

  writeExitCode(name: string, code: number): void {
    this.results.unlink(`${name}.exit`);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    withFile(this.results, `${name}.exit`, flags, (fd) => writeSync(fd, `${code}\n`));
  }

  /**
   * Redacts secrets in a result whose process has ended. A reader sees the old file or the new one, and both lead to the same verdict.
   * A very large file is left as it is, so that the engine is not blocked. Returns the text of a file that is not empty, and that `read` would return whole.
   */
  redact(name: string, kind: ResultKind, redact: (text: string) => string): string | undefined {
    const size = this.size(name, kind);
    if (size === 0 || size > MAX_REDACTED_BYTES) return undefined;
    const text = this.read(name, kind, MAX_REDACTED_BYTES);
    const clean = redact(text);
    if (clean !== text) replaceDurably(this.results, `${name}.${kind}`, clean);
    return size > MAX_READ_STDOUT ? undefined : clean;
  }

  /** Truncates a result to `limit` bytes. */
  cut(name: string, kind: ResultKind, limit: number): void {
    withFile(this.results, `${name}.${kind}`, constants.O_WRONLY, (fd) => ftruncateSync(fd, limit));
  }

  /**
   * Removes the middle of a log that is too long, because its beginning and end are the most useful. Returns whether it was too long. The agent may
   * still be writing: the end is read again until the file has stopped growing, so that its last lines are not cut off.
   */
  trimLog(name: string): boolean {
    if (this.size(name, "log") <= MAX_STDERR_BYTES) return false;
    const head = MAX_STDERR_BYTES - 2 * KEPT_TAIL_BYTES;
    withFile(this.results, `${name}.log`, constants.O_RDWR | constants.O_APPEND, (fd) => {
      let { size } = fstatSync(fd);
      let tail = readFrom(fd, size - KEPT_TAIL_BYTES, size);
      for (let reads = 1; reads < MAX_TAIL_READS && fstatSync(fd).size !== size; reads += 1) {
        size = fstatSync(fd).size;
        tail = readFrom(fd, size - KEPT_TAIL_BYTES, size);
      }
      ftruncateSync(fd, head);
      const mark = Buffer.from(`\n[maestro: ${size - head - tail.length} bytes were cut out here]\n`);
      writeSync(fd, Buffer.concat([mark, tail]));
    });
    return true;
  }

  writeSummary(summary: object): void {
    const confirm = () => {
      crashPoint("summary");
      return true;
    };
    replaceDurably(this.results, SUMMARY_FILE, `${JSON.stringify(summary, null, 2)}\n`, { confirm });
  }

  /** Deletes the summary of an earlier run. */
  removeSummary(): void {
    this.results.unlink(SUMMARY_FILE);
  }

  removePrompts(): void {
    rmSync(join(this.path, "prompts"), { recursive: true, force: true });
  }

  /** Deletes the batch with everything in it. */
  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  close(): void {
    this.prompts.close();
    this.results.close();
  }
}

/**
 * Deletes what an earlier dispatch left in `results`, so that no reader takes it for the result of this one: the summary, and the files of each
 * agent, also of those whose prompts are gone. A directory that no dispatch has used is left alone; one that a dispatch uses is an error.
 */
export function clearDispatch(path: string): void {
  const results = openIfThere(join(path, "results"));
  if (results === undefined) return;
  try {
    if (!isDirectory(join(path, "prompts")) && !isSummary(results)) return;
    const release = claimDispatch(results);
    try {
      clearResults(results);
    } finally {
      release();
    }
  } finally {
    results.close();
  }
}

function clearResults(results: Directory): void {
  sweepTemporaries(results);
  results.unlink(SUMMARY_FILE);
  const files = new Set(results.list());
  for (const file of files) {
    const [, name = "", ending] = /^(.+?)\.(?:(validation\.log|json|log|exit))$/.exec(file) ?? [];
    const isResult = files.has(`${name}.exit`) || (files.has(`${name}.json`) && files.has(`${name}.log`));
    if (ending !== undefined && isResult) results.unlink(file);
  }
}

function openIfThere(path: string): Directory | undefined {
  try {
    return Directory.openRoot(path);
  } catch (error) {
    if (errno(error) === "ENOENT" || errno(error) === "ENOTDIR") return undefined;
    throw ioError("open", path, error);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isSummary(results: Directory): boolean {
  const text = readRegular(results, SUMMARY_FILE, MAX_SUMMARY_BYTES)?.toString("utf8") ?? "";
  return text.includes('"batch_status"');
}

/** Deletes the prompts of a batch that is no longer needed. */
export function removePromptsOf(location: StateLocation, id: string): void {
  inState(location, ["parallel", id], (batch) => {
    if (batch.lstat("prompts")?.isDirectory() !== true) return;
    const prompts = batch.child("prompts");
    try {
      for (const file of prompts.list()) if (file.endsWith(".txt")) prompts.unlink(file);
    } finally {
      prompts.close();
    }
  });
}

/** Deletes the batches `<prefix>...` whose process is dead and did not delete them itself; returns their ids. */
export function removeDeadBatches(location: StateLocation, prefix: string): string[] {
  const ids = inState(location, ["parallel"], (parallel) => parallel.list()) ?? [];
  const dead = ids.filter((id) => id.startsWith(prefix) && inState(location, ["parallel", id, "results"], isDead));
  for (const id of dead) {
    inState(location, ["parallel"], (parallel) => rmSync(parallel.at(id), { recursive: true, force: true }));
  }
  return dead;
}

/** Deletes what killed processes left half-written among the results of a batch, or of all batches. */
export function sweepResults(location: StateLocation, batch?: string): void {
  const ids = batch === undefined ? inState(location, ["parallel"], (parallel) => parallel.list()) : [batch];
  for (const id of ids ?? []) {
    if (inState(location, ["parallel"], (parallel) => parallel.lstat(id)?.isDirectory()) !== true) continue;
    inState(location, ["parallel", id, "results"], sweepTemporaries);
  }
}

function isDead(results: Directory): boolean {
  return isAbandoned(results, DISPATCH_LOCK);
}

/** The policy file of a tier, in the batch at `path`. */
export function policyPath(path: string, tier: string, ending = "toml"): string {
  return join(path, "results", `policy-${tier}.${ending}`);
}

/** Creates `parallel/<id>` with its subdirectories, and opens it. */
export function openBatch(location: StateLocation, id: string): Batch {
  const components = [...location.components, "parallel", id];
  for (const part of ["prompts", "results"]) {
    withDirectory(location.root, [...components, part], walk(location, true), () => undefined);
  }
  return new Batch(join(location.root, ...components), `${location.shown}/parallel/${id}`);
}

/** Opens a directory that the user has filled with prompts, and creates `results` in it. */
export function openDispatch(path: string, shown: string): Batch {
  try {
    makeDirectories(join(path, "results"), 0o700);
    return new Batch(path, shown);
  } catch (error) {
    throw ioError("open", shown, error);
  }
}

function open(directory: Directory, name: string, flags: number): number {
  try {
    return directory.open(name, flags, 0o600);
  } catch (error) {
    throw ioError("open", shownPath(directory, name), error);
  }
}

/** Includes the change time, which no process can set. */
function stampOf(stat: Stats | undefined): string {
  return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}

function withFile<T>(directory: Directory, name: string, flags: number, use: (fd: number) => T): T {
  const fd = open(directory, name, flags);
  try {
    return use(fd);
  } catch (error) {
    throw error instanceof MaestroError ? error : ioError("use", shownPath(directory, name), error);
  } finally {
    closeSync(fd);
  }
}

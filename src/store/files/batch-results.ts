// Reads batches from disk: which exist, which attempts they hold, and the results of those. Never writes, never follows links.

import { closeSync, constants, fstatSync } from "node:fs";
import { type Directory, ioError } from "../../disk/contained.ts";
import { readFrom, readRegular, shownPath } from "../../disk/durable.ts";
import { isAbandoned } from "../../disk/lock.ts";
import { MaestroError } from "../../errors.ts";
import { inState, type StateLocation } from "../location.ts";
import { DISPATCH_LOCK } from "./dispatch-lock.ts";

const MAX_SUMMARY_BYTES = 4 * 1024 * 1024;
const resultFile = /^(.+?)(\.validation\.log|\.json|\.log|\.exit)$/;

/** The result files of one attempt, by their common stem. */
export interface ResultFiles {
  /** `<agent>[.<label>]` */
  name: string;
  /** Null when the attempt has not ended, or its exit code was not recorded. */
  exitCode: number | null;
  /** When the last of its files was written; null when the attempt has not started. */
  changed: number | null;
}

export interface BatchResults {
  id: string;
  results: ResultFiles[];
  /** Written when a dispatch ends; undefined until then. */
  summary: unknown;
  /** The process of the dispatch died before its end. */
  isAbandoned?: boolean;
}

/** The ids of all batches, the most recently changed first. */
export function listBatches(location: StateLocation): string[] {
  const found = inState(location, ["parallel"], (parallel) =>
    parallel
      .list()
      .filter((name) => batchIdFault(name) === undefined && parallel.lstat(name)?.isDirectory() === true)
      .map((id) => ({ id, changed: changedAt(location, id) ?? parallel.lstat(id)?.mtimeMs ?? 0 })),
  );
  return (found ?? []).sort((a, b) => b.changed - a.changed || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
}

function changedAt(location: StateLocation, id: string): number | undefined {
  return inState(location, ["parallel", id], (batch) => batch.lstat("results")?.mtimeMs);
}

/** Why `id` cannot name a batch, which is a single directory below `parallel/`; undefined when it can. */
export function batchIdFault(id: string): string | undefined {
  if (/^[^./\\\0][^/\\\0]{0,199}$/.test(id)) return undefined;
  return `Not a batch id (got: ${JSON.stringify(id.slice(0, 80))})`;
}

/** The results of a batch; undefined when the batch does not exist. */
export function readBatch(location: StateLocation, id: string): BatchResults | undefined {
  const fault = batchIdFault(id);
  if (fault !== undefined) throw new MaestroError("path", fault);
  if (inState(location, ["parallel", id], () => true) === undefined) return undefined;
  const prompts = inState(location, ["parallel", id, "prompts"], (directory) => directory.list()) ?? [];
  const prompted = prompts.flatMap((file) => (file.endsWith(".txt") ? [file.slice(0, -".txt".length)] : []));
  const read = inState(location, ["parallel", id, "results"], (directory) => ({
    results: resultsIn(directory),
    summary: summaryIn(directory),
    isAbandoned: isAbandoned(directory, DISPATCH_LOCK),
  }));
  const started = new Set(read?.results.map(({ name }) => name));
  const waiting = prompted
    .filter((name) => !started.has(name))
    .map((name) => ({ name, exitCode: null, changed: null }));
  const results = [...(read?.results ?? []), ...waiting].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { id, results, summary: read?.summary, isAbandoned: read?.isAbandoned ?? false };
}

/** A log of validation commands alone is not an attempt: `maestro verify` leaves one for a phase that was delegated. */
function resultsIn(directory: Directory): ResultFiles[] {
  const attempted = new Set<string>();
  const byName = new Map<string, ResultFiles>();
  for (const file of directory.list()) {
    const [, name = "", ending] = resultFile.exec(file) ?? [];
    if (name === "" || file === SUMMARY_FILE || name.startsWith(".")) continue;
    const known = byName.get(name) ?? { name, exitCode: null, changed: 0 };
    const changed = Math.max(known.changed ?? 0, directory.lstat(file)?.mtimeMs ?? 0);
    const exitCode = ending === ".exit" ? exitCodeIn(directory, file) : known.exitCode;
    byName.set(name, { name, exitCode, changed });
    if (ending !== ".validation.log") attempted.add(name);
  }
  return [...byName.values()].filter(({ name }) => attempted.has(name));
}

const SUMMARY_FILE = "summary.json";

function exitCodeIn(directory: Directory, file: string): number | null {
  const code = /^(\d{1,3})\n?$/.exec(readTail(directory, file, 16));
  return code === null ? null : Number(code[1]);
}

function summaryIn(directory: Directory): unknown {
  const bytes = readRegular(directory, SUMMARY_FILE, MAX_SUMMARY_BYTES);
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new MaestroError("parse_failed", `${shownPath(directory, SUMMARY_FILE)} is not JSON`, { cause: error });
  }
}

/** The end of a result file, at most `limit` bytes; empty when the file does not exist. */
export function readResult(
  location: StateLocation,
  id: string,
  name: string,
  kind: "json" | "log",
  limit: number,
): string {
  return inState(location, ["parallel", id, "results"], (results) => readTail(results, `${name}.${kind}`, limit)) ?? "";
}

function readTail(directory: Directory, file: string, limit: number): string {
  if (directory.lstat(file) === undefined) return "";
  let fd: number;
  try {
    // O_NONBLOCK: opening a FIFO must not wait for its writer.
    fd = directory.open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw ioError("read", shownPath(directory, file), error);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new MaestroError("path", `Not a regular file: ${shownPath(directory, file)}`);
    return readFrom(fd, Math.max(0, stat.size - limit), stat.size).toString("utf8");
  } finally {
    closeSync(fd);
  }
}

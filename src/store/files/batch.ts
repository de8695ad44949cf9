// A batch on disk: parallel/<batch-id>/prompts and results. Output of agents goes straight into these files and never
// through the engine's memory; what they say is theirs, so they are readable by their owner only.

import { closeSync, constants, fstatSync, ftruncateSync, rmSync, type Stats, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { Directory, ioError, withDirectory } from "../../disk/contained.ts";
import { newTemporaryName, readFrom, replaceDurably, shownPath, writeAll } from "../../disk/durable.ts";
import { makeDirectories } from "../../disk/make-directories.ts";
import { MaestroError } from "../../errors.ts";
import { type StateLocation, walk } from "../location.ts";

export const MAX_STDOUT_BYTES = 50 * 1024 * 1024;
export const MAX_STDERR_BYTES = 10 * 1024 * 1024;
const MAX_REDACTED_BYTES = 16 * 1024 * 1024;
/** What is kept of the end of a stderr that was cut. */
const KEPT_TAIL_BYTES = 64 * 1024;

const SUMMARY_FILE = "summary.json";

export type ResultKind = "json" | "log" | "exit" | "validation.log";

/** An open batch. Names are the stems of prompt files: `<agent>[.<label>]`. */
export class Batch {
  readonly path: string;
  readonly prompts: Directory;
  readonly results: Directory;
  /** By name: the policy file as it was when it was written. */
  readonly #policies = new Map<string, string>();

  constructor(path: string, shown: string) {
    this.path = path;
    this.prompts = Directory.openRoot(join(path, "prompts"), `${shown}/prompts`);
    this.results = Directory.openRoot(join(path, "results"), `${shown}/results`);
  }

  resultPath(name: string, kind: ResultKind): string {
    return join(this.path, "results", `${name}.${kind}`);
  }

  /** Writes the prompt of an attempt; not made durable: after a power cut the attempt is made again. */
  writePrompt(name: string, prompt: string): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
    withFile(this.prompts, `${name}.txt`, flags, (fd) => writeAll(fd, Buffer.from(prompt), "prompt"));
  }

  /** Written anew for an attempt unless the file is still the one that was written, whatever an agent did to it; returns where it is. */
  writePolicy(tier: string, policy: string): string {
    const path = policyPath(this.path, tier);
    const name = basename(path);
    if (this.#policies.get(name) === stampOf(this.results.lstat(name))) return path;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
    withFile(this.results, name, flags, (fd) => writeAll(fd, Buffer.from(policy), "prompt"));
    this.#policies.set(name, stampOf(this.results.lstat(name)));
    return path;
  }

  removePolicy(tier: string): void {
    this.results.unlink(basename(policyPath(this.path, tier)));
  }

  promptPath(name: string): string {
    return join(this.path, "prompts", `${name}.txt`);
  }

  /** A text as standard input of a process, from a file that has no name any more. */
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

  /** An empty log for the next validation command. */
  startValidationLog(name: string): void {
    this.results.unlink(`${name}.validation.log`);
  }

  /** Removes the results of an earlier attempt of that name. */
  clear(name: string): void {
    for (const kind of ["json", "log", "exit", "validation.log"]) this.results.unlink(`${name}.${kind}`);
  }

  size(name: string, kind: ResultKind): number {
    return this.results.lstat(`${name}.${kind}`)?.size ?? 0;
  }

  /** `[from, ...)` of a result, at most `limit` bytes of its end; empty when it is not there. */
  read(name: string, kind: ResultKind, limit: number, from = 0): string {
    if (this.results.lstat(`${name}.${kind}`) === undefined) return "";
    return withFile(this.results, `${name}.${kind}`, constants.O_RDONLY | constants.O_NONBLOCK, (fd) => {
      const { size } = fstatSync(fd);
      return readFrom(fd, Math.max(from, size - limit), size).toString("utf8");
    });
  }

  /** The exit code that the attempt's wrapper wrote down; null when it did not come to that. */
  exitCode(name: string): number | null {
    const code = /^(\d{1,3})\n$/.exec(this.read(name, "exit", 16));
    return code === null ? null : Number(code[1]);
  }

  /** Says in the log why an attempt never began. */
  writeLog(name: string, text: string): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
    withFile(this.results, `${name}.log`, flags, (fd) => writeSync(fd, `${text}\n`));
  }

  writeExitCode(name: string, code: number): void {
    this.results.unlink(`${name}.exit`);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    withFile(this.results, `${name}.exit`, flags, (fd) => writeSync(fd, `${code}\n`));
  }

  /**
   * Takes secrets out of a result whose process has ended. A reader finds the file as it was or as it is now, and what is judged of it is
   * the same. One that is very long stays as it is: the engine has others to look after.
   */
  redact(name: string, kind: ResultKind, redact: (text: string) => string): void {
    const size = this.size(name, kind);
    if (size === 0 || size > MAX_REDACTED_BYTES) return;
    const text = this.read(name, kind, MAX_REDACTED_BYTES);
    const clean = redact(text);
    if (clean !== text) replaceDurably(this.results, `${name}.${kind}`, clean);
  }

  /** Cuts a result to `limit` bytes. */
  cut(name: string, kind: ResultKind, limit: number): void {
    withFile(this.results, `${name}.${kind}`, constants.O_WRONLY, (fd) => ftruncateSync(fd, limit));
  }

  /** Cuts the middle out of a log that has become too long: its beginning and its end say most. Returns whether it had. */
  trimLog(name: string): boolean {
    const size = this.size(name, "log");
    if (size <= MAX_STDERR_BYTES) return false;
    const tail = this.read(name, "log", KEPT_TAIL_BYTES);
    const head = MAX_STDERR_BYTES - 2 * KEPT_TAIL_BYTES;
    withFile(this.results, `${name}.log`, constants.O_WRONLY | constants.O_APPEND, (fd) => {
      ftruncateSync(fd, head);
      writeSync(fd, `\n[maestro: ${size - head - Buffer.byteLength(tail)} bytes were cut out here]\n${tail}`);
    });
    return true;
  }

  writeSummary(summary: object): void {
    replaceDurably(this.results, SUMMARY_FILE, `${JSON.stringify(summary, null, 2)}\n`);
  }

  /** Removes what an earlier dispatch left: whatever has an exit code beside it, and the summary. */
  clearAll(): void {
    const names = this.results.list().flatMap((file) => /^(.+)\.exit$/.exec(file)?.[1] ?? []);
    for (const name of names) this.clear(name);
    this.results.unlink(SUMMARY_FILE);
  }

  removePrompts(): void {
    rmSync(join(this.path, "prompts"), { recursive: true, force: true });
  }

  close(): void {
    this.prompts.close();
    this.results.close();
  }
}

/** The file that holds a tier, in the batch at `path`. */
export function policyPath(path: string, tier: string): string {
  return join(path, "results", `policy-${tier}.toml`);
}

/** Makes `parallel/<id>` with what belongs into it, and opens it. */
export function openBatch(location: StateLocation, id: string): Batch {
  const components = [...location.components, "parallel", id];
  for (const part of ["prompts", "results"]) {
    withDirectory(location.root, [...components, part], walk(location, true), () => undefined);
  }
  return new Batch(join(location.root, ...components), `${location.shown}/parallel/${id}`);
}

/** A directory that somebody else has filled with prompts; `results` is made. */
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

/** The change time too: no process can set it back. */
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

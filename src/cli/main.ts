// The `maestro` command: runs the verb that argv names, and turns errors into messages on stderr and exit codes. The only file in this
// folder that uses the real process.

import { fstatSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { CommanderError } from "commander";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import { exitCodes, signalCodes } from "../exit-codes.ts";
import { usersOwn } from "../setting-layers.ts";
import { MAX_INPUT_BYTES, readStream } from "./input.ts";
import type { EndingSignal, Io } from "./io.ts";
import { pasteable } from "./launcher.ts";
import { plainWords, program, usageCodeOf } from "./program.ts";
import { frameText, outgoing, SHOW_CURSOR } from "./terminal.ts";

/** These start agents or validation commands: a closed output must neither stop them nor change their exit code. */
const vital = new Set(["run", "resume", "dispatch", "verify"]);
const isVital = vital.has(process.argv[2] ?? "");

/** These write for as long as they run, so a slow reader must not block them. */
const isLasting = isVital || ["rehearse", "watch", "logs"].includes(process.argv[2] ?? "");

/** The answer could not be written although its reader is still there. */
let isAnswerLost = false;

/** The descriptors whose stream exists. */
const watched = new Set<number>();

void main(process.argv).then((code) => {
  process.exitCode = code === 0 && isAnswerLost ? exitCodes.io : code;
});

async function main(argv: string[]): Promise<number> {
  let exitCode = 0;
  const onExitCode = (code: number) => {
    exitCode = code;
  };
  try {
    const [, , ...words] = argv;
    const maestro = program(machine(), onExitCode, words[0]);
    await maestro.parseAsync(plainWords(maestro, words), { from: "user" });
    return exitCode;
  } catch (error) {
    return report(isIncomplete(error) ? incomplete(error) : error, argv[2]);
  }
}

function isIncomplete(error: unknown): error is Error {
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(errno(error) ?? "");
}

function incomplete(error: Error): MaestroError {
  const missing = /'([^']*)'/.exec(error.message)?.[1] ?? "a file";
  return new MaestroError("environment", `The installation is incomplete: ${missing} is missing`, {
    hint: 'Reinstall the extension; in a checkout, run "git checkout dist".',
    cause: error,
  });
}

function machine(): Io {
  const cwd = workingDirectory();
  return {
    cwd,
    env: process.env.GEMINI_CLI ? usersOwn(process.env, cwd) : process.env,
    out,
    err,
    readStdin,
    deferSignals,
    now: () => new Date(),
    onSignal,
    beforeSignalEnds,
    get interactive() {
      return process.stdin.isTTY === true && stderr().isTTY === true;
    },
    ask,
    screen,
    frames,
    terminal: isOnTerminal(),
    color: isColored(),
  };
}

function out(text: string | Uint8Array): void {
  // Bytes such as a patch must reach another program unchanged.
  if (typeof text !== "string" && !isOnTerminal()) answer(text);
  else answer(Buffer.from(plain(typeof text === "string" ? text : Buffer.from(text).toString("utf8"))));
}

function err(text: string): void {
  stderr().write(plain(pasteable(text, process.env.PATH)));
}

function plain(text: string): string {
  return outgoing(text, isColored());
}

function isColored(): boolean {
  return isOnTerminal() && !process.env.NO_COLOR && process.env.TERM !== "dumb" && stdout().hasColors();
}

/** Node takes milliseconds to create a stream, so the answer of a short command goes straight to a pipe or file. */
function answer(bytes: Uint8Array): void {
  let written = 0;
  try {
    while (!watched.has(1) && !isLasting && !isDevice() && written < bytes.length) {
      written += writeSync(1, bytes, written);
    }
  } catch (error) {
    // The stream waits until the reader has read.
    if (errno(error) !== "EAGAIN") {
      process.nextTick(onWriteError, error);
      return;
    }
  }
  if (written < bytes.length) stdout().write(bytes.subarray(written));
}

function isOnTerminal(): boolean {
  return isDevice() && stdout().isTTY === true;
}

/** A terminal is a device; a pipe and a file are not. */
function isDevice(): boolean {
  try {
    return fstatSync(1).isCharacterDevice();
  } catch {
    // A closed stdout is not a pipe either: the stream knows what to do.
    return true;
  }
}

function stdout(): typeof process.stdout {
  return withErrors(1, process.stdout);
}

function stderr(): typeof process.stderr {
  return withErrors(2, process.stderr);
}

function withErrors<Stream extends NodeJS.WriteStream>(fd: number, stream: Stream): Stream {
  if (!watched.has(fd)) stream.on("error", onWriteError);
  watched.add(fd);
  return stream;
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (errno(error) !== "ENOENT") throw error;
    throw new MaestroError("environment", "The current directory does not exist any more", {
      hint: "Change to the project's directory and try again.",
      cause: error,
    });
  }
}

/** With a handler, a signal waits for the file operation in progress. */
function deferSignals(): void {
  for (const [signal, code] of Object.entries(signalCodes)) process.once(signal, () => process.exit(code));
}

function onSignal(handler: (signal: EndingSignal) => void): () => void {
  const signals = Object.keys(signalCodes) as (keyof typeof signalCodes)[];
  for (const signal of signals) process.on(signal, handler);
  return () => {
    for (const signal of signals) process.off(signal, handler);
  };
}

function beforeSignalEnds(before: () => void): () => void {
  const handler = (signal: EndingSignal) => {
    if (process.listenerCount(signal) > 1) return;
    before();
    process.exit(signalCodes[signal]);
  };
  return onSignal(handler);
}

async function ask(question: string, signal?: AbortSignal): Promise<string | null> {
  if (signal?.aborted) return null;
  const terminal = createInterface({ input: process.stdin, output: stderr() });
  try {
    return await new Promise((resolve) => {
      // Ctrl-D closes the input without an answer.
      terminal.once("close", () => resolve(null));
      terminal.once("SIGINT", () => {
        // A running engine is stopped as by a signal from outside.
        if (process.listenerCount("SIGINT") === 0) process.exit(signalCodes.SIGINT);
        process.kill(process.pid, "SIGINT");
        resolve(null);
      });
      signal?.addEventListener("abort", () => resolve(null), { once: true });
      terminal.question(plain(question), resolve);
    });
  } finally {
    terminal.close();
  }
}

function screen(): { columns: number; rows: number } | undefined {
  const { isTTY, columns, rows } = stderr();
  return isTTY === true && process.env.TERM !== "dumb" ? { columns: columns || 80, rows: rows || 24 } : undefined;
}

function frames(): ReturnType<Io["frames"]> {
  let height = 0;
  return {
    draw: (lines) => {
      stderr().write(frameText(lines, height, isColored()));
      height = lines.length;
    },
    close: () => void stderr().write(SHOW_CURSOR),
  };
}

/** Prints the error and its hint on stderr; returns the exit code. */
function report(error: unknown, called: string | undefined): number {
  // commander throws this after printing the help or the version.
  if (error instanceof CommanderError) return error.exitCode;
  if (error instanceof MaestroError) {
    err(`ERROR: ${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`);
    return (error.code === "usage" ? usageCodeOf(called) : undefined) ?? exitCodes[error.code];
  }
  if (errno(error) !== undefined) {
    const { path } = error as NodeJS.ErrnoException;
    err(`ERROR: ${reasonOf(error)}${path === undefined || path.startsWith("/proc/self/fd") ? "" : `: ${path}`}\n`);
    return exitCodes.io;
  }
  err(
    `ERROR: This is a defect in Maestro, please report it.\n${error instanceof Error ? error.stack : String(error)}\n`,
  );
  return 1;
}

/** A reader that exits early, as in `maestro status | head -1`, is not an error; every other failed write is. */
function onWriteError(error: NodeJS.ErrnoException): void {
  const isGone = error.code === "EPIPE" || (isVital && error.code === "EIO");
  if (isGone && isVital) return;
  if (isGone) process.exit(0);
  if (!isAnswerLost) writeSync(2, `ERROR: Cannot write the answer: ${reasonOf(error)}\n`);
  if (!isVital) process.exit(exitCodes.io);
  isAnswerLost = true;
  if (process.exitCode === 0) process.exitCode = exitCodes.io;
}

async function readStdin(): Promise<Uint8Array> {
  // Node reads a directory as empty input.
  if (fstatSync(0).isDirectory()) throw new MaestroError("io", "Cannot read standard input: it is a directory");
  const bytes = await readStream(process.stdin, MAX_INPUT_BYTES + 1);
  if (bytes.length <= MAX_INPUT_BYTES) return bytes;
  throw new MaestroError("usage", `Standard input is larger than ${MAX_INPUT_BYTES} bytes`);
}

// The `maestro` command: argv to a verb, errors to stderr, verdicts to exit codes. The only file here that knows the process.

import { CommanderError } from "commander";
import { errno, exitCodes, MaestroError, reasonOf } from "../errors.ts";
import type { Io } from "./io.ts";
import { program } from "./program.ts";

const MAX_STDIN_BYTES = 256 * 1024 * 1024;
const signalCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

const io: Io = {
  cwd: process.cwd(),
  env: process.env,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  readStdin,
  now: () => new Date(),
  color: process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb",
};

process.exitCode = await main(process.argv);

async function main(argv: string[]): Promise<number> {
  // With a handler, a signal waits for the file operation in progress: no temporary file is left behind.
  for (const [signal, code] of Object.entries(signalCodes)) process.once(signal, () => process.exit(code));
  for (const stream of [process.stdout, process.stderr]) stream.on("error", readerGone);
  let exitCode = 0;
  const verdict = (code: number) => {
    exitCode = code;
  };
  try {
    // Without any words the help is the answer.
    await program(io, verdict).parseAsync(argv.length > 2 ? argv : [...argv, "--help"]);
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

/** Says what failed and what to do, on stderr; returns the exit code. */
function report(error: unknown): number {
  // Help and version were asked for and printed.
  if (error instanceof CommanderError) return error.exitCode;
  if (error instanceof MaestroError) {
    io.err(`ERROR: ${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`);
    return exitCodes[error.code];
  }
  if (errno(error) !== undefined) {
    const { path } = error as NodeJS.ErrnoException;
    io.err(`ERROR: ${reasonOf(error)}${path === undefined || path.startsWith("/proc/self/fd") ? "" : `: ${path}`}\n`);
    return exitCodes.io;
  }
  io.err(
    `ERROR: This is a defect in Maestro, please report it.\n${error instanceof Error ? error.stack : String(error)}\n`,
  );
  return 1;
}

/** `maestro status | head -1`: the reader has seen enough. */
function readerGone(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > MAX_STDIN_BYTES)
      throw new MaestroError("usage", `Standard input is larger than ${MAX_STDIN_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

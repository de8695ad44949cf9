// The command line of `maestro` in the process of the test: for the steps of a scenario whose process is not under test.

import { CommanderError } from "commander";
import type { Io } from "../../src/cli/io.ts";
import { pasteable } from "../../src/cli/launcher.ts";
import { plainWords, program, usageCodeOf } from "../../src/cli/program.ts";
import { outgoing } from "../../src/cli/terminal.ts";
import { MaestroError } from "../../src/errors.ts";
import { exitCodes } from "../../src/exit-codes.ts";
import type { Project, Run, RunOptions } from "./project.ts";

/** Runs `maestro ...words` in the project without starting a process. Errors that are defects reject. */
export async function commandLine(
  project: Pick<Project, "path" | "environment">,
  words: string[],
  { env = {}, input = "" }: Pick<RunOptions, "env" | "input"> = {},
): Promise<Run> {
  // The build defines it in the programs of dist/.
  Object.assign(globalThis, { MAESTRO_VERSION: "test" });
  let stdout = "";
  let stderr = "";
  let code = 0;
  const io: Partial<Io> = {
    cwd: project.path,
    env: project.environment(env),
    out: (text) => {
      stdout += typeof text === "string" ? outgoing(text) : Buffer.from(text).toString("utf8");
    },
    err: (text) => {
      stderr += outgoing(pasteable(text, io.env?.PATH));
    },
    readStdin: async () => Buffer.from(input),
    deferSignals: () => undefined,
    beforeSignalEnds: () => () => undefined,
    onSignal: () => () => undefined,
    now: () => new Date(),
    interactive: false,
    screen: () => undefined,
    terminal: false,
    color: false,
  };
  const verdict = (given: number) => {
    code = given;
  };
  try {
    const maestro = program(io as Io, verdict, words[0]);
    await maestro.parseAsync(plainWords(maestro, words), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return { code: error.exitCode, signal: null, stdout, stderr };
    if (!(error instanceof MaestroError)) throw error;
    io.err?.(`ERROR: ${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`);
    code = (error.code === "usage" ? usageCodeOf(words[0]) : undefined) ?? exitCodes[error.code];
  }
  return { code, signal: null, stdout, stderr };
}

// The custom runtimes that files describe: the user's own, and the project's, which count only after the user's consent because each names a
// program to start.

import { readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { type Directory, withDirectory } from "../../disk/contained.ts";
import { readRegular } from "../../disk/durable.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { customRuntime } from "../../runtimes/custom/custom.ts";
import { readDescription } from "../../runtimes/custom/description.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { readerOf, runtimes } from "../../runtimes/runtime-table.ts";
import { usersOwn } from "../../setting-layers.ts";
import { stripControls } from "../../text.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Described {
  runtime: Runtime;
  /** Its file. */
  path: string;
  text: string;
  isProjects: boolean;
}

interface DescribedRuntimes {
  found: Described[];
  /** What is wrong, by file and field: these files are left out. */
  problems: string[];
}

const PROJECT_FOLDER = [".maestro", "runtimes"];
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES = 200;

/** Of two files with one name the user's own counts. */
export function describedRuntimes(env: Environment, projectRoot: string): DescribedRuntimes {
  // A project's env file must not make its files the user's own.
  const own = join(configRoot(usersOwn(env, projectRoot)), "maestro", "runtimes");
  const files = [
    ...ownFiles(own).map((file) => ({ ...file, isProjects: false })),
    ...projectFiles(projectRoot).map((file) => ({ ...file, isProjects: true })),
  ];
  const known: DescribedRuntimes = { found: [], problems: [] };
  for (const { directory, name, read, isProjects } of files) {
    const path = join(directory, name);
    const shown = stripControls(path);
    const text = read();
    if (typeof text !== "string") {
      known.problems.push(`${shown}: ${text.problem}`);
      continue;
    }
    const description = readDescription(text, reserved);
    if ("problems" in description) {
      known.problems.push(...description.problems.map((problem) => `${shown}: ${problem}`));
      continue;
    }
    const other = known.found.find(({ runtime }) => runtime.name === description.name);
    if (other !== undefined) {
      known.problems.push(`${shown}: name must be another one: ${stripControls(other.path)} has it`);
      continue;
    }
    const { program } = description;
    const runtime = customRuntime(description, program.startsWith("./") ? join(directory, program) : program);
    known.found.push({ runtime, path, text, isProjects });
  }
  return known;
}

/** The runtime that reads the output of an attempt. A project's file needs no consent for it: nothing is started. */
export function attemptReader(env: Environment, projectRoot: string): (attempt: { runtime: string }) => Runtime {
  let found: Described[] | undefined;
  return (attempt) => {
    if (runtimes.some(({ name }) => name === attempt.runtime)) return readerOf(attempt);
    found ??= describedRuntimes(env, projectRoot).found;
    return found.find(({ runtime }) => runtime.name === attempt.runtime)?.runtime ?? readerOf(attempt);
  };
}

/** Names that mean something else wherever a runtime is named. */
const reserved = [...runtimes.map(({ name }) => name), "acp", "rehearsal", "other"];

interface File {
  directory: string;
  name: string;
  read: () => string | { problem: string };
}

function projectFiles(projectRoot: string): File[] {
  const read = (name: string) =>
    withDirectory(projectRoot, PROJECT_FOLDER, { create: false }, (directory) => bytesOf(directory, name));
  return filesIn(join(projectRoot, ...PROJECT_FOLDER), read);
}

/** Links are followed: many users keep their configuration elsewhere. */
function ownFiles(own: string): File[] {
  return filesIn(own, (name) => {
    const real = realpathSync(join(own, name));
    return withDirectory(dirname(real), [], { create: false }, (directory) => bytesOf(directory, basename(real)));
  });
}

function bytesOf(directory: Directory, name: string): string | { problem: string } {
  return readRegular(directory, name, MAX_FILE_BYTES)?.toString("utf8") ?? { problem: "it does not exist any more" };
}

/** The JSON files of a directory, by name; none when it does not exist. */
function filesIn(directory: string, read: (name: string) => string | { problem: string }): File[] {
  const names = namesIn(directory).filter((name) => /^[^.].*\.json$/.test(name));
  return names
    .sort()
    .slice(0, MAX_FILES)
    .map((name) => ({ directory, name, read: () => tried(() => read(name)) }));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return [];
  }
}

function tried(read: () => string | { problem: string }): string | { problem: string } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MaestroError) && errno(error) === undefined) throw error;
    return { problem: reasonOf(error) };
  }
}

/** A relative value is ignored, because it would name another directory in every working directory. */
function configRoot(env: Environment): string {
  const given = env.XDG_CONFIG_HOME;
  return given !== undefined && isAbsolute(given) ? given : join(env.HOME || homedir(), ".config");
}

// Runs git: with an argument array, never a shell, a clean environment, a time limit, and every setting disabled by which a
// repository could start a program. Knows nothing about repositories. No transport is allowed unless the caller names one in `env`, which
// only src/workers/exchange does.
//
// Asynchronous only: on 50,000 files one call takes longer than the engine's event loop may block.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import { rememberedProgram, searchPath } from "../search-path.ts";
import { stripControls } from "../text.ts";
import { gitStarted, stopCause } from "./running.ts";

export interface GitCall {
  args: readonly string[];
  cwd: string;
  /** Variables for git. None of the user's GIT_* variables is passed on. */
  env?: Readonly<Record<string, string>>;
  /**
   * The configuration that git reads beside the repository's own: "none" for every command that changes something; "user" and "machine"
   * (the user's and the system's) only for queries about a repository.
   */
  config?: "none" | "user" | "machine";
  input?: string | Uint8Array;
  /** Exit codes that count as success; all others are errors. */
  codes?: readonly number[];
  timeoutMs?: number;
  /** Looked at while git runs: why it must be stopped, or undefined. */
  check?: { everyMs: number; fault: () => string | undefined };
}

export interface GitAnswer {
  code: number;
  stdout: Buffer;
  /** What git printed to stderr. */
  warnings: string[];
}

/** Settings by which a repository could make git start a program. On the command line they override every file. */
const safety = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.attributesFile=/dev/null",
  "core.untrackedCache=false",
  "core.editor=true",
  "core.sshCommand=false",
  "core.askPass=true",
  "core.alternateRefsCommand=true",
  "core.logAllRefUpdates=false",
  "credential.helper=",
  "core.gitProxy=",
  "protocol.allow=never",
  "commit.gpgSign=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "advice.detachedHead=false",
];
const safetyArguments = safety.flatMap((setting) => ["-c", setting]);

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
const GRACE_MS = 2_000;
/** After a stop, git gets only enough time to remove its lock files. */
const STOP_GRACE_MS = 300;
const MAX_OUTPUT_BYTES = 1 << 30;
const MAX_COMPLAINT_BYTES = 64 * 1024;

export async function runGit(call: GitCall): Promise<GitAnswer> {
  const path = searchPath(process.env.PATH);
  const program = gitProgram();
  if (program === undefined) throw new MaestroError("environment", "git is not installed, or not on the PATH");
  const ended = stopCause() === undefined ? await waitFor(program, path, call) : neverRan;
  const warnings = ended.stderr.split("\n").filter((line) => line !== "");
  if (ended.code !== undefined && (call.codes ?? [0]).includes(ended.code)) {
    return { code: ended.code, stdout: ended.stdout, warnings };
  }
  throw new MaestroError(
    "environment",
    `git ${verb(call.args)} failed: ${ended.failure ?? complaint(warnings, ended)}`,
    { cause: ended.failure === STOPPED ? stopCause() : undefined },
  );
}

const STOPPED = "Maestro was told to stop";

interface Ended {
  /** Undefined when a signal killed git. */
  code: number | undefined;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: string;
  /** Why Maestro stopped git. */
  failure?: string;
}

const neverRan: Ended = { code: undefined, signal: null, stdout: Buffer.alloc(0), stderr: "", failure: STOPPED };

function waitFor(program: string, path: string, call: GitCall): Promise<Ended> {
  const limitMs = call.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    // A separate process group: Ctrl-C in the terminal reaches only the engine, which lets git finish, and git's children end with it.
    const words = [...safetyArguments, "--no-pager", "--literal-pathspecs", ...call.args];
    const child = spawn(program, words, {
      cwd: call.cwd,
      env: environment(path, call),
      stdio: [call.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      detached: true,
      shell: false,
    }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let [outBytes, errBytes] = [0, 0];
    let failure: string | undefined;
    let killer: NodeJS.Timeout | undefined;
    const stop = (why: string, graceMs = GRACE_MS) => {
      if (failure !== undefined && why !== STOPPED) return;
      failure = why;
      signalGroup(child.pid, "SIGTERM");
      clearTimeout(killer);
      killer = setTimeout(() => {
        signalGroup(child.pid, "SIGKILL");
        // A process that left the group may keep the pipes open, so stop reading them.
        for (const pipe of [child.stdout, child.stderr]) pipe.destroy();
      }, graceMs);
    };
    const hasEnded = child.pid === undefined ? undefined : gitStarted(child.pid, () => stop(STOPPED, STOP_GRACE_MS));
    const limit = setTimeout(() => stop(`timed out after ${limitMs / 1000} s`), limitMs);
    const looking = lookAt(call.check, stop);
    child.stdout.on("data", (chunk: Buffer) => {
      outBytes += chunk.length;
      if (outBytes > MAX_OUTPUT_BYTES) return stop(`more than ${MAX_OUTPUT_BYTES} bytes of output`);
      stdout.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      if (errBytes < MAX_COMPLAINT_BYTES) stderr.push(chunk);
      errBytes += chunk.length;
    });
    child.once("error", (error) => {
      clearTimeout(limit);
      clearInterval(looking);
      reject(new MaestroError("environment", `Cannot start git: ${reasonOf(error)}`, { cause: error }));
    });
    child.once("close", (code, signal) => {
      hasEnded?.();
      clearTimeout(limit);
      clearInterval(looking);
      clearTimeout(killer);
      const said = stripControls(Buffer.concat(stderr).toString("utf8"));
      const ended: Ended = { code: code ?? undefined, signal, stdout: Buffer.concat(stdout), stderr: said };
      resolve(failure === undefined ? ended : { ...ended, code: undefined, failure });
    });
    // When git exits before reading all input, its exit code says why.
    child.stdin?.on("error", (error) => {
      if (!["EPIPE", "ECONNRESET"].includes(errno(error) ?? "")) stop(reasonOf(error));
    });
    child.stdin?.end(call.input);
  });
}

function lookAt(check: GitCall["check"], stop: (why: string) => void): NodeJS.Timeout | undefined {
  if (check === undefined) return undefined;
  return setInterval(() => {
    const fault = check.fault();
    if (fault !== undefined) stop(fault);
  }, check.everyMs);
}

function environment(path: string, { env, config = "none" }: GitCall): NodeJS.ProcessEnv {
  const kept = ["TMPDIR", "SystemRoot", ...(config === "none" ? [] : ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"])];
  if (config === "machine") kept.push("GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM");
  const clean: NodeJS.ProcessEnv = { PATH: path };
  for (const name of kept) if (process.env[name] !== undefined) clean[name] = process.env[name];
  if (config !== "machine") clean.GIT_CONFIG_NOSYSTEM = "1";
  if (config === "none")
    Object.assign(clean, { GIT_CONFIG_GLOBAL: "/dev/null", GIT_ATTR_NOSYSTEM: "1", HOME: "/dev/null" });
  return {
    ...clean,
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    // Overrides every setting: without a transport, none can start a program.
    GIT_ALLOW_PROTOCOL: "none",
    GIT_EDITOR: "true",
    GIT_PAGER: "cat",
    LC_ALL: "C",
    ...env,
  };
}

/** The path of git, or undefined if it is not installed. */
export function gitProgram(): string | undefined {
  return rememberedProgram("git", process.env.PATH);
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // macOS answers EPERM for a group that contains only zombies.
    if (!["ESRCH", "EPERM"].includes(errno(error) ?? "")) throw error;
  }
}

/** git's error in one line: its first error is the cause, the rest are consequences. */
function complaint(said: readonly string[], { code, signal }: Ended): string {
  const reason = said.find((line) => /^(fatal|error):/.test(line)) ?? said.at(-1);
  if (reason !== undefined) return reason.replace(/^(fatal|error): /, "").trim();
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

/** The git command, after its global options. */
function verb(args: readonly string[]): string {
  return args.find((arg, at) => !arg.startsWith("-") && args[at - 1] !== "-c") ?? "";
}

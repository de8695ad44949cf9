// Runs commands in the background, lists the living processes of a project, and waits for conditions.

import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { maestroPath, Project, type Run } from "./project.ts";

export interface Background {
  pid: number;
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  /** Resolves when the process has exited and all of its output has arrived. */
  ended: Promise<Run & { ms: number }>;
}

/** `maestro ...args` in a project, without waiting for it. */
export function background(project: Project, args: string[], env: Record<string, string> = {}): Background {
  return spawned(project, process.execPath, [maestroPath, ...args], env);
}

export function spawned(
  project: Project,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Background {
  const started = performance.now();
  const child = project.start(command, args, env);
  child.stdin.on("error", () => undefined);
  child.stdin.end();
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  const ended = new Promise<Run & { ms: number }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr, ms: performance.now() - started })),
  );
  return { pid: child.pid ?? 0, child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Runs `maestro ...args` to its end; unlike `project.maestro` it lets other tests of the file run at the same time. */
export function maestro(project: Project, args: string[], env: Record<string, string> = {}) {
  return background(project, args, env).ended;
}

/** Polls until `look` answers with something; fails with `what` when that takes too long. */
export async function until<T>(what: string, look: () => T | undefined | null | false, withinMs = 20_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Living processes that have anything to do with the project: engines, agents and whatever these started, wardens. Linux only. */
export function processesOf(project: Project): { pid: number; command: string }[] {
  const runs = runsOf(project);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const environment = readProc(name, "environ");
      const command = readProc(name, "cmdline").replaceAll("\0", " ").trim();
      const isWarden = command.includes("warden.cjs") && runs.some((run) => command.includes(run));
      return environment.includes(project.path) || isWarden ? [{ pid: Number(name), command }] : [];
    });
}

/** Waits until nothing of the project runs any more. */
export async function allGone(project: Project, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const left = processesOf(project);
    if (left.length === 0) return;
    if (performance.now() > deadline) {
      const shown = left.map(({ pid, command }) => `${pid} ${command}`).join("\n");
      throw new Error(`still running after ${withinMs} ms:\n${shown}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** For tests that start processes: the machine may be busy. `withProcesses` gives up earlier, because a timeout of vitest skips the clean-up. */
export const TEST_TIMEOUT_MS = 60_000;
const PATIENCE_MS = TEST_TIMEOUT_MS - 5_000;

/** Runs `use` in a project that is removed afterwards, with whatever still runs in it when `use` fails or takes too long. */
export async function withProcesses<T>(use: (project: Project) => Promise<T>): Promise<T> {
  return withRemoved(new Project(), use);
}

/** The same for a project that is there. */
export async function withRemoved<P extends Project, T>(project: P, use: (project: P) => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const left = processesOf(project).map(({ pid, command }) => `${pid} ${command}`);
      reject(new Error(`not done within ${PATIENCE_MS} ms; running:\n${left.join("\n")}`));
    }, PATIENCE_MS);
  });
  try {
    return await Promise.race([use(project), tooLate]);
  } finally {
    clearTimeout(timer);
    for (const { pid } of processesOf(project)) kill(pid);
    project.remove();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was deleted in between.
  }
}

/** Linux only. */
export function childrenOf(pid: number): number[] {
  return readProc(String(pid), `task/${pid}/children`).trim().split(" ").filter(Boolean).map(Number);
}

export function isAlive(pid: number): boolean {
  return readProc(String(pid), "cmdline") !== "";
}

/** Every record of the session's journal, in `state/` or in the archive. */
export function journalOf(project: Project): Record<string, unknown>[] {
  return journalText(project)
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line));
}

function runsOf(project: Project): string[] {
  return [...new Set([...journalText(project).matchAll(/"run":"([^"]+)"/g)].map((match) => match[1] ?? ""))];
}

function journalText(project: Project): string {
  const state = join(project.path, ".gemini", "state");
  const archive = join(state, "archive");
  const archived = existsSync(archive) ? readdirSync(archive).filter((name) => name.endsWith(".jsonl")) : [];
  const files = [join(state, "progress.jsonl"), ...archived.map((name) => join(archive, name))];
  return files.map((file) => readIfThere(file)).join("");
}

/** Empty when the process has exited, also before its parent has collected it. */
function readProc(pid: string, file: string): string {
  return readIfThere(`/proc/${pid}/${file}`);
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

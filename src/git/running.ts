// The git processes that run now, each in a process group of its own: an observer is told of every group, and all of them can be stopped.

export interface GitWatcher {
  started(group: number): void;
  ended(group: number): void;
}

/** By group: the way to stop it. */
const running = new Map<number, () => void>();
const watchers = new Set<GitWatcher>();
/** The cause of every failure that comes from `stopGit`. */
const stopped = new Error("git was stopped");
let isOver = false;
/** How long each git may run from now on, once there is such a limit. */
let limitMs: number | undefined;
const limits = new Map<number, NodeJS.Timeout>();

/** Tells `watcher` of the groups that run and of all that follow; returns how to leave. */
export function watchGit(watcher: GitWatcher): () => void {
  watchers.add(watcher);
  for (const group of running.keys()) watcher.started(group);
  return () => void watchers.delete(watcher);
}

/** Called by whoever starts a git; returns what to call when the process has ended. */
export function gitStarted(group: number, stop: () => void): () => void {
  running.set(group, stop);
  if (limitMs !== undefined) limits.set(group, setTimeout(stopGit, limitMs));
  for (const watcher of watchers) watcher.started(group);
  return () => {
    running.delete(group);
    clearTimeout(limits.get(group));
    limits.delete(group);
    for (const watcher of watchers) watcher.ended(group);
  };
}

/** Stops every git of this process. No other one starts until `allowGit`: what comes after a stop must not wait either. */
export function stopGit(): void {
  isOver = true;
  for (const stop of running.values()) stop();
}

export function allowGit(): void {
  isOver = false;
}

/** Stops all git as soon as one of those that run, or of those that follow, takes longer than this; returns how to lift the limit. */
export function limitGit(ms: number): () => void {
  limitMs = ms;
  for (const group of running.keys()) limits.set(group, setTimeout(stopGit, ms));
  return () => {
    limitMs = undefined;
    for (const timer of limits.values()) clearTimeout(timer);
    limits.clear();
  };
}

/** The cause for an error, once git is stopped; undefined as long as git may run. */
export function stopCause(): Error | undefined {
  return isOver ? stopped : undefined;
}

/** Whether an error comes from `stopGit`: the work was interrupted and did not fail. */
export function wasStopped(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at === stopped) return true;
  return false;
}

// Tracks the running git processes, each in its own process group: watchers are notified about every group, and all of them can be stopped.

export interface GitWatcher {
  started(group: number): void;
  ended(group: number): void;
}

/** How to stop each group. */
const running = new Map<number, () => void>();
const watchers = new Set<GitWatcher>();
/** The cause of every failure that comes from `stopGit`. */
const stopped = new Error("git was stopped");
let isOver = false;
/** The time limit of each git process, when one is set. */
let limitMs: number | undefined;
const limits = new Map<number, NodeJS.Timeout>();

/**
 * Notifies `watcher` about the running groups and all later ones. Returns a function that unsubscribes it: to the watcher, every group has
 * then ended.
 */
export function watchGit(watcher: GitWatcher): () => void {
  watchers.add(watcher);
  for (const group of running.keys()) watcher.started(group);
  return () => {
    watchers.delete(watcher);
    for (const group of running.keys()) watcher.ended(group);
  };
}

/** Registers a git process that has started; returns a function to call when it has ended. */
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

/** Stops every git of this process. None starts again until `allowGit`, because the work after a stop must not block either. */
export function stopGit(): void {
  isOver = true;
  for (const stop of running.values()) stop();
}

export function allowGit(): void {
  isOver = false;
}

/** Stops all git processes as soon as one, running or later, exceeds the limit; returns a function that lifts the limit. */
export function limitGit(ms: number): () => void {
  limitMs = ms;
  for (const group of running.keys()) limits.set(group, setTimeout(stopGit, ms));
  return () => {
    limitMs = undefined;
    for (const timer of limits.values()) clearTimeout(timer);
    limits.clear();
  };
}

/** The cause to attach to errors once git is stopped; undefined while git may run. */
export function stopCause(): Error | undefined {
  return isOver ? stopped : undefined;
}

/** Whether an error comes from `stopGit`: the work was interrupted, it did not fail. */
export function wasStopped(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at === stopped) return true;
  return false;
}

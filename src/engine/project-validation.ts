// The validation of a phase that was worked on in the project itself: the commands run there, and the evidence names the tree if git knows it.

import type { Killed } from "../runtimes/runtime.ts";
import { requireSession } from "../session/decide.ts";
import { startValidation, type ValidationRun } from "./validation.ts";
import type { Workshop } from "./workshop.ts";

export function startProjectValidation(workshop: Workshop, phase: string): ValidationRun {
  let stopped: Killed = null;
  let running: ValidationRun | undefined;
  const begin = async () => {
    const tree = await treeOfProject(workshop);
    const subject = { cwd: workshop.projectRoot, tree, env: {}, wrap: <T>(command: T) => command };
    running = startValidation(workshop, phase, subject);
    if (stopped !== null) running.stop(stopped);
    return running.done;
  };
  const stop = (why: Killed) => {
    stopped ??= why;
    running?.stop(why);
  };
  return { phase, done: begin(), stop };
}

async function treeOfProject({ isolation, store }: Workshop): Promise<string | null> {
  if (isolation.options.repository === null) return null;
  return (await isolation.tree.take(() => isolation.snapshot(requireSession(store.session)))).tree;
}

// Decides what follows when a worker has refused an order because its key is another one: the order goes back to the queue while another
// worker may take it, and otherwise the user is asked. Pure.

import { type PhaseId, workerNameForm } from "../../ids.ts";
import { type QueueClass, serves } from "../protocol/queue-name.ts";
import type { WorkerEntry } from "../queue/registry.ts";

export type KeyedWorker = Pick<WorkerEntry, "id" | "name" | "runtimes" | "labels" | "isDraining">;

export interface Keys {
  /** The workers that are there. */
  workers: readonly KeyedWorker[];
  /** The ids of those that have refused an order because of its key. A worker that is started again has another id. */
  refused: ReadonlySet<string>;
}

/** The ids of the workers with that name: a refusal names its worker, not the id. */
export function idsNamed(workers: readonly KeyedWorker[], name: string): string[] {
  return workers.filter((worker) => worker.name === name).map(({ id }) => id);
}

/** Whether a worker is there that may run attempts of the queue and has not refused one because of its key. */
export function canStillRun({ workers, refused }: Keys, queue: QueueClass): boolean {
  return workers.some((worker) => !worker.isDraining && !refused.has(worker.id) && serves(worker, queue));
}

/** The names of the workers with another key, with that of the one that refused last. */
export function namesOf({ workers, refused }: Keys, last: string): string[] {
  const names = workers.filter(({ id }) => refused.has(id)).map(({ name }) => shownName(name));
  return [...new Set([...names, shownName(last)])].sort();
}

/** The queue may say anything: a name of another form is neither shown nor recorded. */
export function shownName(worker: string): string {
  return workerNameForm.test(worker) ? worker : "unnamed";
}

const KEYS = "MAESTRO_WORKER_KEY or MAESTRO_WORKER_KEY_FILE";

/** For the run, while another worker may take the order. */
export function otherKeyWarning(worker: string): string {
  const name = shownName(worker);
  return `Worker ${name} refuses orders, because its key differs from this engine's; the orders wait for another worker. Start ${name} again with this engine's key (${KEYS}), or stop it`;
}

/** For the user, who is asked. */
export function otherKeyMessage(names: readonly string[], phase: PhaseId): string {
  const who =
    names.length === 1
      ? `Worker ${names[0]} refuses the order, because its key is`
      : `Workers ${names.join(", ")} refuse the order, because their key is`;
  return `${who} not this engine's, and no other worker can run it. Give engine and workers the same key (${KEYS}) and start them again; "maestro workers" lists the workers. Then run "maestro retry ${phase}"`;
}

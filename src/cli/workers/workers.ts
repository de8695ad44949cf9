// maestro workers: the workers that can run attempts, and what each runs now.

import { MaestroError } from "../../errors.ts";
import { plural } from "../../views/text/amount.ts";
import { cell, oneLine, widest } from "../../views/text/cell.ts";
import { ago, durationText } from "../../views/text/duration.ts";
import { readQueueName } from "../../workers/protocol/queue-name.ts";
import { listWorkers, type WorkerEntry } from "../../workers/queue/registry.ts";
import { settingsOf, tellUser } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { queueOf } from "./queue-options.ts";

const MAX_COLUMN = 40;

export async function workers(
  io: Io,
  flags: { queue?: string; passwordFile?: string; json?: boolean },
): Promise<number> {
  const given = { given: flags.queue, option: "--queue", passwordFile: flags.passwordFile };
  const address = queueOf(io, settingsOf(io), given);
  if (address === undefined) {
    throw new MaestroError("usage", "No queue is named", {
      hint: 'Name it with --queue or MAESTRO_WORKERS: "maestro workers --queue redis://localhost".',
    });
  }
  const entries = await listWorkers(address);
  if (flags.json) printJson(io, { queue: address.url, workers: entries.map(workerJson) });
  else tellUser(io, `${workerTable(entries, io.now()).join("\n")}\n`);
  return 0;
}

function workerJson({ isDraining, ...entry }: WorkerEntry) {
  const running = entry.running.map(({ key, queue, since }) => ({ attempt: key, ...classOf(queue), since }));
  return { ...entry, running, draining: isDraining };
}

function classOf(queue: string): { runtime: string | null; needs: readonly string[] } {
  const read = readQueueName(queue);
  return { runtime: read?.runtime ?? null, needs: read?.needs ?? [] };
}

const headings = ["WORKER", "SLOTS", "RUNTIMES", "LABELS", "VERSION", "HOST", "LAST SIGN"];

/** One line per worker, and one below it for each attempt that it runs. */
export function workerTable(entries: readonly WorkerEntry[], now: Date): string[] {
  if (entries.length === 0) {
    return ['No worker is running. Start one with "maestro worker --queue <url> --exchange <url>".'];
  }
  const rows = entries.map((entry) => cellsOf(entry, now));
  const widths = headings.map((heading, at) => widest([heading, ...rows.map((row) => row[at] ?? "")], MAX_COLUMN));
  const line = (cells: readonly string[]) =>
    cells
      .map((text, at) => cell(text, widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  const lines = entries.flatMap((entry, at) => [line(rows[at] ?? []), ...runningLines(entry, now)]);
  const slots = entries.reduce((sum, entry) => sum + entry.slots, 0);
  const used = entries.reduce((sum, entry) => sum + entry.running.length, 0);
  return [
    line(headings),
    ...lines,
    "",
    `${plural(entries.length, "worker")}, ${used} of ${plural(slots, "slot")} in use`,
  ];
}

function cellsOf({ name, slots, running, runtimes, labels, version, host, seen, isDraining }: WorkerEntry, now: Date) {
  const used = `${running.length} of ${slots}${isDraining ? ", draining" : ""}`;
  const cells = [name, used, runtimes.join(" "), labels.join(" "), version, host, ago(seen, now)];
  return cells.map(oneLine);
}

function runningLines({ running }: WorkerEntry, now: Date): string[] {
  return running.map(({ key, queue, since }) => {
    const { runtime, needs } = classOf(queue);
    const what = [runtime ?? "attempt", ...needs].join(" ");
    return `  ${oneLine(`${key}: ${what}`)}, for ${durationText(Math.max(0, now.getTime() - Date.parse(since)))}`;
  });
}

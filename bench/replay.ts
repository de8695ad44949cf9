// What it costs a new process to read a journal of 25,000 events.

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionEvent } from "../src/session/events.ts";
import { withDirectory } from "../src/store/contained.ts";
import { Journal } from "../src/store/journal.ts";
import { encodeRecord } from "../src/store/record.ts";
import { cpu, median, report } from "./support/measure.ts";

const EVENTS = 25_000;
const PHASES = 500;
const project = mkdtempSync(join(tmpdir(), "maestro-bench-replay-"));
mkdirSync(join(project, "state"));

const ids = Array.from({ length: PHASES }, (_, index) => String(index + 1));
const phases = ids.map((id) => ({
  id,
  title: `Phase ${id}`,
  agent: "coder",
  description: "A description of ordinary length, as a plan has it.",
  validation_criteria: ["it works"],
  validation: [],
  parallel: true,
  blocked_by: [],
  files_created: [`src/file-${id}.ts`],
  files_modified: [],
  files_deleted: [],
}));
const ts = "2026-02-14T22:58:00.000Z";
const hash = "0".repeat(64);
const events: SessionEvent[] = [
  {
    type: "session.created",
    session_id: "2026-02-14-bench",
    task: null,
    execution_mode: "parallel",
    plan: { title: "Bench", path: "plan.md", hash, design_document: null, phases },
  },
];
while (events.length < EVENTS) {
  const phase = ids[events.length % PHASES] as string;
  const attempt = events.length;
  events.push(
    {
      type: "phase.moved",
      phase,
      from: attempt < PHASES ? "pending" : "failed",
      to: "in_progress",
      hashes: { [`src/file-${phase}.ts`]: hash },
    },
    {
      type: "phase.files_added",
      phase,
      created: [`src/file-${phase}-${attempt}.ts`],
      modified: [],
      deleted: [],
      hashes: { [`src/file-${phase}.ts`]: hash },
    },
    { type: "tokens.used", agent: "coder", phase, input: 12_000, output: 800, cached: 4000 },
    { type: "phase.moved", phase, from: "in_progress", to: "failed", reason: "validation failed" },
  );
}
const path = join(project, "state", "progress.jsonl");
writeFileSync(path, Buffer.concat(events.slice(0, EVENTS).map((event, index) => encodeRecord(index + 1, ts, event))));

const rounds = Array.from({ length: 7 }, () =>
  cpu(() => {
    const journal = new Journal();
    const read = withDirectory(project, ["state"], { create: false }, (directory) => journal.refresh(directory));
    if ("fault" in read || journal.session?.seq !== EVENTS) throw new Error("the journal was not read");
  }),
);
report(`journal of ${EVENTS} events`, statSync(path).size / 1e6, "MB");
report("replay, first time in the process (cold)", rounds[0] as number, "ms CPU", 150);
report("replay, median", median(rounds), "ms CPU", 150);
rmSync(project, { recursive: true });

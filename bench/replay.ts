// Measures how long a new process takes to read a journal of 25,000 events, compared with only parsing its lines as JSON.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withDirectory } from "../src/disk/contained.ts";
import type { SessionEvent } from "../src/session/events.ts";
import { Journal } from "../src/store/journal/journal.ts";
import { JOURNAL_FILE } from "../src/store/journal/journal-file.ts";
import { encodeChange, journalStart } from "../src/store/journal/record.ts";
import { cpu, median, report } from "./support/measure.ts";

const EVENTS = 25_000;
const PHASES = 500;
const ROUNDS = 9;

const [work, given = ""] = process.argv.slice(2);
if (work === "replay") replay(given);
else if (work === "parse") parse(given);
else compare();

// Each measurement runs in its own process, so that the heap holds nothing else.

function replay(project: string): void {
  const journal = new Journal();
  const used = cpu(() => {
    const read = withDirectory(project, ["state"], { create: false }, (directory) => journal.refresh(directory));
    if ("fault" in read || journal.session?.seq !== EVENTS) throw new Error("the journal was not read");
  });
  process.stdout.write(String(used));
}

/** The lower bound: parses the lines as JSON without checking or folding them. */
function parse(project: string): void {
  const used = cpu(() => {
    const lines = readFileSync(join(project, "state", JOURNAL_FILE), "utf8")
      .trimEnd()
      .split("\n");
    if (lines.map((line) => JSON.parse(line)).length !== EVENTS) throw new Error("the journal was not read");
  });
  process.stdout.write(String(used));
}

function compare(): void {
  const project = mkdtempSync(join(tmpdir(), "maestro-bench-replay-"));
  mkdirSync(join(project, "state"));
  let last: { seq: number; crc: string } = journalStart;
  const changes = fixture().map((event) => {
    const change = encodeChange(last, "2026-02-14T22:58:00.000Z", [event]);
    last = change;
    return change.bytes;
  });
  const bytes = Buffer.concat(changes);
  writeFileSync(join(project, "state", JOURNAL_FILE), bytes);
  const self = fileURLToPath(import.meta.url);
  const measured = (what: string) =>
    Number(execFileSync(process.execPath, [self, what, project], { encoding: "utf8" }));
  const rounds = Array.from({ length: ROUNDS }, () => ({ replay: measured("replay"), parse: measured("parse") }));
  const replayed = median(rounds.map((round) => round.replay));
  const parsed = median(rounds.map((round) => round.parse));
  report(`journal of ${EVENTS} events`, bytes.length / 1e6, "MB");
  report(`JSON.parse of its lines alone, median of ${ROUNDS}`, parsed, "ms CPU");
  report(`replay in a new process, median of ${ROUNDS}`, replayed, "ms CPU", 150);
  report("ratio of the two", replayed / parsed, "x");
  rmSync(project, { recursive: true });
}

function fixture(): SessionEvent[] {
  const ids = Array.from({ length: PHASES }, (_, index) => String(index + 1));
  const hash = "0".repeat(64);
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
  const plan = { title: "Bench", path: "plan.md", hash, design_document: null, phases };
  const events: SessionEvent[] = [
    { type: "session.created", session_id: "2026-02-14-bench", task: null, execution_mode: "parallel", plan },
  ];
  while (events.length < EVENTS) {
    const phase = ids[events.length % PHASES] as string;
    const attempt = events.length;
    const hashes = { [`src/file-${phase}.ts`]: hash };
    events.push(
      { type: "phase.moved", phase, from: attempt < PHASES ? "pending" : "failed", to: "in_progress", hashes },
      {
        type: "phase.files_added",
        phase,
        created: [`src/file-${phase}-${attempt}.ts`],
        modified: [],
        deleted: [],
        hashes,
      },
      { type: "tokens.used", agent: "coder", phase, input: 12_000, output: 800, cached: 4000 },
      { type: "phase.moved", phase, from: "in_progress", to: "failed", reason: "validation failed" },
    );
  }
  return events.slice(0, EVENTS);
}

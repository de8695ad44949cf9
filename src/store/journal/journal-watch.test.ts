import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan } from "../../../test/support/session.ts";
import { Directory } from "../../disk/contained.ts";
import { judgeForeign } from "../../session/decide/foreign-event.ts";
import type { SessionEvent } from "../../session/events.ts";
import { Journal } from "./journal.ts";
import { JOURNAL_FILE } from "./journal-file.ts";
import { JournalWatch } from "./journal-watch.ts";

let path: string;
let directory: Directory;
let warnings: string[];
beforeEach(() => {
  path = join(realpathSync(mkdtempSync(join(tmpdir(), "maestro-watch-"))), "state");
  mkdirSync(path);
  directory = Directory.openRoot(path);
  warnings = [];
});
afterEach(() => {
  directory.close();
  rmSync(dirname(path), { recursive: true });
});

const now = new Date("2026-02-14T12:00:00Z");
const file = () => join(path, JOURNAL_FILE);
const location = () => ({ root: dirname(path), components: [], shown: "", projectRoot: path });
const note = (text: string): SessionEvent => ({ type: "session.noted", text });
const completed: SessionEvent = { type: "phase.moved", phase: "1", from: "pending", to: "completed" };
const kept = () => readdirSync(path).filter((name) => name.startsWith(`${JOURNAL_FILE}.quarantined-`));

/** The journal as an engine and as another process have it open. */
function watched(): { engine: Journal; other: Journal } {
  const plan = frozenPlan([frozenPhase("1"), frozenPhase("2")]);
  const engine = new Journal();
  const created: SessionEvent = { type: "session.created", session_id: "a", task: null, execution_mode: null, plan };
  engine.append(directory, [created], now);
  const judge = (...[session, change]: Parameters<JournalWatch["judge"]>) =>
    judgeForeign(session, change, { stateDir: ".gemini" });
  const warn = (message: string) => void warnings.push(message);
  engine.watch(directory, new JournalWatch({ judge, now: () => now, warn }));
  const other = new Journal();
  other.refresh(directory);
  return { engine, other };
}

const textsIn = (journal: Journal) => journal.session?.notes.map(({ text }) => text);
const read = () => {
  const journal = new Journal();
  expect(journal.refresh(directory)).toEqual({ tail: { kind: "none" }, exists: true });
  return journal;
};

describe("the journal of a running engine", () => {
  test("accepts the allowed changes of another process as they are", () => {
    const { engine, other } = watched();
    other.append(directory, [note("one")], now);
    other.append(directory, [note("two")], now);
    expect(engine.refresh(directory)).not.toHaveProperty("refused");
    expect([textsIn(engine), kept(), warnings]).toEqual([["one", "two"], [], []]);
  });

  test("is current until any process appends to it, rewrites it or replaces it", async () => {
    const { engine, other } = watched();
    const isCurrent = () => [engine, other].map((journal) => journal.isCurrent(location()));
    // The file has been read, not written, since the engine watches it.
    expect(isCurrent()).toEqual([false, false]);
    engine.append(directory, [note("ours")], now);
    expect(isCurrent()).toEqual([true, false]);
    other.refresh(directory);
    other.append(directory, [note("theirs")], now);
    expect(isCurrent()).toEqual([false, false]);
    engine.refresh(directory);
    engine.append(directory, [note("ours again")], now);
    expect(isCurrent()).toEqual([true, false]);
    const bytes = readFileSync(file());
    // The kernel notes the time of a change in steps of some milliseconds.
    await setTimeout(50);
    writeFileSync(file(), bytes);
    expect(isCurrent()).toEqual([false, false]);
    engine.refresh(directory);
    expect(isCurrent()).toEqual([true, false]);
    writeFileSync(`${file()}.copy`, bytes);
    renameSync(`${file()}.copy`, file());
    expect(isCurrent()).toEqual([false, false]);
    rmSync(file());
    expect(isCurrent()).toEqual([false, false]);
  });

  test("accepts changes up to the first rejected one, and the later ones once that is in quarantine", () => {
    const { engine, other } = watched();
    other.append(directory, [note("before")], now);
    const at = readFileSync(file()).length;
    other.append(directory, [completed], now);
    other.append(directory, [note("behind")], now);
    const tail = readFileSync(file()).subarray(at);
    expect(engine.refresh(directory)).toMatchObject({ refused: true });
    expect([textsIn(engine), engine.session?.phases[0]?.status]).toEqual([["before"], "pending"]);
    engine.quarantine(directory, now);
    expect(textsIn(engine)).toEqual(["before", "behind"]);
    expect(textsIn(read())).toEqual(["before", "behind"]);
    expect(read().session?.phases[0]?.status).toBe("pending");
    expect(kept().map((name) => readFileSync(join(path, name)))).toEqual([tail]);
    expect(warnings).toEqual([expect.stringMatching(/rejected: record 3: .*1 allowed change was recorded again/)]);
    engine.append(directory, [note("ours")], now);
    expect(textsIn(read())).toEqual(["before", "behind", "ours"]);
  });

  test("does not warn about a record that is still being written", () => {
    const { engine } = watched();
    appendFileSync(file(), '{"v":1,"seq":2,"ts":"2026');
    expect(engine.refresh(directory)).toMatchObject({ tail: { kind: "torn" } });
    expect(warnings).toEqual([]);
  });

  test("keeps the engine's records when another process writes at the same moment", () => {
    const { engine } = watched();
    engine.refresh(directory);
    appendFileSync(file(), "not asked for\n");
    engine.append(directory, [note("ours")], now);
    appendFileSync(file(), "again\n");
    expect(engine.refresh(directory)).toMatchObject({ refused: true });
    engine.quarantine(directory, now);
    engine.append(directory, [note("more")], now);
    expect(textsIn(read())).toEqual(["ours", "more"]);
    expect(
      kept()
        .map((name) => readFileSync(join(path, name), "utf8"))
        .sort(),
    ).toEqual(["again\n", "not asked for\n"]);
  });

  test("is not written to when the file was replaced between reading and writing", () => {
    const { engine } = watched();
    engine.refresh(directory);
    copyFileSync(file(), `${file()}.copy`);
    renameSync(`${file()}.copy`, file());
    const before = readFileSync(file());
    expect(() => engine.append(directory, [note("ours")], now)).toThrow(/replaced or rewritten/);
    expect(readFileSync(file())).toEqual(before);
    for (const _ of [1, 2]) expect(() => engine.refresh(directory)).toThrow(/replaced or rewritten/);
  });

  test("is never again what the engine trusts, once another file with the same content has replaced it", () => {
    const { engine } = watched();
    engine.refresh(directory);
    copyFileSync(file(), `${file()}.copy`);
    renameSync(`${file()}.copy`, file());
    for (const _ of [1, 2]) {
      expect(() => engine.refresh(directory)).toThrow(/replaced or rewritten/);
      expect(engine.isCurrent(location())).toBe(false);
    }
  });
});

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan } from "../../../test/support/session.ts";
import { Directory } from "../../disk/contained.ts";
import { crc32, hex } from "../../disk/crc32.ts";
import type { SessionEvent } from "../../session/events.ts";
import { Journal } from "./journal.ts";
import { JOURNAL_FILE } from "./journal-file.ts";

let path: string;
let directory: Directory;
beforeEach(() => {
  path = realpathSync(mkdtempSync(join(tmpdir(), "maestro-journal-")));
  directory = Directory.openRoot(path);
});
afterEach(() => {
  directory.close();
  rmSync(path, { recursive: true });
});

const file = () => join(path, JOURNAL_FILE);
const created = (session_id: string): SessionEvent => ({
  type: "session.created",
  session_id,
  task: null,
  execution_mode: null,
  plan: frozenPlan([frozenPhase("1")]),
});
const note = (text: string): SessionEvent => ({ type: "session.noted", text });
const write = (id: string, notes: string[]) => {
  const journal = new Journal();
  journal.append(directory, [created(id), ...notes.map(note)], new Date(0));
  return journal;
};
const notesOf = (journal: Journal) => journal.session?.notes.map(({ text }) => text);

describe("the journal", () => {
  test("reads another process's records without rereading its own", () => {
    const mine = write("a", ["one"]);
    const theirs = new Journal();
    theirs.refresh(directory);
    theirs.append(directory, [note("two")], new Date(0));
    const before = mine.session;
    mine.refresh(directory);
    expect(notesOf(mine)).toEqual(["one", "two"]);
    expect(mine.session).toBe(before);
  });

  test("never lets time run backwards, whatever the clock does (F8)", () => {
    const journal = new Journal();
    journal.append(directory, [created("a")], new Date("2026-02-14T12:00:00Z"));
    journal.append(directory, [note("x")], new Date("1970-01-01T00:00:00Z"));
    expect(journal.session?.updated).toBe("2026-02-14T12:00:00.000Z");
  });

  test("rereads a journal that was replaced, even under the same inode number", () => {
    const journal = write("a", ["one"]);
    const first = readFileSync(file());
    rmSync(file());
    write("b", ["x", "y", "z"]);
    const second = readFileSync(file());
    writeFileSync(file(), first);
    journal.refresh(directory);
    // Overwritten in place: the inode stays, but the content belongs to another session.
    writeFileSync(file(), second);
    journal.refresh(directory);
    expect([journal.session?.session_id, notesOf(journal)]).toEqual(["b", ["x", "y", "z"]]);
  });

  test("chains checksums across processes, so that the last one covers the whole file", () => {
    const [mine, theirs] = [write("a", ["one"]), new Journal()];
    for (const text of ["two", "three", "four"]) {
      theirs.refresh(directory);
      theirs.append(directory, [note(`${text} (theirs)`), note(text)], new Date(0));
      mine.refresh(directory);
      mine.append(directory, [note(`${text} (mine)`)], new Date(0));
    }
    const bytes = readFileSync(file());
    const above = bytes.subarray(0, bytes.lastIndexOf(',"crc"'));
    expect(String(bytes).endsWith(`,"crc":"${hex(crc32(above))}"}\n`)).toBe(true);
    const reader = new Journal();
    expect(reader.refresh(directory)).toEqual({ tail: { kind: "none" }, exists: true });
    expect(reader.session).toEqual(mine.session);
  });

  test("shows the session as it was after any of its records", () => {
    const journal = write("a", ["one", "two", "three"]);
    const seen = [1, 2, 4].map((seq) => journal.sessionAt(directory, seq)?.notes.map(({ text }) => text));
    expect(seen).toEqual([[], ["one"], ["one", "two", "three"]]);
  });

  test("starts a new line after a record that lost its newline", () => {
    write("a", ["one"]);
    writeFileSync(file(), readFileSync(file(), "utf8").trimEnd());
    const journal = new Journal();
    journal.refresh(directory);
    journal.append(directory, [note("two")], new Date(0));
    const again = new Journal();
    expect(again.refresh(directory)).toMatchObject({ tail: { kind: "none" } });
    expect(notesOf(again)).toEqual(["one", "two"]);
    // The journal that appended the record still counts lines correctly.
    writeFileSync(file(), `${readFileSync(file(), "utf8")}garbage\n`);
    expect(journal.refresh(directory)).toEqual({ tail: { kind: "garbage", line: 4 }, exists: true });
  });
});

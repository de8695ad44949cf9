import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inState, locateState } from "../store/location.ts";
import { CHECKPOINT_FILE, type Checkpoint, journalMark, renderCheckpoint, validCheckpoint } from "./checkpoint.ts";

let project: string;
const path = (name: string) => join(project, ".gemini/state", name);
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "maestro-checkpoint-"));
  mkdirSync(path(""), { recursive: true });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const checkpoint: Checkpoint = {
  journal: "1 2 3",
  status: "in_progress",
  facts: "facts",
  waiting: "a --> b\n<!-- c -->\nd",
  brief: 'quotes " and \\ and é\n--> end',
};
const read = (journal: string) =>
  inState(locateState(project, ".gemini"), ["state"], (state) => validCheckpoint(state, journal));
const mark = () => inState(locateState(project, ".gemini"), ["state"], journalMark);

describe("the checkpoint", () => {
  test("is read as it was written, whatever is in it", () => {
    writeFileSync(path(CHECKPOINT_FILE), renderCheckpoint(checkpoint, ["# Checkpoint", "text --> here"]));
    expect(read("1 2 3")).toEqual(checkpoint);
  });

  test("is a document for people behind one comment", () => {
    const [first, ...rest] = renderCheckpoint(checkpoint, ["# Checkpoint", "text"]).split("\n");
    expect(first).toMatch(/^<!-- \{[^>]*\} -->$/);
    expect(rest).toEqual(["# Checkpoint", "text", ""]);
  });

  test("holds only for the journal that it speaks of", () => {
    writeFileSync(path(CHECKPOINT_FILE), renderCheckpoint(checkpoint, []));
    expect(read("1 2 4")).toBeUndefined();
  });

  test.each(["", "<!-- ", "<!-- null -->\n", '<!-- {"journal":"1 2 3"', "# something else\n", "\0\0\0"])(
    "is nothing when it is %j",
    (text) => {
      writeFileSync(path(CHECKPOINT_FILE), text);
      expect(read("1 2 3")).toBeUndefined();
    },
  );

  test("has texts in it, even when somebody put something else there", () => {
    writeFileSync(path(CHECKPOINT_FILE), '<!-- {"journal":"1 2 3","brief":{"x":1}} -->\n');
    expect(read("1 2 3")).toEqual({ journal: "1 2 3", status: "", facts: "", waiting: "", brief: "" });
  });

  test("is none when it is no file, or not there", () => {
    expect(read("1 2 3")).toBeUndefined();
    mkdirSync(path(CHECKPOINT_FILE));
    expect(read("1 2 3")).toBeUndefined();
  });
});

describe("the mark of a journal", () => {
  test("changes with every change of it, and is none without one", () => {
    expect(mark()).toBeUndefined();
    writeFileSync(path("progress.jsonl"), "one\n");
    const first = mark();
    expect(mark()).toBe(first);
    writeFileSync(path("progress.jsonl"), "two\n", { flag: "a" });
    expect(mark()).not.toBe(first);
  });
});

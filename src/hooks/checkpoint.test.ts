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
  turn: "activate it",
  open: true,
};
const read = (journal: string) =>
  inState(locateState(project, ".gemini"), ["state"], (state) => validCheckpoint(state, journal));
const mark = () => inState(locateState(project, ".gemini"), ["state"], journalMark);

describe("the checkpoint", () => {
  test("is read back as written, whatever it contains", () => {
    writeFileSync(path(CHECKPOINT_FILE), renderCheckpoint(checkpoint, ["# Checkpoint", "text --> here"]));
    expect(read("1 2 3")).toEqual(checkpoint);
  });

  test("is a readable document after one comment", () => {
    const [first, ...rest] = renderCheckpoint(checkpoint, ["# Checkpoint", "text"]).split("\n");
    expect(first).toMatch(/^<!-- \{[^>]*\} -->$/);
    expect(rest).toEqual(["# Checkpoint", "text", ""]);
  });

  test("is valid only for the journal state that it describes", () => {
    writeFileSync(path(CHECKPOINT_FILE), renderCheckpoint(checkpoint, []));
    expect(read("1 2 4")).toBeUndefined();
  });

  test.each(["", "<!-- ", "<!-- null -->\n", '<!-- {"journal":"1 2 3"', "# something else\n", "\0\0\0"])(
    "is ignored when the file contains %j",
    (text) => {
      writeFileSync(path(CHECKPOINT_FILE), text);
      expect(read("1 2 3")).toBeUndefined();
    },
  );

  test("reads fields of another type as empty texts", () => {
    writeFileSync(path(CHECKPOINT_FILE), '<!-- {"journal":"1 2 3","brief":{"x":1}} -->\n');
    expect(read("1 2 3")).toEqual({
      ...{ journal: "1 2 3", status: "", facts: "", waiting: "", brief: "", turn: "", open: false },
    });
  });

  test("is ignored when it is not a file or does not exist", () => {
    expect(read("1 2 3")).toBeUndefined();
    mkdirSync(path(CHECKPOINT_FILE));
    expect(read("1 2 3")).toBeUndefined();
  });
});

describe("the mark of a journal", () => {
  test("changes with every change of the journal, and is undefined without a journal", () => {
    expect(mark()).toBeUndefined();
    writeFileSync(path("progress.jsonl"), "one\n");
    const first = mark();
    expect(mark()).toBe(first);
    writeFileSync(path("progress.jsonl"), "two\n", { flag: "a" });
    expect(mark()).not.toBe(first);
  });
});

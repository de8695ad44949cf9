import { describe, expect, test } from "vitest";
import { type DelegationNote, noteText, readNote } from "./before-file.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const file = { inode: 9_007_199_254_740_993n, size: 3n, mtime: 1_700_000_000_123_456_789n, mode: 33_188n };

describe("what the start of a delegation leaves for its end", () => {
  test.each<[string, DelegationNote]>([
    ["a commit", { transcripts: "/home/me/chats/x", before: { kind: "commit", commit } }],
    [
      "a listing",
      {
        transcripts: null,
        before: {
          kind: "listing",
          listing: { files: new Map([["a\n__proto__", file]]), complete: true, unreadable: ["b"] },
        },
      },
    ],
    [
      "a status",
      {
        transcripts: null,
        before: { kind: "status", status: { head: commit, files: { "a.ts": { kind: "modified", stamp: "1 2 3 4" } } } },
      },
    ],
    ["the reason why it is unknown", { transcripts: null, before: { kind: "unknown", why: "too late" } }],
  ])("is read back as written: %s", (_, note) => {
    expect(readNote(noteText(note))).toEqual(note);
  });

  test.each([undefined, "", "{", "[]", '{"transcripts":7}', '{"transcripts":null,"commit":"--all"}'])(
    "says nothing when the file is %j",
    (text) => {
      expect(readNote(text)).toMatchObject({ transcripts: null, before: { kind: "unknown" } });
    },
  );
});

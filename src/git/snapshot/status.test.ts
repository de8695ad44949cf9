import { describe, expect, test } from "vitest";
import { type StatusEntry, type StatusLook, statusChanges } from "./status.ts";

const look = (files: Record<string, StatusEntry>): StatusLook => ({ head: null, files });
const entry = (kind: StatusEntry["kind"], stamp: string): StatusEntry => ({ kind, stamp });

describe("the changes between two looks", () => {
  test.each<[string, StatusEntry | undefined, StatusEntry | undefined, string | undefined]>([
    ["new", undefined, entry("created", "1"), "created"],
    ["edited", undefined, entry("modified", "1"), "modified"],
    ["removed", undefined, entry("deleted", ""), "deleted"],
    ["edited before and untouched since", entry("modified", "1"), entry("modified", "1"), undefined],
    ["edited before and again", entry("modified", "1"), entry("modified", "2"), "modified"],
    ["new before and removed", entry("created", "1"), undefined, "deleted"],
    ["removed before and restored", entry("deleted", ""), undefined, "created"],
    ["edited before and restored", entry("modified", "1"), undefined, "modified"],
    ["removed before and written again", entry("deleted", ""), entry("modified", "1"), "created"],
    ["edited before and removed", entry("modified", "1"), entry("deleted", ""), "deleted"],
  ])("tell what happened to a file that was %s", (_, before, after, kind) => {
    const changes = statusChanges(
      look(before === undefined ? {} : { a: before }),
      look(after === undefined ? {} : { a: after }),
    );
    expect(changes).toEqual(kind === undefined ? [] : [{ path: "a", kind }]);
  });
});

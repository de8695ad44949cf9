import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { frozenPhase, sessionAfter } from "../../../test/support/session.ts";
import type { FileHashes } from "../../session/events.ts";
import { locateState } from "../location.ts";
import { conflictsOf } from "../operations.ts";
import { hashFiles, hashPlan } from "./project-files.ts";

const MiB = 1024 * 1024;
let project: string;
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "maestro-files-")));
});
afterEach(() => rmSync(project, { recursive: true }));

const write = (path: string, text: string) => writeFileSync(join(project, path), text);
/** A sparse file of `bytes`, which takes no disk space. */
const sparse = (path: string, bytes: number) => {
  write(path, "");
  truncateSync(join(project, path), bytes);
};
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

describe("the content of files", () => {
  test("is a hash, null for a missing file, and unknown for anything but a regular file", () => {
    write("a", "text");
    mkdirSync(join(project, "directory"));
    symlinkSync("/etc/passwd", join(project, "out"));
    const paths = ["a", "a", "gone", "a/below", "directory", "out", "../up", "src/*.ts", "__proto__"];
    expect(Object.entries(hashFiles(project, paths))).toEqual([
      ["a", sha256("text")],
      ["gone", null],
      ["a/below", null],
      ["directory", "unknown"],
      ["out", "unknown"],
      ["../up", "unknown"],
      ["__proto__", null],
    ]);
  });

  test("is unknown beyond 64 MiB", () => {
    sparse("large", 64 * MiB);
    sparse("larger", 64 * MiB + 1);
    expect(hashFiles(project, ["larger", "large"])).toEqual({
      larger: "unknown",
      large: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(hashPlan(project, "larger")).toBe("unknown");
  });

  test("is unknown beyond 256 MiB per call; a missing file is still null", () => {
    const names = ["1", "2", "3", "4", "5", "6"];
    for (const name of names) sparse(name, 60 * MiB);
    write("small", "text");
    const hashes = hashFiles(project, [...names, "gone", "small"]);
    expect(names.map((name) => hashes[name] === "unknown")).toEqual([false, false, false, false, true, true]);
    expect([hashes.gone, hashes.small]).toEqual([null, sha256("text")]);
    expect(hashFiles(project, ["6"])["6"]).toBe(hashes["1"]);
  });
});

describe("unknown content is never reported as a change (L169)", () => {
  const plan = ".gemini/plans/2026-02-14-task-api-impl-plan.md";
  const files = ["before", "after", "changed", "gone"];
  /** The plan's content is unknown; `before` was unknown when recorded, and `after` is unknown now. */
  const arrange = () => {
    mkdirSync(join(project, plan), { recursive: true });
    for (const file of ["before", "changed"]) write(file, "now");
    mkdirSync(join(project, "after"));
    return { before: "unknown", after: "1", changed: "2", gone: "3" } satisfies FileHashes;
  };
  const conflicts = (session: Parameters<typeof conflictsOf>[1]) =>
    conflictsOf(locateState(project, ".gemini"), session);

  test("in the files of a finished phase or in the plan", () => {
    const hashes = arrange();
    const lists = { created: files, modified: [], deleted: [] };
    const session = sessionAfter([frozenPhase("1")], { type: "phase.files_added", phase: "1", ...lists, hashes });
    expect(conflicts(session)).toEqual([
      { kind: "modified_externally", phase: "1", file: "changed" },
      { kind: "modified_externally", phase: "1", file: "gone" },
    ]);
  });

  test("in the files of an unfinished phase", () => {
    const hashes = arrange();
    const begun = { type: "phase.moved", phase: "1", from: "pending", to: "in_progress", hashes } as const;
    expect(conflicts(sessionAfter([frozenPhase("1")], begun))).toEqual([
      { kind: "partially_modified", phase: "1", file: "changed" },
      { kind: "partially_modified", phase: "1", file: "gone" },
    ]);
  });
});

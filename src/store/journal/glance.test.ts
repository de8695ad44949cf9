import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan, moved } from "../../../test/support/session.ts";
import type { SessionEvent } from "../../session/events.ts";
import { locateState } from "../location.ts";
import { SessionStore } from "../session-store.ts";
import { glance } from "./glance.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "maestro-glance-"));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const created: SessionEvent = {
  type: "session.created",
  session_id: "2026-02-14-task-api",
  task: null,
  execution_mode: null,
  plan: frozenPlan([frozenPhase("1"), frozenPhase("2", { blocked_by: ["1"] })]),
};
const location = () => locateState(project, ".gemini");
const journal = () => join(project, ".gemini/state/progress.jsonl");

function record(...events: SessionEvent[]): SessionStore {
  const store = new SessionStore(location(), { now: () => new Date(), warn: () => undefined });
  store.update(() => ({ events, result: undefined }));
  store.close();
  return store;
}

describe("a glance at the session", () => {
  test("returns nothing without a state directory or without a journal", () => {
    expect(glance(location())).toBeUndefined();
    mkdirSync(join(project, ".gemini/state"), { recursive: true });
    expect(glance(location())).toBeUndefined();
  });

  test("returns the same session as the store", () => {
    const store = record(created, moved("1", "pending", "in_progress"));
    expect(glance(location())).toEqual(store.session);
    record(moved("1", "in_progress", "completed"));
    expect(glance(location())?.phases.map(({ status }) => status)).toEqual(["completed", "pending"]);
  });

  test("ignores a truncated last line, and repairs nothing", () => {
    record(created);
    appendFileSync(journal(), '{"v":1,"seq":2,"ts":"2026');
    const { size, mtimeMs } = statSync(journal());
    expect(glance(location())?.seq).toBe(1);
    expect(statSync(journal())).toMatchObject({ size, mtimeMs });
  });

  test("returns nothing for a session that is being archived", () => {
    record(created);
    const archiving: SessionEvent = {
      type: "archive.started",
      status: "completed",
      session_to: ".gemini/state/archive/a.md",
      journal_to: ".gemini/state/archive/a.jsonl",
      moves: [],
    };
    const store = new SessionStore(location(), { now: () => new Date(), warn: () => undefined });
    store.update(() => ({ events: [archiving], result: undefined }));
    expect(glance(location())).toBeUndefined();
  });

  test("names the faulty line of an unreadable journal", () => {
    record(created);
    writeFileSync(journal(), "garbage\n{}\n");
    expect(() => glance(location())).toThrow(/line 1/i);
  });
});

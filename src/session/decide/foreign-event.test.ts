import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import type { EventOf, SessionEvent } from "../events.ts";
import { decideAbort } from "./attempt.ts";
import { judgeForeign } from "./foreign-event.ts";

const plan = [
  frozenPhase("1", { files_modified: ["src/own.ts"] }),
  frozenPhase("2", { files_modified: ["src/two.ts"] }),
  frozenPhase("3", { files_created: ["src/three.ts"], blocked_by: ["1"] }),
];
/** Phase 1 is in progress, phase 2 has failed, phase 3 is pending. */
const session = sessionAfter(
  plan,
  moved("1", "pending", "in_progress"),
  moved("2", "pending", "in_progress"),
  moved("2", "in_progress", "failed"),
);
const judge = (...change: SessionEvent[]) => judgeForeign(session, change, { stateDir: ".gemini" });
const decided = (phase: string, from: string, to: string, over: Partial<EventOf<"phase.moved">> = {}) =>
  ({ type: "phase.moved", phase, from, to, user_decision: true, ...over }) as EventOf<"phase.moved">;
const scope = (over: Partial<EventOf<"phase.scope_requested">>): SessionEvent => ({
  type: "phase.scope_requested",
  phase: "1",
  agent: "coder",
  paths: ["docs/new.md"],
  reason: "why",
  granted: true,
  owner: null,
  ...over,
});
const aborted = (over: Partial<EventOf<"session.status_set">> = {}): SessionEvent => ({
  type: "session.status_set",
  status: "failed",
  summary: "Aborted by the user",
  aborted: true,
  ...over,
});

describe("while an engine runs, another process", () => {
  test.each<[string, SessionEvent[]]>([
    ["nothing", []],
    ["a note", [{ type: "session.noted", text: "x" }]],
    [
      "notes",
      [
        { type: "session.noted", text: "x" },
        { type: "session.noted", text: "y", phase: "3" },
      ],
    ],
    ["the retry of a failed phase", [decided("2", "failed", "in_progress", { hashes: { "src/two.ts": null } })]],
    [
      "a retry with changes",
      [
        decided("2", "failed", "in_progress", {
          guidance: "x",
          agent: "tester",
          model: "m",
          timeout_ms: 1000,
          criteria: ["y"],
        }),
      ],
    ],
    ["a skip of a pending phase", [decided("3", "pending", "skipped")]],
    ["a skip of a phase in progress", [decided("1", "in_progress", "skipped", { reason: "enough" })]],
    ["a grant", [scope({})]],
    ["a refusal", [scope({ granted: false, owner: "3", paths: ["src/three.ts"] })]],
  ])("may record %s", (_, change) => expect(judge(...change)).toEqual({ events: change }));

  test("may give a retry only to an agent that the engine knows", () => {
    const tiers = new Map([["tester", "full"] as const, ["critic", "read-only"] as const]);
    const to = (agent: string) =>
      judgeForeign(session, [decided("2", "failed", "in_progress", { agent })], { stateDir: ".gemini", tiers });
    expect(to("tester")).toHaveProperty("events");
    expect(to("coder")).toEqual({ refused: "coder is not an agent" });
    expect(to("critic")).toEqual({ refused: "critic writes no files, and phase 2 owns some" });
  });

  test.each<[string, SessionEvent[], RegExp]>([
    ["a completion", [decided("1", "in_progress", "completed")], /by the engine alone/],
    ["a skip with changes", [decided("3", "pending", "skipped", { agent: "coder" })], /is skipped, not retried/],
    [
      "a retry by an agent that cannot do the phase",
      [decided("2", "failed", "in_progress", { agent: "debugger" })],
      /debugger writes no files, and phase 2 owns some/,
    ],
    ["a move without the user's decision", [moved("3", "pending", "skipped")], /by the engine alone/],
    ["the start of a phase", [decided("3", "pending", "in_progress")], /by the engine alone/],
    ["a failure without an abort", [decided("1", "in_progress", "failed")], /by the engine alone/],
    ["one phase as aborted", [decided("2", "failed", "aborted")], /by the engine alone/],
    ["a skip from a wrong status", [decided("1", "pending", "skipped")], /is in_progress, not pending/],
    ["a skip of a phase that does not exist", [decided("9", "pending", "skipped")], /no phase "9"/],
    [
      "hashes of other files",
      [decided("2", "failed", "in_progress", { hashes: { "src/own.ts": null } })],
      /does not own/,
    ],
    [
      "two decisions in one change",
      [decided("3", "pending", "skipped"), decided("2", "failed", "skipped")],
      /one change/,
    ],
    ["the files of another phase", [scope({ paths: ["src/three.ts"] })], /not granted/],
    ["the state directory", [scope({ paths: [".gemini/state/"] })], /not granted/],
    ["files for another agent", [scope({ agent: "tester" })], /does not belong to tester/],
    ["files for a pending phase", [scope({ phase: "3" })], /cannot be granted files/],
    ["paths that are not in normal form", [scope({ paths: ["docs/./new.md"] })], /normal form/],
    ["the end of the session", [aborted({ status: "completed" })], /by the engine alone/],
    ["an abort that completes a phase", [decided("1", "in_progress", "completed"), aborted()], /one change/],
    ["a validation", [{ type: "phase.validated", phase: "1", result: "pass", detail: "" }], /by the engine alone/],
  ])("may not record %s", (_, change, reason) => {
    expect(judge(...change)).toEqual({ refused: expect.stringMatching(reason) });
  });

  test("may abort, which ends every running and failed phase even if its change names only some", () => {
    const whole = decideAbort(session, "enough", new Date(0));
    expect(judge(...whole)).toEqual({ events: whole });
    const partial = [decided("1", "in_progress", "failed"), decided("1", "failed", "aborted"), aborted()];
    expect(judge(...partial)).toEqual({
      events: [...partial.slice(0, 2), decided("2", "failed", "aborted"), aborted()],
    });
    expect(judge(aborted())).toEqual({
      events: [...partial.slice(0, 2), decided("2", "failed", "aborted"), aborted()],
    });
  });

  test("may not create a session", () => {
    expect(judgeForeign(undefined, [aborted()], { stateDir: ".gemini" })).toEqual({ refused: expect.any(String) });
  });
});

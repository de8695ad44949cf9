import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inState, locateState } from "../location.ts";
import {
  type Conversation,
  delegationsElsewhere,
  forgetDelegations,
  noteDelegation,
  runningDelegations,
} from "./delegations.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "maestro-delegations-"));
  mkdirSync(join(project, ".gemini/state"), { recursive: true });
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const location = () => locateState(project, ".gemini");
const at = "2026-02-14T22:58:00.000Z";
const inConversation = (conversation: string) => ({ conversation, clock: () => new Date(at) }) as Conversation;
const here = inConversation("one");
const start = (phase: string | null, agent = "coder", ours = true) =>
  noteDelegation(location(), here, { did: "start", agent, phase, ours });
const end = (phase: string | null, agent = "coder", ours = true) =>
  noteDelegation(location(), here, { did: "end", agent, phase, ours });
const deny = () => noteDelegation(location(), here, { did: "deny" });
const running = (where = here) => runningDelegations(location(), where);
const none = { ours: [], others: 0, denied: 0 };

describe("the delegations of a conversation", () => {
  test("are empty before the first start", () => {
    expect(running()).toEqual(none);
  });

  test("run from their start to their end, matched by agent and phase", () => {
    start("1");
    start("2");
    start(null, "code-reviewer");
    end("1");
    expect(running().ours).toEqual([
      { agent: "coder", phase: "2", at, by: process.ppid },
      { agent: "code-reviewer", phase: null, at, by: process.ppid },
    ]);
    end("2", "tester");
    expect(running().ours).toHaveLength(2);
  });

  test("of the same agent outside a plan end one at a time", () => {
    start(null);
    start(null);
    end(null);
    expect(running().ours).toEqual([{ agent: "coder", phase: null, at, by: process.ppid }]);
  });

  test("count delegations to agents of other extensions, and never below zero", () => {
    end(null, "generalist", false);
    expect(running()).toEqual(none);
    start(null, "generalist", false);
    expect(running().others).toBe(1);
    expect(running().ours).toEqual([]);
  });

  test("count the reports that were sent back, and reset the count when the last delegation ends", () => {
    start("1");
    start("2");
    deny();
    deny();
    expect(running().denied).toBe(2);
    end("1");
    expect(running().denied).toBe(1);
    end("2");
    expect(running()).toEqual(none);
    start("3");
    expect(running().denied).toBe(0);
  });

  test("are separate for each conversation, and are deleted separately", () => {
    start("1");
    noteDelegation(location(), inConversation("two"), { did: "start", agent: "tester", phase: "2", ours: true });
    inState(location(), ["state"], (state) => forgetDelegations(state, here));
    expect(running()).toEqual(none);
    expect(running(inConversation("two")).ours).toHaveLength(1);
    inState(location(), ["state"], (state) => forgetDelegations(state, here));
    expect(readdirSync(join(project, ".gemini/state/delegations"))).toEqual(["two.jsonl"]);
  });

  test("are read past lines that Maestro did not write", () => {
    start("1");
    writeFileSync(join(project, ".gemini/state/delegations/one.jsonl"), 'null\n7\n[]\n"x"\n{"did":\n\n', { flag: "a" });
    start("2");
    expect(running().ours.map(({ phase }) => phase)).toEqual(["1", "2"]);
  });

  test("are visible to another conversation while their process lives, up to a time limit", () => {
    start("1");
    const later = (minutes: number) => ({
      conversation: "two",
      clock: () => new Date(Date.parse(at) + minutes * 60_000),
    });
    expect(delegationsElsewhere(location(), later(5)).map(({ phase }) => phase)).toEqual(["1"]);
    expect(delegationsElsewhere(location(), later(180))).toEqual([]);
    expect(delegationsElsewhere(location(), here)).toEqual([]);
  });
});

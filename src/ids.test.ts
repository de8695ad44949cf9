import { describe, expect, test } from "vitest";
import { attemptId, isPhaseId, isSessionId, readAttemptId, workLabel } from "./ids.ts";

describe("the id of an attempt", () => {
  test.each([
    ["coder", "3", 1],
    ["tech-lead", "a.b-2", 12],
  ])("is made of agent %s, phase %s and number %d, and read again", (agent, phase, attempt) => {
    const id = attemptId(agent, phase, attempt);
    expect(id).toBe(`${agent}.p${phase}-${attempt}`);
    expect(id.startsWith(workLabel(agent, phase))).toBe(true);
    expect(readAttemptId(id)).toEqual({ agent, phase, attempt });
  });

  test.each(["coder", "coder.notes", "coder.p3", "coder.p3-x"])(
    "is not read from %s, which names only an agent",
    (name) => {
      expect(readAttemptId(name)).toEqual({ agent: "coder" });
    },
  );
});

describe("ids that name files", () => {
  test.each(["..", "a/b", "-x", "", "a b"])("of a phase are never %j", (text) => {
    expect(isPhaseId(text)).toBe(false);
  });

  test.each(["..", "a/b", "a\\b", "-x", ""])("of a session are never %j", (text) => {
    expect(isSessionId(text)).toBe(false);
  });
});

import { describe, expect, test } from "vitest";
import { frozenPhase, sessionAfter } from "../../../test/support/session.ts";
import { agentTiers } from "../../agents/tiers.ts";
import { MaestroError } from "../../errors.ts";
import { findPhase, type SessionPhase } from "../session.ts";
import { otherAgent } from "./other-agent.ts";

const agents = [...agentTiers].map(([name, tier]) => ({ name, tier }));
const phase = (over: Parameters<typeof frozenPhase>[1] = {}) =>
  findPhase(sessionAfter([frozenPhase("1", over)]), "1") as SessionPhase;

function refusal(given: string, over: Parameters<typeof frozenPhase>[1] = {}, disabled: string[] = []): MaestroError {
  try {
    otherAgent(phase(over), given, { agents, disabled });
  } catch (error) {
    if (error instanceof MaestroError) return error;
  }
  throw new Error(`${given} was accepted`);
}

describe("another agent for a phase (L168)", () => {
  test.each([
    ["tester", { files_created: ["a.ts"] }, "tester"],
    ["Technical_Writer", { files_modified: ["a.md"] }, "technical-writer"],
    ["architect", {}, "architect"],
  ])("%s is accepted under its canonical name when it can do the phase", (given, over, name) => {
    expect(otherAgent(phase(over), given, { agents, disabled: [] })).toBe(name);
  });

  test.each(["files_created", "files_modified", "files_deleted"])(
    "that writes no files is refused when the phase has %s",
    (field) => {
      for (const name of [
        "architect",
        "api-designer",
        "code-reviewer",
        "debugger",
        "performance-engineer",
        "security-engineer",
      ]) {
        const { code, message, hint } = refusal(name, { [field]: ["a.ts"] });
        expect([code, message]).toEqual(["usage", expect.stringContaining(`to ${name}: it is read-`)]);
        expect(hint).toBe(
          "Agents that can take it: refactor, technical-writer, coder, data-engineer, devops-engineer, tester.",
        );
      }
    },
  );

  test("is refused when it is disabled or unknown, with the agents that can take the phase", () => {
    expect(refusal("coder", {}, ["coder", "tester"])).toMatchObject({
      message: "Cannot give phase 1 to coder: it is disabled by MAESTRO_DISABLED_AGENTS",
      hint: expect.not.stringMatching(/coder|tester/),
    });
    expect(refusal("codr").hint).toMatch(/^Did you mean coder\? Agents that can take it: architect, /);
    expect(refusal("x".repeat(500)).message.length).toBeLessThan(150);
  });
});

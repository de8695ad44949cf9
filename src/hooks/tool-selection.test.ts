import { describe, expect, test } from "vitest";
import { agentTiers, tierTools } from "../agents/tiers.ts";
import type { Surroundings } from "./surroundings.ts";
import { selectTools } from "./tool-selection.ts";

const here: Surroundings = {
  projectRoot: "/p",
  programRoot: "/m",
  extensionRoot: "/x",
  env: {},
  attempt: null,
  conversation: "c",
  clock: () => new Date(0),
  deadline: 0,
  log: () => undefined,
};
const proceed = { continue: true };
const user = (content: unknown) => ({ role: "user", content });
const prompt = (agent: string) => `Agent: ${agent}\nPhase: 1\nSession: s\n\nPROJECT ROOT: /p\nAll file paths ...\n`;
const memory = `\n<loaded_context>\n<extension_context>\nAgent: tester\n${"x\n".repeat(2000)}</extension_context>\n</loaded_context>`;

const select = (messages: unknown, over: Partial<Surroundings> = {}) =>
  selectTools({ llm_request: { messages } }, { ...here, ...over });
const toolsOf = (messages: unknown) =>
  (select(messages).hookSpecificOutput as { toolConfig?: { allowedFunctionNames: string[] } } | undefined)?.toolConfig
    ?.allowedFunctionNames;

describe("the tools that a delegated agent is offered (T241, T242, C35)", () => {
  test.each([...agentTiers])("for %s are those of the tier %s, and always complete_task", (agent, tier) => {
    const offered = toolsOf([user(prompt(agent))]);
    if (tier === "full") expect(offered).toBeUndefined();
    else expect(offered).toEqual([...tierTools[tier], "complete_task"]);
  });

  test.each([
    ["the bare prompt", [user(prompt("architect"))]],
    ["after the memory that Gemini CLI puts before it", [user(`${memory}${prompt("architect")}`)]],
    ["in parts", [user([{ text: memory }, { text: prompt("architect") }])]],
    ["as a list of texts", [user([prompt("architect")])]],
    [
      "followed by the agent's work",
      [user(prompt("architect")), { role: "model", content: "Agent: coder" }, user("a result")],
    ],
    ["the most recent of two", [user(prompt("refactor")), user(prompt("architect"))]],
    ["in another spelling", [user("Agent: Architect \n\nDo it.")]],
  ])("are derived from the prompt: %s", (_, messages) => {
    expect(toolsOf(messages)).toEqual([...tierTools["read-only"], "complete_task"]);
  });

  test("are listed in the only mode in which the provider accepts names", () => {
    expect(select([user(prompt("architect"))])).toEqual({
      continue: true,
      hookSpecificOutput: {
        hookEventName: "BeforeToolSelection",
        toolConfig: { mode: "ANY", allowedFunctionNames: [...tierTools["read-only"], "complete_task"] },
      },
    });
  });
});

describe("tools are not restricted (T243)", () => {
  test.each<[string, unknown]>([
    [
      "in a turn of the TechLead",
      [user("<session_context>\nToday ...\n</session_context>"), user(prompt("architect"))],
    ],
    ["for an agent of another extension", [user(prompt("generalist"))]],
    ["for an agent named like a property of Object", [user(prompt("__proto__"))]],
    ["when the memory mentions an agent", [user(`${memory}Agents are fine.`)]],
    ["when the model mentions one", [user("hello"), { role: "model", content: prompt("architect") }]],
    ["when a prompt mentions one, far from its beginning", [user(`${"x\n".repeat(300)}${prompt("architect")}`)]],
    ["when a line only resembles the header", [user("The Agent: architect\nAgent: architect is nice\n")]],
    ["without messages", []],
    ["with messages that are not a list", "Agent: architect"],
    ["with malformed messages", [null, 7, "x", user(null), user([null, 3])]],
    ["with a memory that has no end", [user(`<loaded_context>\n${prompt("architect")}`.repeat(50))]],
  ])("%s", (_, messages) => {
    expect(select(messages)).toEqual(proceed);
  });

  test("inside an attempt, which ends with text", () => {
    expect(select([user(prompt("architect"))], { attempt: { agent: "architect", phase: "1" } })).toEqual(proceed);
  });
});

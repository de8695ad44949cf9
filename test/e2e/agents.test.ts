import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentTiers, tierTools } from "../../src/agents/tiers.ts";
import { gemini, installExtension } from "../support/gemini.ts";
import { type ScriptedModel, startModel } from "../support/model.ts";
import { Project } from "../support/project.ts";

describe("the real Gemini CLI with the extension installed", () => {
  const project = new Project();
  let model: ScriptedModel;
  beforeAll(async () => {
    model = await startModel(({ prompt }) =>
      prompt.includes("delegate")
        ? {
            parts: [...agentTiers.keys()].map((agent_name) => ({
              functionCall: { name: "invoke_agent", args: { agent_name, prompt: `You are ${agent_name}.` } },
            })),
          }
        : prompt.includes("You are ")
          ? { parts: [{ functionCall: { name: "complete_task", args: { result: "done" } } }] }
          : { parts: [{ text: "hello" }] },
    );
    const installed = await installExtension(project, model.url);
    expect(installed.stderr).toContain("maestro");
  }, 120_000);
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test("loads all twelve agents and skips none (P214, P216)", async () => {
    const run = await gemini(project, model.url, [
      "-m",
      "gemini-2.5-flash",
      "--approval-mode=yolo",
      "-o",
      "json",
      "-p",
      "delegate to everyone",
    ]);
    expect(run.stderr).not.toMatch(/Error loading agent|skipp/i);
    expect(run.code).toBe(0);
    const { system } = model.requests.find(({ prompt }) => prompt.includes("delegate")) ?? { system: "" };
    for (const name of agentTiers.keys()) expect(system, name).toContain(`${name} -> `);
  }, 120_000);

  test("gives each agent exactly the tools of its file, within its tier (P215)", () => {
    for (const [name, tier] of agentTiers) {
      const asked = model.requests.find(({ prompt }) => prompt.includes(`You are ${name}.`));
      expect(asked, name).toBeDefined();
      const tools = (asked?.tools ?? []).filter((tool) => tool !== "complete_task");
      expect(tools.length, name).toBeGreaterThan(2);
      expect(
        tools.filter((tool) => !tierTools[tier].includes(tool)),
        name,
      ).toEqual([]);
    }
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attemptPolicy, conversationTools, tierPolicy } from "../../src/agents/policies.ts";
import { deniedTools, type Tier, tierTools } from "../../src/agents/tiers.ts";
import { geminiRuntime } from "../../src/runtimes/gemini/gemini.ts";
import { gemini, haveExtension, headless, startGemini } from "../support/gemini.ts";
import { type ScriptedModel, startModel } from "../support/model.ts";
import { Project } from "../support/project.ts";

describe("the real Gemini CLI under yolo, with the policy of an attempt", () => {
  const project = new Project();
  let model: ScriptedModel;
  beforeAll(async () => {
    project.write(".home/.gemini/settings.json", '{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
    model = await startModel(({ prompt }) =>
      prompt.includes("reset everything")
        ? { parts: [{ functionCall: { name: "run_shell_command", args: { command: "git reset --hard" } } }] }
        : prompt.includes("write a file")
          ? { parts: [{ functionCall: { name: "write_file", args: { file_path: "x.txt", content: "x" } } }] }
          : { parts: [{ text: "done" }] },
    );
  });
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test.each<Tier>(["read-only", "read-shell", "read-write", "full"])(
    "takes the file without complaint and offers a %s agent what its tier has (S4, G80, Y291)",
    async (tier) => {
      const policy = tierPolicy(tier);
      const policyFile = policy === null ? null : project.write(`${tier}.toml`, policy);
      const argv = geminiRuntime.argv({
        agent: "x",
        tier,
        model: "gemini-2.5-flash",
        policyFile,
        isStreamed: true,
        extraArgs: [],
      });
      const before = model.requests.length;
      const run = await gemini(project, model.url, [...argv, "-p", "write a file"]);

      const outcome = geminiRuntime.judge({ ...run, exitCode: run.code, killed: null });
      expect(outcome).toMatchObject({ kind: "success", text: "done" });
      expect(outcome.usage).toEqual([{ model: "gemini-2.5-flash", input: 200, output: 40, cached: 80, thoughts: 0 }]);
      expect(run.stderr).not.toMatch(/policy|unrecognized/i);
      const offered = model.requests[before]?.tools ?? [];
      expect(offered.filter((tool) => deniedTools[tier].includes(tool))).toEqual([]);
      expect(offered).toEqual(expect.arrayContaining([...tierTools[tier]]));
      expect(project.exists("x.txt")).toBe(tierTools[tier].includes("write_file"));
      if (project.exists("x.txt")) project.run("rm", ["x.txt"]);
    },
    120_000,
  );

  test("holds a full agent by the baseline, without the extension and against what its user allows", async () => {
    const policyFile = project.write("attempt.toml", attemptPolicy("full"));
    const allowing = project.write("all.toml", '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n');
    const extraArgs = ["--policy", allowing];
    const spec = {
      agent: "x",
      tier: "full",
      model: "gemini-2.5-flash",
      policyFile,
      isStreamed: true,
      extraArgs,
    } as const;
    const before = model.requests.length;
    const run = await gemini(project, model.url, [...geminiRuntime.argv(spec), "-p", "reset everything"]);
    expect(run.code, run.stderr).toBe(0);
    const [first, second] = model.requests.slice(before);
    expect(first?.tools).toEqual(expect.arrayContaining([...tierTools.full]));
    expect(first?.tools.filter((tool) => conversationTools.includes(tool))).toEqual([]);
    expect(second?.results).toContain("denied by policy. git reset --hard discards work");
  }, 120_000);

  test("gives a policy priority over what its user allows, in a file or by flag", async () => {
    const policyFile = project.write("held.toml", tierPolicy("read-only") ?? "");
    const allowing = project.write("allow.toml", '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n');
    const extraArgs = ["--policy", allowing, "--allowed-tools", "write_file"];
    const spec = {
      agent: "x",
      tier: "read-only",
      model: "gemini-2.5-flash",
      policyFile,
      isStreamed: true,
      extraArgs,
    } as const;
    const before = model.requests.length;
    await gemini(project, model.url, [...geminiRuntime.argv(spec), "-p", "hello"]);
    const offered = model.requests[before]?.tools ?? [];
    expect(offered).toContain("read_file");
    expect(offered.filter((tool) => deniedTools["read-only"].includes(tool))).toEqual([]);
  }, 120_000);

  test("keeps other agents, skills and plan mode out of an attempt, with the extension (C58)", async () => {
    const home = new Project();
    try {
      await haveExtension(home, model.url);
      const policyFile = home.write("attempt.toml", attemptPolicy("full"));
      const spec = { agent: "x", tier: "full", model: "gemini-2.5-flash", policyFile, isStreamed: true } as const;
      const argv = geminiRuntime.argv({ ...spec, extraArgs: ["-p", "hello"] });
      const before = model.requests.length;
      const run = await startGemini(home, model.url, argv, geminiRuntime.environment).ended;
      expect(run.stderr).not.toMatch(/context|ENOENT/i);
      await gemini(home, model.url, headless("hello"));
      const [attempt, conversation] = model.requests.slice(before);
      expect(conversation?.tools).toEqual(
        expect.arrayContaining(["invoke_agent", "activate_skill", "enter_plan_mode"]),
      );
      expect(attempt?.tools.filter((tool) => conversationTools.includes(tool))).toEqual([]);
    } finally {
      home.remove();
    }
  }, 240_000);
});

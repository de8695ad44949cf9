// An extension that the user names with MAESTRO_EXTENSION_PATH, and agent files that cannot be used: the same in the command line, the
// engine, the MCP server and the hooks.

import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { quick, runPlan } from "../support/engine-run.ts";
import { contextOf, delegated, hook, Shelf, sessionProject } from "../support/hooks.ts";
import { withServer } from "../support/mcp.ts";
import { maestro, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { Project, planPath, planText, root } from "../support/project.ts";
import { played, prepare } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const shelf = new Shelf();
afterEach(() => shelf.clear());

const own = "# House rules\nSay please.";

/** A copy of the agents and the protocols, with a protocol and an agent of the user's own; as an environment. */
function ownExtension(project: Project): { MAESTRO_EXTENSION_PATH: string } {
  const extension = join(project.path, ".home", "mine");
  for (const folder of ["agents", "protocols"]) {
    cpSync(join(root, folder), join(extension, folder), { recursive: true });
  }
  writeFileSync(join(extension, "protocols/agent-base-protocol.md"), `${own}\n`);
  const plumber = "---\nname: plumber\ndescription: Pipes.\ntools:\n  - read_file\n---\nYou lay pipes.\n";
  writeFileSync(join(extension, "agents/plumber.md"), plumber);
  return { MAESTRO_EXTENSION_PATH: extension };
}

/** Spoils the front matter of the coder. */
function spoil(extension: string): string {
  const file = join(extension, "agents/coder.md");
  writeFileSync(file, "---\nname: coder\ndescription: Codes.\ncolor: red\n---\nYou code.\n");
  return file;
}

const validated = (project: Project, env: Record<string, string>) =>
  withServer(project, (client) => client.ok("maestro_validate_plan", { plan_path: planPath }), env);

describe("MAESTRO_EXTENSION_PATH", () => {
  test.concurrent("record A8: is where the engine, the command line and the MCP server take agents and protocols from (E59)", () =>
    withProcesses(async (project) => {
      const env = ownExtension(project);
      const { agent, run } = await runPlan(project, [played(1, [["prompt"]], { agent: "plumber" })], { env });
      expect(run.code, run.stderr).toBe(0);
      const [{ prompt } = { prompt: "" }] = agent.notes("prompt");
      expect(prompt).toContain(own);
      expect(prompt).toContain("You lay pipes.");
      expect(prompt).not.toContain("# Agent Base Protocol");
      project.write(planPath, planText([{ id: 1, agent: "plumber" }]));
      expect((await validated(project, env)).valid).toBe(true);
      expect((await validated(project, {})).valid).toBe(false);
    }));

  test("is where a native delegation takes its protocols from; the command line stays that of the program (E59)", () => {
    const project = shelf.keep(sessionProject([{ id: 1 }]));
    const env = ownExtension(project);
    const turn = hook(project, "BeforeAgent", { prompt: "[maestro:status]" }, env).reply;
    expect(contextOf(turn)).toMatch(/command line: node ".*\/dist\/maestro\.js"$/);
    expect(contextOf(turn)).not.toContain(env.MAESTRO_EXTENSION_PATH);
    const prompt = delegated(project, "coder", "Phase: 1", env);
    expect(prompt).toContain(own);
  });

  test("of a project's .env is ignored by a native delegation (E59, T3)", () => {
    const project = shelf.keep(sessionProject([{ id: 1 }]));
    const env = ownExtension(project);
    project.write(".env", `MAESTRO_EXTENSION_PATH=${env.MAESTRO_EXTENSION_PATH}\n`);
    // Gemini CLI loads the file into its own environment, which hooks inherit.
    const prompt = delegated(project, "coder", "Phase: 1", { ...env, GEMINI_CLI: "1" });
    expect(prompt).not.toContain(own);
  });

  test("may name a directory without protocols: then those of the program apply (E59)", () => {
    const project = shelf.keep(sessionProject([{ id: 1 }]));
    const env = ownExtension(project);
    rmSync(join(env.MAESTRO_EXTENSION_PATH, "protocols"), { recursive: true });
    expect(delegated(project, "coder", "Phase: 1", env)).toContain("# Agent Base Protocol");
  });

  test.concurrent("with a protocol missing stops a run before any agent starts, and names the file (E59)", () =>
    withProcesses(async (project) => {
      const env = ownExtension(project);
      rmSync(join(env.MAESTRO_EXTENSION_PATH, "protocols/filesystem-safety-protocol.md"));
      const { agent, run } = await runPlan(project, [played(1, [])], { env });
      expect(run.code).toBe(3);
      expect(run.stderr).toContain("Cannot read the protocol");
      expect(run.stderr).toContain("filesystem-safety-protocol.md");
      expect(agent.notes()).toEqual([]);
    }));
});

describe("an agent whose front matter is broken", () => {
  const reason = "color must be left out: it is not a known field";

  test.concurrent("record A8: is reported with its file and the reason by validate, run, dispatch, agents check and the MCP server (F67)", () =>
    withProcesses(async (project) => {
      const env = ownExtension(project);
      const file = spoil(env.MAESTRO_EXTENSION_PATH);
      const agent = prepare(project, [played(1, [])]);
      const told = `Phase 1: the agent "coder" cannot be used: ${file} is broken (${reason})`;
      const validate = await maestro(project, ["validate", planPath], agent.env(env));
      expect(validate.code).toBe(2);
      expect(validate.stdout + validate.stderr).toContain(told);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env(env));
      expect(run.stderr).toContain(told);
      project.write("batch/prompts/coder.txt", "Work.");
      const dispatch = await maestro(project, ["dispatch", "batch"], agent.env(env));
      expect([dispatch.code, dispatch.stderr]).toEqual([
        1,
        expect.stringContaining(`ERROR: Agent 'coder' is broken: ${file}: ${reason}`),
      ]);
      const check = await maestro(project, ["agents", "check"], agent.env(env));
      expect(check.stderr).toContain(reason);
      expect(check.stderr).toContain(`coder is broken: ${file}`);
      const { errors } = await validated(project, env);
      expect(errors).toEqual([
        expect.objectContaining({ code: "broken_agent", message: expect.stringContaining(told) }),
      ]);
      expect(agent.notes()).toEqual([]);
    }));

  test.concurrent("is reported when a session resumes with it (F67)", () =>
    withProcesses(async (project) => {
      const env = ownExtension(project);
      const agent = prepare(project, [played(1, [])]);
      const created = await maestro(project, ["session", "create", planPath], agent.env(env));
      expect(created.code, created.stderr).toBe(0);
      const file = spoil(env.MAESTRO_EXTENSION_PATH);
      const run = await maestro(project, ["resume", ...quick], agent.env(env));
      expect(run.code).toBe(3);
      expect(run.stderr).toContain(`Cannot start phase 1: the agent "coder" cannot be used: ${file} is broken`);
      expect(agent.notes()).toEqual([]);
    }));

  test("is named to the TechLead when a command begins, since Gemini CLI drops it without a word (F67)", () => {
    const project = shelf.keep(new Project());
    const env = ownExtension(project);
    const begin = () => contextOf(hook(project, "BeforeAgent", { prompt: "[maestro:orchestrate] An API" }, env).reply);
    expect(begin()).not.toContain("Agent problem");
    const file = spoil(env.MAESTRO_EXTENSION_PATH);
    expect(begin()).toContain(`Agent problem, tell the user: the agent "coder" cannot be used: ${file} is broken`);
  });
});

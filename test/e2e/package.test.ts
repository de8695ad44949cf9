// The package from `npm pack`, installed as an extension of the real Gemini CLI.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maestroTools } from "../../src/extension/vocabulary.ts";
import { gemini, headless, startGemini, writeSettings } from "../support/gemini.ts";
import { type ScriptedModel, startModel } from "../support/model.ts";
import { packMaestro, unpack } from "../support/package.ts";
import { Project, root } from "../support/project.ts";

const LIMIT_MS = 120_000;
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const names = (folder: string) => readdirSync(join(root, folder)).map((name) => basename(name, ".md"));

describe(
  "the unpacked package in the real Gemini CLI",
  () => {
    const project = new Project();
    let model: ScriptedModel;
    beforeAll(async () => {
      model = await startModel(() => ({ parts: [{ text: "Here it is." }] }));
      writeSettings(project);
      const unpacked = unpack(project, packMaestro(project));
      const args = ["extensions", "install", unpacked, "--consent", "--skip-settings"];
      const installed = await gemini(project, model.url, args);
      expect(installed.stderr).toContain("installed successfully");
    }, LIMIT_MS);
    afterAll(async () => {
      await model.close();
      project.remove();
    });

    test("is listed with its version, context, MCP server and skills", async () => {
      const { code, stderr } = await gemini(project, model.url, ["extensions", "list"]);
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(`maestro (${version})`);
      expect(stderr).toMatch(/Context files:\n.*extensions\/maestro\/CONTEXT\.md\n MCP servers:\n {2}maestro\n/);
      for (const skill of names("skills")) expect(stderr).toContain(`\n  ${skill}: `);
    });

    test("brings its commands, hooks, agents and tools into a conversation", async () => {
      const run = await startGemini(project, model.url, headless("/maestro:status")).ended;
      expect(run.code, run.stderr).toBe(0);
      const { system = "", texts = [], tools = [] } = model.requests.at(-1) ?? {};
      expect(texts.join("\n")).toContain("[maestro:status]");
      expect(texts.join("\n")).toMatch(/Maestro's command line: node "[^"]+extensions\/maestro\/dist\/maestro\.js"/);
      for (const agent of names("agents")) expect(system).toContain(agent);
      expect(tools).toEqual(expect.arrayContaining(maestroTools.map((tool) => `mcp_maestro_${tool}`)));
    });
  },
  LIMIT_MS,
);

// The real programs that speak to any provider: which version, how to sign in at a scripted model, and what their tools are called.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheOf, type pinned } from "../../tools/runtimes.js";
import type { Project } from "../support/project.ts";

/** What a case of the table ends with. */
export type CaseName = "quota" | "e500" | "garbage";

export interface ChatProgram {
  name: keyof typeof pinned;
  model: string;
  /** Writes its settings into the project's home; returns the variables of its vendor, and those that the user passes. */
  signIn(project: Project, url: string): { own: Record<string, string>; passed: Record<string, string> };
  write(path: string): { tool: string; input: Record<string, unknown> };
  shell(command: string): { tool: string; input: Record<string, unknown> };
  /** The tokens of two calls; null when it does not tell them. */
  usage: object | null;
  /** Cases in which it repeats its call for longer than an attempt may take. */
  late: readonly CaseName[];
}

/** Long and unlike any word: one of the programs replaces it wherever it prints it. */
const KEY = "sk-scripted-0123456789-scripted-abcdef";

export const chatPrograms: readonly ChatProgram[] = [
  {
    name: "pi",
    model: "local/m1",
    signIn: (project, url) => {
      const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
      const model = {
        id: "m1",
        name: "m1",
        reasoning: false,
        input: ["text"],
        contextWindow: 200_000,
        maxTokens: 8_000,
        cost,
      };
      const local = { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "LOCAL_KEY", models: [model] };
      project.write(".home/.pi/agent/models.json", JSON.stringify({ providers: { local } }));
      return { own: {}, passed: { LOCAL_KEY: KEY } };
    },
    write: (path) => ({ tool: "write", input: { path, content: "hello\n" } }),
    shell: (command) => ({ tool: "bash", input: { command } }),
    usage: { input: 2468, cached: 400, output: 112 },
    late: [],
  },
  {
    name: "qwen",
    model: "m1",
    signIn: (project, url) => {
      const security = { auth: { selectedType: "openai" } };
      project.write(".home/.qwen/settings.json", JSON.stringify({ security }));
      return { own: {}, passed: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY } };
    },
    write: (file_path) => ({ tool: "write_file", input: { file_path, content: "hello\n" } }),
    shell: (command) => ({ tool: "run_shell_command", input: { command, is_background: false } }),
    usage: { input: 2468, cached: 400, output: 112 },
    late: ["quota", "e500"],
  },
  {
    name: "opencode",
    model: "local/m1",
    signIn: (_, url) => {
      const options = { baseURL: `${url}/v1`, apiKey: KEY };
      const local = { npm: "@ai-sdk/openai-compatible", name: "local", options, models: { m1: { name: "m1" } } };
      const settings = JSON.stringify({ provider: { local } });
      return { own: { OPENCODE_CONFIG_CONTENT: settings, OPENCODE_DISABLE_MODELS_FETCH: "1" }, passed: {} };
    },
    write: (filePath) => ({ tool: "write", input: { filePath, content: "hello\n" } }),
    shell: (command) => ({ tool: "bash", input: { command, description: "x" } }),
    usage: { input: 2468, cached: 400, output: 112 },
    late: ["e500", "garbage"],
  },
  {
    name: "copilot",
    model: "m1",
    signIn: (_, url) => ({
      own: {
        ...{ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_API_KEY: KEY },
        ...{ COPILOT_MODEL: "m1", COPILOT_OFFLINE: "true" },
      },
      passed: {},
    }),
    write: (path) => ({ tool: "create", input: { path, file_text: "hello\n" } }),
    shell: (command) => ({ tool: "bash", input: { command, description: "x" } }),
    usage: null,
    late: [],
  },
  {
    name: "goose",
    model: "m1",
    signIn: (_, url) => ({
      own: { GOOSE_PROVIDER: "openai", GOOSE_MODEL: "m1", GOOSE_DISABLE_KEYRING: "1" },
      passed: { OPENAI_HOST: url, OPENAI_API_KEY: KEY },
    }),
    write: (path) => ({ tool: "write", input: { path, content: "hello\n" } }),
    shell: (command) => ({ tool: "shell", input: { command } }),
    usage: { input: 2468, cached: 0, output: 112 },
    late: [],
  },
];

/** The directory with the program, if `npm run test:runtimes` installed it and asks for it. */
export function installed({ name }: ChatProgram): string | null {
  const directory = join(cacheOf(name), "node_modules", ".bin");
  return process.env.TEST_RUNTIMES?.split(",").includes(name) && existsSync(join(directory, name)) ? directory : null;
}

// The policy engine of the installed Gemini CLI, without the rest of it: for tables that are too long to be put through a model.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./project.ts";

/** What we use of the library inside the CLI. */
interface Core {
  initializeShellParsers(): Promise<void>;
  loadExtensionPolicies(name: string, folder: string): Promise<{ rules: unknown[]; errors: { message: string }[] }>;
  loadSkillFromFile(path: string): Promise<{ name: string } | null>;
  createPolicyEngineConfig(
    settings: object,
    mode: string,
    defaults: string,
    isInteractive: boolean,
  ): Promise<{ rules: unknown[] }>;
  PolicyEngine: new (
    config: object,
  ) => {
    check(
      call: { name: string; args: object },
      server: undefined,
      annotations: undefined,
      subagent: string | undefined,
    ): Promise<{ decision: string; rule?: { denyMessage?: string; source?: string } }>;
  };
}

export interface PolicyEngine {
  /** What the CLI has to say about the files. */
  complaints: unknown[];
  /** The message of the rule that denies a call of the main agent, or of a subagent, under yolo; undefined when it may go on. */
  denial(tool: string, args: object, subagent?: string): Promise<string | undefined>;
}

/** With the CLI's own rules and those of the extension's `policies`, headless and under yolo. */
export async function policyEngine(policies: string): Promise<PolicyEngine> {
  const core = await loadCore();
  await core.initializeShellParsers();
  const { rules, errors: complaints } = await core.loadExtensionPolicies("maestro", policies);
  const settings = { approvalMode: "yolo", nonInteractive: true };
  const engine = new core.PolicyEngine({ ...settings, rules: [...rules, ...(await defaultRules(core))] });
  return {
    complaints,
    denial: async (name, args, subagent) => {
      const { decision, rule } = await quietly(() => engine.check({ name, args }, undefined, undefined, subagent));
      return decision === "allow" ? undefined : (rule?.denyMessage ?? `${decision} by ${rule?.source}`);
    },
  };
}

/** How the CLI decides in a conversation with a user: with its own rules, those of the extension, and those in the user's home. */
export async function decisionsFor(
  home: string,
): Promise<(tool: string, args: object, subagent?: string) => Promise<string>> {
  const core = await loadCore();
  await core.initializeShellParsers();
  const { rules } = await core.loadExtensionPolicies("maestro", join(root, "policies"));
  const own = await rulesWithHome(core, home, "default", true);
  const byPriority = (a: unknown, b: unknown) => priorityOf(b) - priorityOf(a);
  const engine = new core.PolicyEngine({ approvalMode: "default", rules: [...rules, ...own].sort(byPriority) });
  return async (name, args, subagent) => {
    const { decision } = await quietly(() => engine.check({ name, args }, undefined, undefined, subagent));
    return decision;
  };
}

function priorityOf(rule: unknown): number {
  return (rule as { priority?: number }).priority ?? 0;
}

const bundle = join(root, "node_modules", "@google", "gemini-cli", "bundle");

export async function loadCore(): Promise<Core> {
  const [file] = readdirSync(bundle).filter((name) => /^core-.*\.js$/.test(name));
  return import(join(bundle, file ?? "core.js"));
}

/** Without the policies of the user who runs the tests. */
async function defaultRules(core: Core): Promise<unknown[]> {
  const home = mkdtempSync(join(tmpdir(), "maestro-home-"));
  try {
    return await rulesWithHome(core, home, "yolo", false);
  } finally {
    rmSync(home, { recursive: true });
  }
}

async function rulesWithHome(core: Core, home: string, mode: string, isInteractive: boolean): Promise<unknown[]> {
  const before = process.env.GEMINI_CLI_HOME;
  process.env.GEMINI_CLI_HOME = home;
  try {
    return (await core.createPolicyEngineConfig({}, mode, join(bundle, "policies"), isInteractive)).rules;
  } finally {
    if (before === undefined) delete process.env.GEMINI_CLI_HOME;
    else process.env.GEMINI_CLI_HOME = before;
  }
}

/** The engine tells the console about every rule it looks at. */
async function quietly<T>(use: () => Promise<T>): Promise<T> {
  const { debug, log } = console;
  console.debug = console.log = () => undefined;
  try {
    return await use();
  } finally {
    Object.assign(console, { debug, log });
  }
}

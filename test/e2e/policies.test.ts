import { chmodSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { userPolicies } from "../../src/agents/policies.ts";
import { agentTiers, deniedTools } from "../../src/agents/tiers.ts";
import { allowedCommands, allowedPaths, deniedCommands, deniedPaths } from "../support/calls.ts";
import { gemini, haveExtension } from "../support/gemini.ts";
import { type ModelRequest, type Part, type ScriptedModel, startModel } from "../support/model.ts";
import { type PolicyEngine, policyEngine } from "../support/policy-engine.ts";
import { Project, type Run, root, withProject } from "../support/project.ts";

describe("the policy engine of Gemini CLI with our policies", () => {
  let engine: PolicyEngine;
  beforeAll(async () => {
    engine = await policyEngine(join(root, "policies"));
  });
  const shell = (command: string) => engine.denial("run_shell_command", { command });

  test("has no complaint about any file (Y293)", () => {
    expect(engine.complaints).toEqual([]);
  });

  test("has no complaint about the files for the user's own folder either (Y292)", () =>
    withProject(async (project) => {
      for (const { name, text } of userPolicies()) project.write(`policies/${name}`, text);
      const { complaints, denial } = await policyEngine(join(project.path, "policies"));
      expect(complaints).toEqual([]);
      expect(await denial("run_shell_command", { command: "ls" }, "refactor")).toContain("refactor has no such tool");
    }));

  test.each(flat(deniedCommands))("says '… %s …' to %j (Y286-Y289)", async (words, command) => {
    expect(await engine.denial("run_shell_command", { command }, "coder")).toContain(words);
  });

  test("leaves file content to the guard where no agent works (C47)", async () => {
    const content = Object.entries(deniedCommands).filter(([words]) => words.endsWith("corrupts"));
    expect(content).toHaveLength(2);
    for (const command of content.flatMap(([, commands]) => commands)) expect(await shell(command)).toBeUndefined();
  });

  test.each(allowedCommands.map((command) => [command]))("lets %j pass, as the guard does (S240)", async (command) => {
    expect(await shell(command)).toBeUndefined();
  });

  test("lets every ordinary call of the guard's corpus pass (S240)", async () => {
    const corpus = readFileSync(join(root, "test/guard/allow.jsonl"), "utf8").trim().split("\n");
    const messages: (string | undefined)[] = [];
    for (const line of corpus) {
      const { command, tool_name = "run_shell_command", tool_input = { command } } = JSON.parse(line);
      for (const agent of [undefined, "coder"]) messages.push(await engine.denial(tool_name, tool_input, agent));
    }
    // The CLI's own rule about build files is not part of Maestro.
    expect(messages.filter((message) => message !== undefined && !message.startsWith("Modifying build"))).toEqual([]);
    expect(corpus.length).toBeGreaterThan(1_000);
  }, 60_000);

  test.each(flat(deniedPaths))("says '… %s …' to a write to %j (Y290)", async (words, file_path) => {
    expect(await engine.denial("write_file", { file_path, content: "x" })).toContain(words);
    expect(await engine.denial("replace", { file_path, old_string: "a", new_string: "b" })).toContain(words);
  });

  test.each(allowedPaths.map((path) => [path]))("lets a write to %j pass", async (file_path) => {
    expect(await engine.denial("write_file", { file_path, content: '{"file_path":".env"}' })).toBeUndefined();
  });

  test("lets a dispatched agent ask for more files, whatever its tier denies", async () => {
    const call = { paths: ["src/a.ts"], reason: "needed" };
    expect(await engine.denial("mcp_maestro_maestro_request_scope", call)).toBeUndefined();
  });

  test.each([...agentTiers])("denies %s exactly what a %s agent must not have (Y291, C35)", async (agent, tier) => {
    const calls = {
      write_file: { file_path: "a.ts", content: "x" },
      replace: { file_path: "a.ts", old_string: "a", new_string: "b" },
      run_shell_command: { command: "ls" },
      read_file: { file_path: "a.ts" },
    };
    const denied: string[] = [];
    for (const [tool, args] of Object.entries(calls)) {
      const message = await engine.denial(tool, args, agent);
      if (message === undefined) continue;
      denied.push(tool);
      expect(message).toMatch(new RegExp(`^${agent} has no such tool: .* into your report\\.$`));
    }
    expect(denied).toEqual(deniedTools[tier]);
  });

  test("denies none of this to the main agent or to other subagents", async () => {
    for (const subagent of [undefined, "codebase_investigator"]) {
      expect(await engine.denial("write_file", { file_path: "a.ts", content: "x" }, subagent)).toBeUndefined();
      expect(await engine.denial("run_shell_command", { command: "ls" }, subagent)).toBeUndefined();
    }
  });
});

describe("the real Gemini CLI under yolo, with our policies and without our hooks", () => {
  const project = new Project();
  const path = process.env.PATH;
  let model: ScriptedModel;
  let run: Run;
  beforeAll(async () => {
    model = await startModel(answer);
    await haveExtension(project, model.url);
    const installed = join(project.path, ".home/.gemini/extensions/maestro");
    rmSync(join(installed, "hooks"), { recursive: true, force: true });
    // An agent file lists tools that its tier does not have.
    const reviewer = project.read(".home/.gemini/extensions/maestro/agents/code-reviewer.md");
    project.write(
      ".home/.gemini/extensions/maestro/agents/code-reviewer.md",
      reviewer.replace("tools:\n", "tools:\n  - write_file\n  - run_shell_command\n"),
    );
    // A call that is allowed by mistake does nothing.
    for (const name of ["rm", "git"]) {
      chmodSync(project.write(`.shims/${name}`, `#!/bin/sh\nprintf '${name} %s\\n' "$*" >>"$0.calls"\n`), 0o755);
    }
    process.env.PATH = [join(project.path, ".shims"), path].join(delimiter);
    const settings = ["-m", "gemini-2.5-flash", "--approval-mode=yolo", "-o", "json"];
    run = await gemini(project, model.url, [...settings, "-p", "The main agent tries."]);
  }, 120_000);
  afterAll(async () => {
    process.env.PATH = path;
    await model.close();
    project.remove();
  });

  test("loads our policies without a warning (Y293)", () => {
    const said = run.stderr.split("\n").filter((line) => !line.startsWith("Error executing tool"));
    expect([run.code, said.filter((line) => /polic|toml|Error loading/i.test(line))]).toEqual([0, []]);
  });

  test.each(["main agent", "coder"])("denies the %s what no agent may do (Y285-Y290)", (who) => {
    for (const { call, words, response } of tried(who, [...content, ...denied])) {
      expect(response, JSON.stringify(call)).toContain("Tool execution denied by policy.");
      expect(response, JSON.stringify(call)).toContain(words);
    }
    expect(project.list().filter((name) => !name.startsWith("."))).toEqual(["kept.txt", "npm.log"]);
    expect(project.exists(".gemini")).toBe(false);
  });

  test.each(["main agent", "coder"])("lets the %s do its work", (who) => {
    for (const { call, words, response } of tried(who, allowed)) {
      expect(response, JSON.stringify(call)).toContain(words);
    }
    expect(project.read("kept.txt")).toBe("kept\n");
    expect(project.read(".shims/rm.calls")).toBe("rm -rf dist\nrm -rf dist\n");
    const git = project.read(".shims/git.calls").split("\n");
    expect(git.filter((line) => /push|reset/.test(line))).toEqual(Array(2).fill("git push -f origin my-main"));
  });

  test("sees that the CLI itself keeps build files from headless agents, so that programs must change them", () => {
    for (const { words, response } of tried("coder", buildFiles)) expect(response).toContain(words);
  });

  test("gives an architect neither write_file nor run_shell_command", () => {
    for (const { response } of tried("architect", reaching)) expect(response).toContain("not available to this agent");
  });

  test("holds a tier though the agent's file was tampered with (Y291)", () => {
    for (const { response } of tried("code-reviewer", reaching)) {
      expect(response).toContain("denied by policy. code-reviewer has no such tool");
    }
    expect(project.exists("reached.txt")).toBe(false);
  });

  /** The calls of a kind that an agent made, each with its result. */
  function tried(who: string, kind: Try[]): (Try & { response: string })[] {
    const asked = model.requests.find(
      ({ texts, results }) => texts.join("\n").includes(`The ${who} tries.`) && results !== "[]",
    );
    const results = JSON.parse(asked?.results ?? "[]") as { name: string; response: unknown }[];
    const all = triesOf(who);
    expect(results.slice(0, all.length).map(({ name }) => name)).toEqual(all.map(({ call }) => call.name));
    return all.flatMap((one, index) =>
      kind.includes(one) ? [{ ...one, response: JSON.stringify(results[index]?.response) }] : [],
    );
  }
});

interface Try {
  call: { name: string; args: Record<string, unknown> };
  /** What must be in the answer. */
  words: string;
}

/** Denied to agents only. */
const content: Try[] = [
  command("echo hi > slipped.txt", "Write file content with write_file"),
  command('mkdir -p x.d && printf "%s" a >> x.d/slipped.txt', "Write file content with write_file"),
  command("cat <<'EOF' > slipped.txt\nx\nEOF", "Write file content with write_file"),
];

const denied: Try[] = [
  command("rm -rf /", "delete the system"),
  command("true && rm -fr /*", "delete the system"),
  command("rm -rf ~", "user's home"),
  command('bash -c "rm -r -f $HOME"', "user's home"),
  command("git push --force origin main", "No forced push"),
  command("git push origin +master", "No forced push"),
  command("git reset --hard", "discards work"),
  file(".env.local", "not write secrets"),
  file("deploy.key", "not write keys"),
  file(".gemini/settings.json", "are the user's"),
  file(".gemini/agents/helper.md", "are the user's"),
];

const allowed: Try[] = [
  command('echo "a > b"', "a > b"),
  command("echo kept >&2", "kept"),
  command("printf '%s\\n' \"c > d\" | head -1", "c > d"),
  command("npm --version > npm.log 2>&1; cat < npm.log | wc -l", "1"),
  command('cat <<< "here"', "here"),
  command("rm -rf dist", "Output"),
  command("git push -f origin my-main", "Output"),
  file("kept.txt", "Successfully"),
];

const buildFiles: Try[] = [
  file("package.json", "Modifying build configuration files requires explicit user confirmation"),
  file("sub/Dockerfile", "Modifying build configuration files requires explicit user confirmation"),
];

const reaching: Try[] = [command("echo x", ""), file("reached.txt", "")];

function command(line: string, words: string): Try {
  return { call: { name: "run_shell_command", args: { command: line } }, words };
}

function file(file_path: string, words: string): Try {
  return { call: { name: "write_file", args: { file_path, content: "kept\n" } }, words };
}

function triesOf(who: string): Try[] {
  if (who === "coder") return [...content, ...denied, ...allowed, ...buildFiles];
  return who === "main agent" ? [...denied, ...allowed, ...buildFiles] : reaching;
}

const subagents = ["coder", "architect", "code-reviewer"];

/** Every agent tries all of its calls in its first turn; the main agent also calls the other agents. */
function answer({ texts, results }: ModelRequest): { parts: Part[] } {
  const who = ["main agent", ...subagents].find((name) => texts.join("\n").includes(`The ${name} tries.`)) ?? "";
  const isMain = who === "main agent";
  if (results !== "[]") {
    return {
      parts: [isMain ? { text: "done" } : { functionCall: { name: "complete_task", args: { result: "done" } } }],
    };
  }
  const delegations = isMain ? subagents.map(delegation) : [];
  return { parts: [...triesOf(who).map(({ call }) => ({ functionCall: call })), ...delegations] };
}

function delegation(agent_name: string): Part {
  return { functionCall: { name: "invoke_agent", args: { agent_name, prompt: `The ${agent_name} tries.` } } };
}

function flat(table: Readonly<Record<string, readonly string[]>>): [string, string][] {
  return Object.entries(table).flatMap(([words, calls]) => calls.map((call): [string, string] => [words, call]));
}

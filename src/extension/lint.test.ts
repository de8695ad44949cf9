// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of Gemini CLI

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { definitions } from "../settings.ts";
import { lintExtension } from "./lint.ts";
import { describeProblem } from "./problem.ts";

const verbs = ["run", "status", "session", "session create", "session mode"];

const agent = (name: string, tools = "[read_file, write_file, replace, run_shell_command]") =>
  `---\nname: ${name}\ndescription: Does things. Use for things.\ntools: ${tools}\n---\n\nYou do things.\n`;
const hook = { type: "command", command: "node ${extensionPath}/dist/hook.cjs before-tool", timeout: 5000 };
const manifest = {
  name: "maestro",
  version: "1.2.3",
  contextFileName: "GEMINI.md",
  mcpServers: { maestro: { command: "node", args: ["${extensionPath}${/}dist${/}mcp.js"] } },
  settings: [
    { name: "Mode", description: definitions.MAESTRO_EXECUTION_MODE.meaning, envVar: "MAESTRO_EXECUTION_MODE" },
  ],
};
const policy = {
  toolName: '"run_shell_command"',
  commandRegex: "'(rm|mv) -rf '",
  decision: '"deny"',
  priority: "900",
  denyMessage: '"Use write_file."',
};
const rule = (changed: Record<string, string | undefined> = {}) =>
  `# why\n[[rule]]\n${Object.entries({ ...policy, ...changed })
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key} = ${value}`]))
    .join("\n")}\n`;

/** A valid extension that uses every feature. */
const good: Readonly<Record<string, string>> = {
  "gemini-extension.json": json(manifest),
  "package.json": json({ version: "1.2.3" }),
  "GEMINI.md":
    "Call `maestro_session_read` or `invoke_agent`; the field `blocked_by` is in docs/fields.md.\n`maestro run <plan>`, `maestro session create x`, MAESTRO_STATE_DIR.\nUse the skill `delegation`, /maestro:status, `coder`, `tester` and `architect`.\n",
  "agents/coder.md": agent("coder"),
  "agents/tester.md": agent("tester"),
  "agents/architect.md": agent("architect", "[read_file]"),
  "agents/security-engineer.md": agent("security-engineer", "[read_file, run_shell_command]"),
  "hooks/hooks.json": json({
    hooks: { BeforeTool: [{ matcher: "write_file|replace", hooks: [hook] }], SessionStart: [{ hooks: [hook] }] },
  }),
  "dist/hook.cjs": "",
  "dist/mcp.js": "",
  "commands/maestro/status.toml":
    'description = "Where it stands"\nprompt = """\nSay it. !{maestro status} {{args}}\n"""\n',
  "skills/delegation/SKILL.md":
    "---\nname: delegation\ndescription: How to delegate\n---\n\nDelegate with `invoke_agent`.\n",
  "policies/baseline.toml": rule(),
  "policies/tiers.toml": rule({
    subagent: '"architect"',
    commandRegex: undefined,
    toolName: '["write_file", "replace"]',
  }),
  "protocols/base.md": "Use `write_file`; your own docs/ and scripts/build.sh are yours.\n",
  "templates/plan.md": "---\nblocked_by: []\n---\n",
  "docs/fields.md": "| `blocked_by` | what it waits for |\n",
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "maestro-lint-"));
  for (const [file, text] of Object.entries(good)) put(file, text);
});
afterEach(() => rmSync(root, { recursive: true }));

function put(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

async function problems(): Promise<string[]> {
  return (await lintExtension(root, verbs)).problems.map(
    (problem) => `${describeProblem(problem)}${problem.hint === undefined ? "" : ` | ${problem.hint}`}`,
  );
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

test("a valid extension has no problems", async () => {
  expect(await problems()).toEqual([]);
});

type Fault = [what: string, file: string, text: string | null, ...messages: string[]];

function finds(faults: Fault[]): void {
  test.each(faults)("%s", async (_, file, text, ...messages) => {
    if (text === null) rmSync(join(root, file));
    else put(file, text);
    expect(await problems()).toEqual(messages);
  });
}

const dropsAgent = "Gemini CLI drops this agent.";

describe("in the manifest it finds", () => {
  const file = "gemini-extension.json";
  const changed = (change: object) => json({ ...manifest, ...change });
  const [setting] = manifest.settings;
  finds([
    ["a missing manifest", file, null, `${file}: is missing: for Gemini CLI this directory is not an extension`],
    ["invalid JSON", file, "{", `${file}: is not a JSON object`],
    [
      "no version",
      file,
      changed({ version: undefined }),
      `${file}: version is missing: Gemini CLI skips the extension`,
    ],
    [
      "another version",
      file,
      changed({ version: "1.2.4" }),
      `${file}:3: version is 1.2.4, package.json has 1.2.3 | Run "node scripts/sync-version.js".`,
    ],
    [
      "a key that is not read",
      file,
      changed({ mcpServer: {} }),
      `${file}:20: Gemini CLI does not know the key "mcpServer" | Did you mean "mcpServers"?`,
    ],
    [
      "an unused setting",
      file,
      changed({ settings: [{ ...setting, envVar: "MAESTRO_EXECUTION_MODES" }] }),
      `${file}:17: the setting MAESTRO_EXECUTION_MODES is unused: no code reads it | Did you mean "MAESTRO_EXECUTION_MODE"?`,
    ],
    [
      "a setting with another description",
      file,
      changed({ settings: [{ ...setting, description: "The mode" }] }),
      `${file}:17: the description of MAESTRO_EXECUTION_MODE differs from src/settings.ts | It is there: ${setting?.description}`,
    ],
    [
      "half a setting",
      file,
      changed({ settings: [{ name: "Mode" }] }),
      `${file}:13: a setting needs name, description and envVar (got: {"name":"Mode"})`,
    ],
    ["a missing context file", "GEMINI.md", null, `${file}:4: the context file GEMINI.md does not exist`],
    [
      "an excluded tool that does not exist",
      file,
      changed({ excludeTools: ["run_shell_command(rm)", "run_shell"] }),
      `${file}:21: excludeTools names run_shell, which is not a tool`,
    ],
    [
      "a server whose program is missing",
      "dist/mcp.js",
      null,
      `${file}:2: the MCP server maestro starts dist/mcp.js, which does not exist | Run "npm run build".`,
    ],
    [
      "a server with its own working directory",
      file,
      changed({ mcpServers: { a_b: { command: "node", cwd: "/x" } } }),
      `${file}:6: the MCP server a_b has an underscore in its name: Gemini CLI takes the first one for its end`,
      `${file}:6: the MCP server a_b has a cwd: it would not run in the user's project | Leave it out.`,
    ],
    [
      "a server without a program",
      file,
      changed({ mcpServers: { own: {} } }),
      `${file}:6: the MCP server own has no command`,
    ],
  ]);
});

describe("in agents it finds", () => {
  finds([
    [
      "a key that the CLI does not know",
      "agents/coder.md",
      agent("coder").replace("tools:", "color: red\ntools:"),
      `agents/coder.md: coder has invalid front matter: color must be left out: it is not a known field | ${dropsAgent}`,
    ],
    [
      "a tool that does not exist",
      "agents/coder.md",
      agent("coder", "[read_file, edit_file]"),
      `agents/coder.md: coder has unrecognized tool: edit_file | ${dropsAgent}`,
    ],
    [
      "a tool of another tier",
      "agents/architect.md",
      agent("architect", "[read_file, write_file]"),
      "agents/architect.md: Read-only agent architect has forbidden tool: write_file",
    ],
    [
      "an old name of a tool, on a line of its own",
      "agents/architect.md",
      agent("architect", "\n  - read_file\n  - web_search"),
      `agents/architect.md: lists web_search, which is now called google_web_search | ${dropsAgent}`,
    ],
    [
      "an agent under another name",
      "agents/tester.md",
      agent("testr"),
      `agents/tester.md: tester has invalid front matter: name is "testr", the file name says "tester" | ${dropsAgent}`,
    ],
  ]);

  test("a missing folder", async () => {
    rmSync(join(root, "agents"), { recursive: true });
    expect(await problems()).toContain("agents: is missing: Maestro has no agents");
  });
});

describe("in hooks it finds", () => {
  const file = "hooks/hooks.json";
  const hooks = (value: unknown) => json({ hooks: value });
  const one = (change: object) => hooks({ BeforeTool: [{ hooks: [{ ...hook, ...change }] }] });
  const of = (problem: string, hint?: string) =>
    `${file}:3: BeforeTool: ${problem}${hint === undefined ? "" : ` | ${hint}`}`;
  finds([
    ["invalid JSON", file, "[", `${file}: is not a JSON object with an object "hooks": Gemini CLI loads no hook`],
    [
      "events without the outer object",
      file,
      json({ BeforeTool: [] }),
      `${file}: is not a JSON object with an object "hooks": Gemini CLI loads no hook`,
    ],
    [
      "an unknown event",
      file,
      hooks({ BeforeTools: [] }),
      `${file}:3: BeforeTools: Gemini CLI has no such event | Did you mean "BeforeTool"?`,
    ],
    ["an event that is not a list", file, hooks({ BeforeTool: {} }), of("must be a list of definitions")],
    [
      "a definition without hooks",
      file,
      hooks({ BeforeTool: [{ matcher: "glob" }] }),
      of("a definition needs a list of hooks"),
    ],
    [
      "a key of the wrong level",
      file,
      hooks({ BeforeTool: [{ hooks: [hook], timeout: 5000 }] }),
      of('a definition has no key "timeout"'),
    ],
    [
      "a matcher that is not a pattern",
      file,
      hooks({ BeforeTool: [{ matcher: "write_file|(", hooks: [hook] }] }),
      of("the matcher write_file|( is not a regular expression: Gemini CLI would compare it literally"),
    ],
    [
      "a matcher with a tool that does not exist",
      file,
      hooks({ BeforeTool: [{ matcher: "^(write_file|edit_file)$", hooks: [hook] }] }),
      of("the matcher names edit_file, which is not a tool"),
    ],
    [
      "a matcher that is not a string",
      file,
      hooks({ BeforeTool: [{ matcher: ["glob"], hooks: [hook] }] }),
      of("matcher must be a string"),
    ],
    [
      "sequential that is not a boolean",
      file,
      hooks({ BeforeTool: [{ sequential: "yes", hooks: [hook] }] }),
      of("sequential must be true or false"),
    ],
    ["another type", file, one({ type: "plugin" }), of('the type of a hook must be "command" (got: "plugin")')],
    ["no type", file, one({ type: undefined }), of('the type of a hook must be "command" (got: none)')],
    ["an empty command", file, one({ command: " " }), of("a hook needs a command that is not empty")],
    ["an unknown key", file, one({ timeOut: 5000 }), of('a hook has no key "timeOut"', 'Did you mean "timeout"?')],
    ["a time limit in seconds", file, one({ timeout: 5 }), of("timeout must be milliseconds, at least 100 (got: 5)")],
    ["variables that are not strings", file, one({ env: { A: 1 } }), of("env must map names to strings")],
    ["a name that is not a string", file, one({ name: 1 }), of("name must be a string")],
    [
      "a missing program",
      file,
      one({ command: 'node "${extensionPath}/dist/hooks.cjs" x' }),
      of("the command starts dist/hooks.cjs, which does not exist", 'Run "npm run build".'),
    ],
    [
      "a placeholder that is not replaced",
      file,
      one({ command: "node ${extensionDir}/dist/hook.cjs ${HOME}" }),
      of("Gemini CLI does not replace ${extensionDir}", "It replaces extensionPath and workspacePath."),
    ],
  ]);
});

describe("in programs it finds", () => {
  finds([
    [
      "a missing part, once",
      "dist/hook.cjs",
      'require("./hook-guard.cjs");require("./hook-guard.cjs");require("./mcp.js")',
      'dist/hook-guard.cjs: is missing: dist/hook.cjs loads it | Install the extension again; in a checkout, run "npm run build".',
    ],
  ]);
});

describe("in commands it finds", () => {
  const file = "commands/maestro/status.toml";
  const drops = "Gemini CLI drops this command.";
  finds([
    [
      "invalid TOML",
      file,
      'description = "x"\nprompt = "a\n',
      `${file}:2: cannot be read as TOML: control characters are not allowed in strings | ${drops}`,
    ],
    ["no prompt", file, 'description = "x"\n', `${file}: has no prompt string | ${drops}`],
    [
      "a prompt that is not a string",
      file,
      'description = "x"\nprompt = ["a"]\n',
      `${file}: has no prompt string | ${drops}`,
    ],
    [
      "no description",
      file,
      'prompt = "x"\n',
      `${file}: has no description: the list of commands says nothing about it`,
    ],
    [
      "a key that is not read",
      file,
      'description = "x"\nprompt = "x"\nargs = "y"\n',
      `${file}: a command has no key "args"`,
    ],
    [
      "a shell call that is not closed",
      file,
      'description = "x"\nprompt = "!{echo {}"\n',
      `${file}: !{ is not closed: the command fails when it is used`,
    ],
    [
      "an escape that only newer parsers know",
      file,
      'description = "x"\nprompt = """\na \\\\ b \\e\n"""\n',
      `${file}:2: the escape \\e is not known to Gemini CLI | Double the backslash, or use ''' quotes.`,
    ],
    [
      "a byte order mark",
      file,
      '\uFEFFdescription = "x"\nprompt = "x"\n',
      `${file}:1: starts with a byte order mark, which Gemini CLI does not accept | ${drops}`,
    ],
    [
      "quotes at the end of a long text",
      file,
      "description = 'x'\nprompt = '''say 'x''''\n",
      `${file}:2: a string ends with more than three quotes, which Gemini CLI does not accept | ${drops}`,
    ],
    [
      "a file that is not a command",
      "commands/maestro/run.md",
      "x",
      "commands/maestro/run.md: is not a command: only .toml files are",
    ],
    [
      "a name that the CLI changes",
      "commands/a b.toml",
      "x",
      "commands/a b.toml: has a name with characters that Gemini CLI replaces with _",
    ],
  ]);
});

describe("in skills it finds", () => {
  const file = "skills/delegation/SKILL.md";
  const ignored = "Gemini CLI ignores this skill.";
  finds([
    [
      "no front matter",
      file,
      "Delegate.\n",
      `${file}: does not start with YAML between two bare --- lines | ${ignored}`,
    ],
    [
      "fences with trailing spaces",
      file,
      "--- \nname: delegation\ndescription: x\n---\nx\n",
      `${file}: does not start with YAML between two bare --- lines | ${ignored}`,
    ],
    [
      "invalid YAML",
      file,
      "---\nname: delegation\ndescription: [\n---\nx\n",
      expect.stringMatching(
        `^${file}:\\d: the front matter cannot be read as YAML: .* \\| ${ignored}$`,
      ) as unknown as string,
    ],
    [
      "no description",
      file,
      "---\nname: delegation\n---\nx\n",
      `${file}: needs a name and a description, both strings | ${ignored}`,
    ],
    [
      "another name",
      file,
      "---\nname: delegating\ndescription: x\n---\nx\n",
      `${file}: name is "delegating", the folder says "delegation"`,
    ],
    [
      "a key that is not read",
      file,
      "---\nname: delegation\ndescription: x\ntools: []\n---\nx\n",
      `${file}: Gemini CLI does not read the key "tools" of a skill`,
    ],
    ["no text", file, "---\nname: delegation\ndescription: x\n---\n", `${file}: has no text below its front matter`],
    [
      "a folder without a skill",
      "skills/planning/notes.md",
      "x",
      "skills/planning/SKILL.md: is missing: the folder is not a skill",
    ],
    [
      "a skill that is too deep",
      "skills/delegation/more/SKILL.md",
      "x",
      "skills/delegation/more/SKILL.md: is too deep: Gemini CLI looks one folder below skills/",
    ],
  ]);
});

describe("in policies it finds", () => {
  const file = "policies/baseline.toml";
  const of = (problem: string, hint?: string) =>
    `${file}:2: rule 1: ${problem}${hint === undefined ? "" : ` | ${hint}`}`;
  const dropped = "Gemini CLI drops the whole file.";
  const notDeny = "Other decisions are ignored in an extension, or ask where no user answers.";
  finds([
    [
      "invalid TOML",
      file,
      "[[rule]]\ntoolName = x\n",
      `${file}:2: cannot be read as TOML: invalid value | Gemini CLI drops this file: it denies nothing.`,
    ],
    [
      "a rule in single brackets",
      file,
      '[rule]\ntoolName = "glob"\n',
      `${file}: rules belong under [[rule]], with two brackets`,
    ],
    [
      "rules under another name",
      file,
      '[[rules]]\ntoolName = "glob"\n',
      `${file}: "rules" is not used here | Rules belong under [[rule]].`,
    ],
    [
      "another decision",
      file,
      rule({ decision: '"ask_user"' }),
      of('the decision must be "deny" (got: "ask_user")', notDeny),
    ],
    [
      "a priority of the next tier",
      file,
      rule({ priority: "1000" }),
      of("priority must be an integer from 0 to 999 (got: 1000)", dropped),
    ],
    [
      "a priority that is not an integer",
      file,
      rule({ priority: "1.5" }),
      of("priority must be an integer from 0 to 999 (got: 1.5)", dropped),
    ],
    [
      "no tool",
      file,
      rule({ toolName: undefined, commandRegex: undefined }),
      of("toolName must be a tool or a list of tools", dropped),
    ],
    [
      "a tool that does not exist",
      file,
      rule({ toolName: '["glob", "edit_file"]', commandRegex: undefined }),
      of('the tool "edit_file" does not exist: the rule denies nothing'),
    ],
    [
      "an old name of a tool",
      file,
      rule({ toolName: '"web_search"', commandRegex: undefined }),
      of('the tool "web_search" does not exist: the rule denies nothing'),
    ],
    [
      "an agent that does not exist",
      file,
      rule({ subagent: '"architekt"' }),
      of('the agent "architekt" does not exist', 'Did you mean "architect"?'),
    ],
    [
      "a key that the CLI ignores",
      file,
      rule({ subagents: '"architect"' }),
      of('Gemini CLI ignores the key "subagents"', 'Did you mean "subagent"?'),
    ],
    [
      "no message",
      file,
      rule({ denyMessage: undefined }),
      of("has no denyMessage: the model is not told what to do instead"),
    ],
    [
      "a rule for yolo",
      file,
      rule({ modes: '["yolo"]' }),
      of("a rule for the mode yolo is ignored in an extension", "Remove modes: the rule then applies in every mode."),
    ],
    [
      "a pattern that does not compile",
      file,
      rule({ commandRegex: "'rm ('" }),
      of('commandRegex is not a regular expression: Invalid regular expression: /"command":"rm (/: Unterminated group'),
    ],
    [
      "a pattern that the CLI rejects",
      file,
      rule({ commandRegex: "'rm (-[a-z]+ )*x'" }),
      of("commandRegex is rejected by Gemini CLI: a repeated group with a repetition in it, or over 2048 characters"),
    ],
    [
      "an alternative outside brackets",
      file,
      rule({ commandRegex: "'rm -rf|mv'" }),
      of("commandRegex has a | outside brackets: its second half would match anywhere"),
    ],
    [
      "anchors in JSON",
      file,
      rule({ commandRegex: "'rm -rf /$'" }),
      of("commandRegex is matched inside JSON text: ^ and $ match nothing there"),
    ],
    [
      "a pattern for another tool",
      file,
      rule({ toolName: '["run_shell_command"]' }),
      of('commandRegex and commandPrefix need toolName = "run_shell_command", not a list'),
    ],
    [
      "two patterns",
      file,
      rule({ argsPattern: "'x'" }),
      of("only one of argsPattern, commandRegex and commandPrefix is allowed"),
    ],
    [
      "a list of mixed types",
      file,
      rule({ toolName: '["glob", 1]', commandRegex: undefined }),
      `${file}: the list rule.0.toolName mixes types of values, which Gemini CLI does not accept | Gemini CLI drops this file: it denies nothing.`,
    ],
    [
      "a file that is not a policy",
      "policies/notes.txt",
      "x",
      "policies/notes.txt: is not a policy: only .toml files directly in policies/ are",
    ],
  ]);
});

describe("in prose it finds", () => {
  const text = (line: string) => `First line.\n${line}\n`;
  const none = "is not a tool, nor a word of docs/ or templates/";
  finds([
    [
      "a tool that does not exist",
      "protocols/base.md",
      text("Use `edit_file` here."),
      `protocols/base.md:2: edit_file ${none}`,
    ],
    [
      "a misspelt tool of Maestro",
      "protocols/base.md",
      text("Call maestro_session_reed now."),
      `protocols/base.md:2: maestro_session_reed ${none} | Did you mean "maestro_session_read"?`,
    ],
    [
      "a misspelt tool of Maestro's server",
      "protocols/base.md",
      text("Call mcp_maestro_maestro_progres."),
      `protocols/base.md:2: mcp_maestro_maestro_progres ${none}`,
    ],
    [
      "a misspelt word",
      "GEMINI.md",
      text("Set `blocked_bye` to a list."),
      `GEMINI.md:2: blocked_bye ${none} | Did you mean "blocked_by"?`,
    ],
    [
      "an old name of a tool",
      "skills/delegation/SKILL.md",
      `${good["skills/delegation/SKILL.md"]}Use \`search_file_content\`.\n`,
      "skills/delegation/SKILL.md:7: the tool search_file_content is now called grep_search",
    ],
    [
      "a verb that does not exist",
      "GEMINI.md",
      text("Run `maestro stauts` or\n`node bin/maestro.js runn x`."),
      'GEMINI.md:2: maestro has no verb "stauts" | Did you mean "status"?',
      'GEMINI.md:3: maestro has no verb "runn" | Did you mean "run"?',
    ],
    [
      "a subcommand that does not exist",
      "GEMINI.md",
      text("```sh\nls\nmaestro session crate x\n```"),
      'GEMINI.md:4: maestro session has no verb "crate" | Did you mean "create"?',
    ],
    [
      "a verb in a shell call",
      "commands/maestro/status.toml",
      'description = "x"\nprompt = "!{maestro stat}"\n',
      'commands/maestro/status.toml:2: maestro has no verb "stat" | Did you mean "status"?',
    ],
    [
      "a command that does not exist",
      "templates/plan.md",
      text("Go on with /maestro:resume."),
      "templates/plan.md:2: the command /maestro:resume does not exist",
    ],
    [
      "a skill that does not exist",
      "GEMINI.md",
      text("Activate the `delegating` skill, or skill `execution`."),
      'GEMINI.md:2: the skill delegating does not exist | Did you mean "delegation"?',
      "GEMINI.md:2: the skill execution does not exist",
    ],
    [
      "a file that does not exist",
      "GEMINI.md",
      text("See ${extensionPath}/protocols/bas.md, docs/fields.md and docs/other.md."),
      "GEMINI.md:2: protocols/bas.md does not exist",
      "GEMINI.md:2: docs/other.md does not exist",
    ],
    [
      "a file of Maestro in a protocol",
      "protocols/base.md",
      text("See skills/none/SKILL.md and docs/mine.md."),
      "protocols/base.md:2: skills/none/SKILL.md does not exist",
    ],
    [
      "a setting that does not exist",
      "GEMINI.md",
      text("MAESTRO_STATE_DIRS, MAESTRO_AGENT and MAESTRO_* are read."),
      'GEMINI.md:2: MAESTRO_STATE_DIRS is not a setting | Did you mean "MAESTRO_STATE_DIR"?',
    ],
    [
      "an agent that does not exist",
      "GEMINI.md",
      text('Delegate with `agent_name: "codr"`.').replace("agent_name", "agent"),
      'GEMINI.md:2: the agent codr does not exist | Did you mean "coder"?',
    ],
    [
      "an unknown name in a list of agents",
      "GEMINI.md",
      text("| coder, tester, data-engineer |\n\n`architect`, `coder` or `archtect`"),
      "GEMINI.md:2: the agent data-engineer does not exist",
      'GEMINI.md:4: the agent archtect does not exist | Did you mean "architect"?',
    ],
  ]);

  test.each([
    "Use `foo_bar.ts` and `<state_dir>/plans`, `$some_var` and `a/b_c/d`.",
    "Set `blocked_*`, `agent_name` and `file_path`; tools of ours begin with `mcp_maestro_`.",
    "Outside of code some_words_like_this are free.",
    "```py\nsnake_case = 1\n```",
    "Maestro runs; the maestro extension is here.",
    "`maestro <verb>` and `maestro help run`.",
    "`agents/<name>.md`, agents/*.md, .gemini/agents/x.md, <state_dir>/docs/x.md, my-agents/x.md.",
    "coder, tester, and then you",
    "coder or tester, whoever is free",
  ])("nothing in %j", async (line) => {
    put("GEMINI.md", `${line}\n`);
    expect(await problems()).toEqual([]);
  });
});

describe("the budget", () => {
  const words = (tokens: number) => "word".repeat(tokens);
  test("counts what a standard run reads", async () => {
    put("GEMINI.md", words(100));
    put("commands/maestro/orchestrate.toml", `description = "x"\nprompt = "${words(200)}"\n`);
    put("protocols/agent-base-protocol.md", words(300));
    put("skills/delegation/SKILL.md", `---\nname: delegation\ndescription: x\n---\n${words(400)}`);
    put("dist/mcp-list.json", JSON.stringify({ techlead: [words(500)], attempts: [] }));
    const { problems: found, budget } = await lintExtension(root, verbs);
    expect(found).toEqual([]);
    expect(budget).toEqual({
      parts: [
        { file: "GEMINI.md", tokens: 100 },
        { file: "commands/maestro/orchestrate.toml", tokens: 208 },
        { file: "protocols/agent-base-protocol.md", tokens: 300 },
        { file: "skills/delegation/SKILL.md", tokens: 410 },
        { file: "dist/mcp-list.json", tokens: 501 },
      ],
      total: 1519,
    });
  });

  finds([
    [
      "has a limit for GEMINI.md",
      "GEMINI.md",
      words(900),
      "GEMINI.md: has about 900 tokens; it must have fewer than 900 | A lead gets it with every command: move what only some need into a skill.",
    ],
    [
      "has a limit for the file that every conversation reads",
      "CONTEXT.md",
      words(50),
      "CONTEXT.md: has about 50 tokens; it must have fewer than 50 | Every conversation and every agent pays for it: only the lead reads GEMINI.md.",
    ],
    [
      "has a limit for the whole",
      "skills/delegation/SKILL.md",
      `---\nname: delegation\ndescription: x\n---\n${words(12_000)}`,
      "skills/delegation/SKILL.md: a standard run reads about 12071 tokens of instructions; the limit is 12000 | This is the largest part, with 12010.",
    ],
  ]);
});

// Compares every hook with bare `node -e 0`: without a session, with 20 phases and with 1,000. Measures the whole process, each against a
// bare one that ran just before it, and reports the median ratio, because the speed of the machine varies from one second to the next.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, report } from "./support/measure.ts";

const ROUNDS = 31;
/** Of bare Node, for what needs a part beside hook.cjs: loading one takes about a millisecond (docs/decisions/0007). */
const MOST_WITH_PART = 1.2;
const hook = join(process.cwd(), "dist", "hook.cjs");
const maestro = join(process.cwd(), "dist", "maestro.js");

const shell = (command: string) => ({ tool_name: "run_shell_command", tool_input: { command } });
const message = "Agent: architect\nPhase: 1\nSession: s\n\nPROJECT ROOT: /p\n";
/** `part`: needs a part beside hook.cjs, and has a limit of its own. `rare`: runs seldom, so it is reported without a limit. */
const calls: [event: string, what: string, input: object, kind?: "part" | "rare"][] = [
  ["SessionStart", "", { source: "startup" }],
  ["SessionEnd", "", { reason: "exit" }],
  ["BeforeAgent", "", { prompt: "What does this function do?" }],
  ["AfterAgent", "", { prompt: "hello", prompt_response: "Hello!" }],
  ["BeforeTool", "plain command", shell("npm run build --silent")],
  ["BeforeTool", "command with operators", shell('npm test 2>&1 | tail -5 && git diff --stat > "out.log"'), "part"],
  ["BeforeTool", "denied command", shell("echo 'export const a = 1' > src/a.ts"), "part"],
  ["BeforeTool", "heredoc into a file", shell("cat > src/a.ts <<'EOF'\nexport const a = 1;\nEOF"), "part"],
  ["BeforeTool", "removal", shell("rm -rf dist && npm run build"), "part"],
  [
    "BeforeTool",
    "write_file",
    { tool_name: "write_file", tool_input: { file_path: "src/a.ts", content: "x" } },
    "part",
  ],
  ["BeforeTool", "complete_task", { tool_name: "complete_task", tool_input: { result: "done" } }],
  [
    "AfterTool",
    "agent of another extension",
    { tool_name: "invoke_agent", tool_input: { agent_name: "other", prompt: "x" }, tool_response: {} },
    // Its conversation has delegated.
    "part",
  ],
  [
    "AfterTool",
    "report (rare)",
    { tool_name: "invoke_agent", tool_input: { agent_name: "coder", prompt: "Agent: coder\nPhase: 2\n" } },
    "rare",
  ],
  ["BeforeTool", "whole judge (rare)", shell("for f in *.ts; do wc -l $f; done"), "rare"],
  [
    "BeforeTool",
    "delegation (rare)",
    { tool_name: "invoke_agent", tool_input: { agent_name: "coder", prompt: "Phase: 2" } },
    "rare",
  ],
  ["BeforeToolSelection", "", { llm_request: { messages: [{ role: "user", content: message }] } }],
  ["PreCompress", "", { trigger: "auto" }],
];

const phase = (id: number) => ({
  id,
  title: `Phase ${id}`,
  agent: "coder",
  description: `Work on part ${id} of the whole, with everything that belongs to it.`,
  validation_criteria: ["it works"],
  blocked_by: id === 1 ? [] : [id - 1],
  files_created: [`src/part-${id}.ts`],
});

function projectOf(phases: number): string {
  const project = mkdtempSync(join(tmpdir(), "maestro-bench-"));
  if (phases === 0) return project;
  const plan = { title: "Bench", phases: Array.from({ length: phases }, (_, index) => phase(index + 1)) };
  writeFileSync(join(project, "plan.md"), `---\n${JSON.stringify(plan)}\n---\n`);
  const made = spawnSync(process.execPath, [maestro, "session", "create", "plan.md", "--mode", "sequential"], {
    cwd: project,
  });
  if (made.status !== 0) throw new Error(String(made.stderr));
  return project;
}

/** Hooks do not use Node's compile cache; the benchmark also shows what it would gain. */
const hasCache = "enableCompileCache" in nodeModule;
const cache = mkdtempSync(join(tmpdir(), "maestro-bench-cache-"));
const cached = { ...process.env, NODE_COMPILE_CACHE: cache };

function run(args: string[], cwd: string, input: string, env = process.env): number {
  const began = performance.now();
  const { status, stdout } = spawnSync(process.execPath, args, { cwd, input, env });
  const took = performance.now() - began;
  if (status !== 0) throw new Error(`${args.join(" ")}: exit ${status}`);
  if (args[0] === hook) JSON.parse(String(stdout));
  return took;
}

for (const [phases, limit] of [
  [0, 1.1],
  [20, 1.1],
  [1000, 1.5],
] as const) {
  const project = projectOf(phases);
  const bare: number[] = [];
  const ratios = calls.map(() => [] as number[]);
  const withCache = calls.map(() => [] as number[]);
  for (let round = 0; round < ROUNDS; round++) {
    calls.forEach(([event, , input], index) => {
      // Every hook searches the delegations of its conversation, so delegations get a separate one.
      const session_id = "tool_name" in input && input.tool_name === "invoke_agent" ? "delegating" : "bench";
      const document = JSON.stringify({ session_id, cwd: project, hook_event_name: event, ...input });
      const beside = run(["-e", "0"], project, "");
      bare.push(beside);
      ratios[index]?.push(run([hook, event], project, document) / beside);
      // The first run of each hook fills the cache.
      if (hasCache && round === 0) run([hook, event], project, document, cached);
      if (hasCache) withCache[index]?.push(run([hook, event], project, document, cached) / beside);
    });
  }
  console.log(`  ${phases === 0 ? "no session" : `${phases} phases`}: node -e 0 takes ${median(bare).toFixed(1)} ms`);
  calls.forEach(([event, what, , kind], index) => {
    const most = kind === "part" ? Math.max(limit, MOST_WITH_PART) : limit;
    report(`${event} ${what}`.trim(), median(ratios[index] ?? []), "x", kind === "rare" ? undefined : most);
    if (hasCache) report("  with a compile cache", median(withCache[index] ?? []), "x");
  });
  rmSync(project, { recursive: true });
}
rmSync(cache, { recursive: true });

/**
 * A delegated phase in a repository of 5,000 files: what the snapshot adds to the hook that starts it and to the one that records its end.
 * Beside it, in turn, the same hooks where git is not on the PATH and the project has no other file, so that they record and nothing else.
 */
const FILES = 5_000;
const MOST_ADDED_MS = 300;
const DELEGATIONS = 11;

function repositoryOf(files: number): string {
  const project = projectOf(DELEGATIONS + 1);
  writeFileSync(join(project, ".gitignore"), ".gemini/\n");
  for (let at = 0; at < files; at++) {
    const directory = join(project, "src", String(at % 50));
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file-${at}.ts`), `export const value${at} = ${at};\n`);
  }
  const git = (...args: string[]) => {
    const { status, stderr } = spawnSync("git", ["-c", "user.name=b", "-c", "user.email=b@localhost", ...args], {
      cwd: project,
    });
    if (status !== 0) throw new Error(String(stderr));
  };
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "begin");
  return project;
}

/** How long the two hooks of one delegation take. */
function delegation(project: string, id: number, env: NodeJS.ProcessEnv): [begin: number, end: number] {
  const common = { session_id: "delegating", cwd: project, tool_name: "invoke_agent" };
  const report = `## Task Report\n- Status: success\n- Files Created: src/part-${id}.ts\n- Files Modified: none\n- Files Deleted: none\n- Summary: Done.\n\n## Downstream Context\n- Key Interfaces Introduced: none\n`;
  const hooked = (event: string, input: object) => {
    const began = performance.now();
    const { status, stdout } = spawnSync(process.execPath, [hook, event], {
      cwd: project,
      input: JSON.stringify({ ...common, hook_event_name: event, ...input }),
      env,
    });
    if (status !== 0) throw new Error(`${event}: exit ${status}`);
    return { ms: performance.now() - began, reply: JSON.parse(String(stdout)) };
  };
  const start = hooked("BeforeTool", { tool_input: { agent_name: "coder", prompt: `Phase: ${id}` } });
  writeFileSync(join(project, "src", `part-${id}.ts`), "export {};\n");
  const tool_input = start.reply.hookSpecificOutput.tool_input;
  const end = hooked("AfterTool", { tool_input, tool_response: { llmContent: report } });
  const said = end.reply.hookSpecificOutput?.additionalContext ?? "";
  if (!said.includes("as completed")) throw new Error(said);
  return [start.ms, end.ms];
}

const repository = repositoryOf(FILES);
const small = projectOf(DELEGATIONS + 1);
mkdirSync(join(small, "src"));
const added: { begin: number[]; end: number[] } = { begin: [], end: [] };
const home = { ...process.env, XDG_CACHE_HOME: mkdtempSync(join(tmpdir(), "maestro-bench-home-")) };
for (let id = 1; id <= DELEGATIONS; id++) {
  const [begin, end] = delegation(repository, id, home);
  const [plainBegin, plainEnd] = delegation(small, id, { ...home, PATH: "" });
  // The first one creates Maestro's directory for the repository.
  if (id === 1) continue;
  added.begin.push(begin - plainBegin);
  added.end.push(end - plainEnd);
}
console.log(`  a delegation in a repository of ${FILES} files, beside one without a snapshot`);
report("BeforeTool with a snapshot adds", median(added.begin), "ms", MOST_ADDED_MS);
report("AfterTool with a snapshot adds", median(added.end), "ms", MOST_ADDED_MS);
for (const path of [repository, small, home.XDG_CACHE_HOME]) rmSync(path, { recursive: true });

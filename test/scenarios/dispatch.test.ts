// The batch runner of the design documents with real processes: a stand-in for gemini on the PATH, the built command, real kills.
// Every test has a project of its own; most of them wait more than they compute, so they run side by side.

import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import {
  batchOf,
  codesOf,
  dispatch,
  header,
  play,
  prompt,
  result,
  type Steps,
  shellGemini,
  stackOf,
  startOf,
  summaryOf,
  test,
} from "../support/dispatch.ts";
import { allGone, type Background, background, maestro, processesOf, spawned, until } from "../support/processes.ts";
import { type Project, root } from "../support/project.ts";
import type { StandIn } from "../support/stand-in.ts";

describe("an agent of a dispatch", () => {
  const words = `--foo "two words" '$HOME' * \`id\` $(id) a\\ b "" -- --allowed-tools=ls`;
  const split = ["--foo", "two words", "$HOME", "*", "`id`", "$(id)", "a b", "", "--", "--allowed-tools=ls"];

  test.concurrent("gets exactly the documented command line, without the prompt in it (E52-E54, F67, F77, G80, G81, C8, C11)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [], technical_writer: [], "architect.look": [] });
    const env = { MAESTRO_DEFAULT_MODEL: "m-all", MAESTRO_WRITER_MODEL: "m-writer", MAESTRO_GEMINI_EXTRA_ARGS: words };
    const run = await dispatch(project, agent.env(env));
    expect(run.code, run.stderr).toBe(0);
    const policy = (tier: string) => [
      "--policy",
      join(project.path, `batch/results/policy-${tier}.toml`),
      "--policy",
      "~/.gemini/policies",
    ];
    const fixed = ["--approval-mode=yolo", "--output-format", "json"];
    expect(startOf(agent, "coder")?.argv).toEqual([
      ...fixed,
      "-m",
      "m-all",
      ...policy("full"),
      "--skip-trust",
      ...split,
    ]);
    expect(startOf(agent, "technical-writer")?.argv).toEqual([
      ...fixed,
      "-m",
      "m-writer",
      ...policy("read-write"),
      "--skip-trust",
      ...split,
    ]);
    expect(startOf(agent, "architect")?.argv).toEqual([
      ...fixed,
      "-m",
      "m-all",
      ...policy("read-only"),
      "--skip-trust",
      ...split,
    ]);
    expect(run.stderr).toContain("WARNING: --allowed-tools is deprecated");
    expect(run.stderr).toContain("--policy");
    expect(run.stdout).toContain("  Model:        m-all\n");
    expect(project.read("batch/results/policy-read-only.toml")).toContain(
      'toolName = ["write_file", "replace", "run_shell_command"]',
    );

    const plain = { MAESTRO_GEMINI_EXTRA_ARGS: "--allowed-tools ls" };
    expect((await dispatch(project, agent.env(plain))).stderr).toContain("WARNING: --allowed-tools is deprecated");
    expect(agent.notes("start").at(-3)?.argv).not.toContain("-m");
  });

  test.concurrent("causes no warning without --allowed-tools, and has its own model when none is set (E52, F77)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [] });
    const run = await dispatch(
      project,
      agent.env({ MAESTRO_GEMINI_EXTRA_ARGS: "--tools-allowed", MAESTRO_WRITER_MODEL: "w" }),
    );
    expect(run.stderr).toBe("coder: started\ncoder: success\n");
    expect(run.stdout).toContain("  Model:        each agent's own\n");
    expect(startOf(agent, "coder")?.argv).toEqual([
      "--approval-mode=yolo",
      "--output-format",
      "json",
      "--policy",
      join(project.path, "batch/results/policy-full.toml"),
      "--policy",
      "~/.gemini/policies",
      "--skip-trust",
      "--tools-allowed",
    ]);
  });

  test.concurrent("gets its prompt on stdin behind the project root, once, up to 1,048,576 bytes (F74, G78, G79, G102, C46)", async ({
    project,
    agent,
  }) => {
    shellGemini(project, "cat");
    const texts = {
      "coder.plain": "ONE `id` $HOME \\n 'ü' \u{1f3bc}",
      "coder.headed": `${header(project)}TWO\n`,
      "coder.elsewhere": `${header(project, "/elsewhere")}THREE`,
      "coder.full": `${"x".repeat(1_048_573)}ü\n`,
    };
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0d, 0x0a]);
    prompt(project, "coder.bytes", bytes);
    symlinkSync(project.write("shared.txt", "LINKED"), join(project.path, "batch/prompts/coder.link.txt"));
    for (const [name, text] of Object.entries(texts)) prompt(project, name, text);
    expect((await dispatch(project, agent.env())).code).toBe(0);
    const given = (name: keyof typeof texts) => result(project, `${name}.json`);
    expect(given("coder.plain")).toBe(header(project) + texts["coder.plain"]);
    expect(result(project, "coder.link.json")).toBe(`${header(project)}LINKED`);
    expect(given("coder.headed")).toBe(texts["coder.headed"]);
    expect(given("coder.elsewhere")).toBe(header(project) + texts["coder.elsewhere"]);
    const raw = readFileSync(join(project.path, "batch/results/coder.bytes.json"));
    expect(raw).toEqual(Buffer.concat([Buffer.from(header(project)), bytes]));
    expect(given("coder.full") === header(project) + texts["coder.full"]).toBe(true);
    expect(project.list("batch/results").filter((name) => name.startsWith("."))).toEqual([]);
  });

  test.concurrent("gets the protocols in front of its prompt with --with-protocols, and only then (C46)", async ({
    project,
    agent,
  }) => {
    const text = play([["prompt"]], "Work on it.");
    prompt(project, "coder", text);
    prompt(project, "tester", header(project) + text);
    expect((await dispatch(project, agent.env())).code).toBe(0);
    expect((await dispatch(project, agent.env(), "--with-protocols")).code).toBe(0);
    const protocols = ["agent-base-protocol", "filesystem-safety-protocol"].map((name) =>
      readFileSync(join(root, `protocols/${name}.md`), "utf8").trim(),
    );
    const plain = header(project) + text;
    const full = header(project) + [...protocols, text].join("\n\n");
    expect(agent.notes("prompt").map((note) => note.prompt)).toEqual([plain, plain, full, full]);
  });

  test.concurrent("gets an allow-listed environment and what --pass-env adds (T9, T10)", async ({ project, agent }) => {
    batchOf(project, { coder: [["environment"]] });
    const ours = { MAESTRO_WORKERS: "redis://queue.example", MAESTRO_WORKER_KEY: "k".repeat(32) };
    const others = { CANARY_SECRET: "1", OTHER: "2", THIRD: "3", NODE_OPTIONS: "", GEMINI_API_KEY: "k" };
    const env = agent.env({ ...others, ...ours });
    const first = await dispatch(project, env);
    const second = await dispatch(project, env, "--pass-env", "OTHER,THIRD,MAESTRO_WORKERS,MAESTRO_WORKER_KEY");
    expect([first.code, second.code]).toEqual([0, 0]);
    const [without, passed] = agent.notes("environment").map(({ names }) => names);
    expect(without).toEqual(
      expect.arrayContaining(["PATH", "HOME", "GEMINI_API_KEY", "MAESTRO_AGENT", "MAESTRO_ATTEMPT"]),
    );
    for (const name of ["CANARY_SECRET", "OTHER", "NODE_OPTIONS", ...Object.keys(ours)])
      expect(without).not.toContain(name);
    expect(passed?.filter((name) => !without?.includes(name))).toEqual(["OTHER", "THIRD"]);
    expect(agent.notes("start").map((note) => note.agent)).toEqual(["coder", "coder"]);
  });

  test.concurrent("is found when --pass-env comes before the directory", async ({ project, agent }) => {
    batchOf(project, { coder: [["environment"]] });
    const run = await maestro(project, ["dispatch", "--pass-env", "OTHER", "batch"], agent.env({ OTHER: "2" }));
    expect(run.code, run.stderr).toBe(0);
    expect(agent.notes("environment")[0]?.names).toContain("OTHER");
  });
});

describe("names and settings of a dispatch", () => {
  test.concurrent("allow any agent name without agents/, sanitise names, and add a label (F64, F66, F72)", async ({
    project,
    agent,
  }) => {
    mkdirSync(join(project.path, "bare"));
    batchOf(project, { "agent-a": [], "my $agent!": [], "my_agent.v 2.x": [], "coder.1": [], "coder.2": [] });
    project.write("batch/prompts/notes.md", "no prompt");
    const run = await dispatch(project, agent.env({ MAESTRO_EXTENSION_PATH: join(project.path, "bare") }));
    expect(run.code, run.stderr).toBe(0);
    expect(summaryOf(project).agents.map((one: Record<string, string>) => [one.name, one.agent])).toEqual([
      ["agent-a", "agent-a"],
      ["coder.1", "coder"],
      ["coder.2", "coder"],
      ["myagent", "myagent"],
      ["my_agent.v2.x", "my-agent"],
    ]);
    for (const name of ["agent-a", "coder.1", "coder.2", "myagent", "my_agent.v2.x"]) {
      expect(result(project, `${name}.exit`)).toBe("0\n");
    }
  });

  test.concurrent("come from exported variables, the project's .env, the extension's or the default, in that order, as the banner says (E44-E51, E59, G88)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [], "tester.x": [] });
    const { MAESTRO_STAGGER_DELAY: _unset, ...env } = agent.env();
    project.write(".env", "MAESTRO_MAX_CONCURRENT=2\nMAESTRO_STAGGER_DELAY=0\n");
    project.write(
      ".home/.gemini/extensions/maestro/.env",
      "MAESTRO_MAX_CONCURRENT=9\nMAESTRO_STAGGER_DELAY=9\nMAESTRO_AGENT_TIMEOUT=7\n",
    );
    project.write("ext/.env", "MAESTRO_AGENT_TIMEOUT=90\nMAESTRO_DEFAULT_MODEL=m-ext\n");
    const installed = await dispatch(project, { ...env, MAESTRO_MAX_CONCURRENT: "3", MAESTRO_AGENT_TIMEOUT: "" });
    expect(installed.stdout.split("\n\n")[0]).toBe(
      [
        "Maestro Parallel Dispatch",
        "  Agents:       2 (coder, tester.x)",
        "  Concurrency:  3",
        "  Stagger:      0s",
        "  Timeout:      7 minutes",
        "  Model:        each agent's own",
        `  Project root: ${project.path}`,
      ].join("\n"),
    );
    const named = await dispatch(project, { ...env, MAESTRO_EXTENSION_PATH: join(project.path, "ext") });
    expect(named.stdout).toMatch(
      /Concurrency: {2}2\n {2}Stagger: {6}0s\n {2}Timeout: {6}90 minutes\n {2}Model: {8}m-ext\n/,
    );
    expect(named.stderr).toContain("WARNING: MAESTRO_AGENT_TIMEOUT is 90 minutes");
  });

  test.concurrent("default to all agents at once, five seconds apart, ten minutes each, without a wait after the last (E48-E50, G87, C1)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [] });
    const { MAESTRO_STAGGER_DELAY: _unset, ...env } = agent.env();
    const run = await dispatch(project, env);
    expect(run.stdout).toMatch(/Concurrency: {2}unlimited\n {2}Stagger: {6}5s\n {2}Timeout: {6}10 minutes\n/);
    expect(summaryOf(project).wall_time_seconds).toBeLessThan(5);
    expect(project.list("batch/prompts")).toEqual(["coder.txt"]);
  });
});

describe("a dispatch that has ended", () => {
  test.concurrent("leaves answer, log and real exit code of every agent, a summary and the number of failures, without a retry (G82-G85, G91-G98, G100, C9)", async ({
    project,
    agent,
  }) => {
    batchOf(project, {
      "coder.a": [
        ["stdout", "partial"],
        ["stderr", "warned"],
        ["exit", 3],
      ],
      "coder.b": [["exit", 42]],
      "coder.c": [["quota"]],
      "coder.d": [["kill", "SIGKILL"]],
      "coder.e": [["kill", "SIGTERM"]],
      tester: [
        ["stderr", "noted"],
        ["sleep", 300],
      ],
    });
    for (const name of ["summary.json", "coder.b.json", "tester.json", "tester.exit", "tester.log"]) {
      project.write(`batch/results/${name}`, "stale");
    }
    symlinkSync(project.write("victim", "untouched"), join(project.path, "batch/results/coder.a.json"));
    const run = await dispatch(project, agent.env());
    expect(run.code).toBe(5);
    const failed = (name: string, exit_code: number) => ({ name, agent: "coder", exit_code, status: "failed" });
    const summary = summaryOf(project);
    expect(summary).toEqual({
      batch_status: "partial_failure",
      total_agents: 6,
      succeeded: 1,
      failed: 5,
      wall_time_seconds: expect.any(Number),
      agents: [
        failed("coder.a", 3),
        failed("coder.b", 42),
        failed("coder.c", 173),
        failed("coder.d", 137),
        failed("coder.e", 143),
        { name: "tester", agent: "tester", exit_code: 0, status: "success" },
      ],
    });
    expect(Object.keys(summary)).toEqual([
      "batch_status",
      "total_agents",
      "succeeded",
      "failed",
      "wall_time_seconds",
      "agents",
    ]);
    expect(Number.isInteger(summary.wall_time_seconds)).toBe(true);
    for (const { name, exit_code } of summary.agents) expect(result(project, `${name}.exit`)).toBe(`${exit_code}\n`);
    expect([result(project, "coder.a.json"), result(project, "coder.a.log")]).toEqual(["partial", "warned\n"]);
    expect([result(project, "coder.b.json"), result(project, "tester.log")]).toEqual(["", "noted\n"]);
    expect(result(project, "coder.c.log")).toContain('"code": 429');
    expect(JSON.parse(result(project, "tester.json")).response).toContain("## Task Report");
    expect(project.read("victim")).toBe("untouched");
    expect(agent.notes("start")).toHaveLength(6);
    expect(run.stdout).toContain("\npartial_failure: 1 of 6 agents succeeded");
    expect(run.stdout).toContain("Summary: batch/results/summary.json\n");
    expect(run.stderr).toContain("coder.d: failed (exit code 137)\n");
  });

  test.concurrent("leaves results that only their owner may read (T9)", async ({ project, agent }) => {
    batchOf(project, { coder: [], tester: [["exit", 1]] });
    await dispatch(project, agent.env());
    const files = ["coder.exit", "coder.json", "coder.log", "summary.json", "tester.exit", "tester.json", "tester.log"];
    expect(project.list("batch/results")).toEqual(files);
    const modes = files.map((file) => [
      file,
      (statSync(join(project.path, "batch/results", file)).mode & 0o777).toString(8),
    ]);
    expect(modes).toEqual(files.map((file) => [file, "600"]));
  });

  test.concurrent("removes the prompts when that is wanted, and succeeds only when all agents succeeded (E51, G96, G99)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [], architect: [] });
    const run = await dispatch(project, agent.env({ MAESTRO_CLEANUP_DISPATCH: "true" }));
    expect(run.code).toBe(0);
    expect(summaryOf(project)).toMatchObject({ batch_status: "success", total_agents: 2, succeeded: 2, failed: 0 });
    expect(project.list("batch")).toEqual(["results"]);
  });

  test.concurrent("exits with 255 after 256 failures, not with 0 (G98, C37)", async ({ project, agent }) => {
    shellGemini(project, "exit 1");
    for (let n = 1; n <= 256; n++) prompt(project, `coder.${n}`, "x");
    expect((await dispatch(project, agent.env({ MAESTRO_MAX_CONCURRENT: "8" }))).code).toBe(255);
    expect(summaryOf(project)).toMatchObject({ batch_status: "partial_failure", total_agents: 256, failed: 256 });
  });

  test.concurrent("keeps at most 50 MB of an answer, which then has failed, and at most 10 MB of a log (P7, F15)", async ({
    project,
    agent,
  }) => {
    shellGemini(project, `eval "$(sed -n 's/^DO //p')"`);
    // The agents exit before the engine reads their output size, one after another, so that no order hides the error.
    const quick = ["coder.1", "coder.2", "coder.3", "coder.4"];
    for (const name of quick) prompt(project, name, "DO exec truncate -s 60000000 /proc/self/fd/1");
    prompt(project, "coder.stays", "DO head -c 60000000 /dev/zero; exec sleep 60");
    prompt(project, "tester", "DO head -c 12000000 /dev/zero >&2; echo the last word >&2");
    const run = await dispatch(project, agent.env({ MAESTRO_MAX_CONCURRENT: "1" }));
    const size = (file: string) => statSync(join(project.path, "batch/results", file)).size;
    for (const name of [...quick, "coder.stays"]) {
      expect(size(`${name}.json`), name).toBe(50 * 1024 * 1024);
      expect(result(project, `${name}.exit`), name).not.toBe("0\n");
    }
    expect(size("tester.log")).toBeLessThanOrEqual(10 * 1024 * 1024);
    expect(result(project, "tester.log").slice(-200)).toContain("the last word");
    expect(run.code).toBe(5);
    expect(summaryOf(project)).toMatchObject({ succeeded: 1, failed: 5 });
  });

  test.concurrent("counts a program that cannot be started as a failed agent, and finishes the batch (G92)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [], tester: [] });
    chmodSync(project.write(".bin/gemini", "#!/no/such/interpreter\n"), 0o755);
    const run = await dispatch(project, agent.env());
    expect([run.code, codesOf(project)]).toEqual([2, { coder: 127, tester: 127 }]);
    expect(result(project, "tester.log")).toContain("gemini");

    project.write(".home/.gemini/extensions/maestro/.env", `MAESTRO_GEMINI_EXTRA_ARGS=${"x".repeat(200_000)}\n`);
    const long = await dispatch(project, agent.env({ MAESTRO_STAGGER_DELAY: "1" }));
    expect([long.code, codesOf(project)]).toEqual([2, { coder: 126, tester: 126 }]);
    expect(stackOf(long)).toEqual([]);
    expect(result(project, "coder.exit")).toBe("126\n");
  });

  test.concurrent("reports an agent that removes the results as a readable error (P11)", async ({ project, agent }) => {
    batchOf(project, { coder: [], tester: [] });
    shellGemini(project, "rm -rf batch/results");
    const run = await dispatch(project, agent.env({ MAESTRO_STAGGER_DELAY: "1" }));
    expect(run.code).not.toBe(0);
    expect(stackOf(run)).toEqual([]);
    await allGone(project, 500);
  });
});

describe("the limits of a dispatch", () => {
  test.concurrent("let at most MAESTRO_MAX_CONCURRENT agents run, and the next start when any of them ends (G86, G93)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { architect: [["sleep", 5000]], coder: [["sleep", 300]], debugger: [["sleep", 300]], tester: [] });
    const run = await dispatch(project, agent.env({ MAESTRO_MAX_CONCURRENT: "2" }));
    expect(run.code).toBe(0);
    // architect holds one slot all the time; the others take turns in the other one.
    const events = agent.notes().map(({ event }) => event);
    expect(events).toEqual(["start", "start", "end", "start", "end", "start", "end", "end"]);
    const started = agent.notes("start").map((note) => note.agent);
    expect(started.slice(2)).toEqual(["debugger", "tester"]);
    expect(Object.keys(codesOf(project))).toEqual(["architect", "coder", "debugger", "tester"]);
  });

  test.concurrent("space launches by MAESTRO_STAGGER_DELAY, and let no agent wait for another without a cap (E48, G87, G97)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [["sleep", 4000]], tester: [] });
    const run = await dispatch(project, agent.env({ MAESTRO_STAGGER_DELAY: "2" }));
    expect(run.code).toBe(0);
    const [first, second, third] = agent.notes();
    expect([first?.event, second?.event, third?.event]).toEqual(["start", "start", "end"]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1500);
    const { wall_time_seconds } = summaryOf(project);
    expect(wall_time_seconds).toBeGreaterThanOrEqual(4);
    expect(wall_time_seconds).toBeLessThanOrEqual(Math.ceil(run.ms / 1000));
  });

  test.concurrent("stop an agent that runs too long with all it started, whatever it ignores, and record 124 (G89, G90, G95, P8, F13, F14, F16)", async ({
    project,
    agent,
  }) => {
    batchOf(project, {
      "coder.deaf": [["ignore", "SIGTERM"], ["stubborn", 60], ["daemon", 60], ["hang"]],
      "coder.hangs": [["stdout", "half"], ["hang"]],
      "coder.polite": [["child", 60], ["hang"]],
      // These end well in time, but what they started holds on to stdout or ignores TERM.
      "tester.child": [["child", 60]],
      "tester.daemon": [["daemon", 60]],
      "tester.stubborn": [["stubborn", 60]],
    });
    const run = await dispatch(project, agent.env({ MAESTRO_AGENT_TIMEOUT: "2s" }), "--grace", "1s");
    expect(codesOf(project)).toEqual({
      "coder.deaf": 124,
      "coder.hangs": 124,
      "coder.polite": 124,
      "tester.child": 0,
      "tester.daemon": 0,
      "tester.stubborn": 0,
    });
    expect(summaryOf(project).agents[1]).toMatchObject({ status: "timeout" });
    expect([result(project, "coder.deaf.exit"), result(project, "coder.hangs.json")]).toEqual(["124\n", "half"]);
    expect(run.code).toBe(3);
    expect(run.stdout).toContain("  Timeout:      2s\n");
    expect(run.stderr).toContain("coder.hangs: timeout\n");
    expect(run.ms).toBeLessThan(2000 + 1000 + 3000);
    await allGone(project, 500);
  });
});

describe("a dispatch that is interrupted", () => {
  const stubborn: Steps = [
    ["ignore", "SIGTERM"],
    ["ignore", "SIGINT"],
    ["stubborn", 60],
    ["daemon", 60],
    ["prompt"],
    ["hang"],
  ];

  async function started(project: Project, agent: StandIn, count: number, ...args: string[]): Promise<Background> {
    const running = background(
      project,
      ["dispatch", "batch", ...args],
      agent.env({ MAESTRO_CLEANUP_DISPATCH: "true" }),
    );
    // The last thing they do before they hang.
    await until("all agents hang", () => agent.notes("prompt").length === count);
    return running;
  }

  test.concurrent("stops every agent on SIGINT, SIGTERM and SIGHUP, keeps the prompts, and exits with the signal's code (P6, F4)", async ({
    project,
    agent,
  }) => {
    const ends: [NodeJS.Signals, number][] = [
      ["SIGINT", 130],
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ];
    batchOf(project, {
      coder: [["child", 60], ["prompt"], ["hang"]],
      tester: [["stubborn", 60], ["prompt"], ["hang"]],
    });
    for (const [signal, code] of ends) {
      rmSync(agent.journal, { force: true });
      const running = await started(project, agent, 2, "--grace", "300ms");
      running.child.kill(signal);
      expect((await running.ended).code, signal).toBe(code);
      await allGone(project, 500);
      expect(summaryOf(project)).toMatchObject({ batch_status: "partial_failure", failed: 2 });
      expect(project.list("batch/prompts")).toEqual(["coder.txt", "tester.txt"]);
    }
  });

  test.concurrent("does not wait for the grace period after a second signal, neither for an agent nor for its children (F4)", async ({
    project,
    agent,
  }) => {
    batchOf(project, {
      coder: [["ignore", "SIGTERM"], ["prompt"], ["hang"]],
      tester: [["stubborn", 60], ["prompt"], ["hang"]],
    });
    const running = await started(project, agent, 2, "--grace", "12s");
    running.child.kill("SIGINT");
    await until("tester has ended", () => running.stderr().includes("tester: failed"));
    const second = performance.now();
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect(performance.now() - second).toBeLessThan(6000);
    await allGone(project, 500);
  });

  test.concurrent("does not count an agent that never started as a success (P9)", async ({ project, agent }) => {
    batchOf(project, { coder: [], tester: [] });
    const running = background(project, ["dispatch", "batch"], agent.env({ MAESTRO_STAGGER_DELAY: "60" }));
    await until("the first is done", () => running.stderr().includes("coder: success"));
    running.child.kill("SIGTERM");
    const run = await running.ended;
    expect(run.code).toBe(143);
    expect(run.ms).toBeLessThan(15_000);
    expect(agent.notes("start")).toHaveLength(1);
    expect(summaryOf(project)).toMatchObject({
      batch_status: "partial_failure",
      total_agents: 2,
      succeeded: 1,
      failed: 1,
    });
  });

  test.concurrent("leaves no process a second after the grace period of a kill -9, and no summary of an earlier run (P6, F13)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: stubborn, tester: [["prompt"], ["hang"]] });
    project.write("batch/results/summary.json", '{"batch_status":"success"}');
    const running = await started(project, agent, 2, "--grace", "1s");
    const sleeping = () => processesOf(project).filter(({ command }) => command === "sleep 60");
    await until("their children run", () => sleeping().length === 2);
    running.child.kill("SIGKILL");
    await running.ended;
    await allGone(project, 2000);
    expect(project.exists("batch/results/summary.json")).toBe(false);
  });

  test.concurrent("runs its agents to the end when the reader of its output exits (F4)", async ({ project, agent }) => {
    batchOf(project, { coder: [["sleep", 500]] });
    const line = `"$1" "$2" dispatch batch | head -1`;
    const run = await spawned(
      project,
      "sh",
      ["-c", line, "sh", process.execPath, join(root, "dist/maestro.js")],
      agent.env(),
    ).ended;
    expect(run.stdout).toBe("Maestro Parallel Dispatch\n");
    expect(summaryOf(project).batch_status).toBe("success");
  });
});

describe("the scripts of the design documents (C12)", () => {
  test.concurrent("parallel-dispatch.sh works through a link, from any directory, with spaces in paths (F62, F73, G79, E46)", async ({
    project,
    agent,
  }) => {
    project.write("a project/my batch/prompts/coder.txt", play([["prompt"]]));
    project.write("a project/.env", "MAESTRO_DEFAULT_MODEL=m-env\n");
    const at = join(project.path, "a project");
    symlinkSync(join(root, "scripts/parallel-dispatch.sh"), join(project.path, "pd link"));
    const run = await spawned(project, "sh", ["-c", 'cd "$1" && exec "../pd link" "my batch"', "sh", at], agent.env())
      .ended;
    expect(run.code, run.stderr).toBe(0);
    expect(agent.notes("prompt")[0]?.prompt.startsWith(header(project, at))).toBe(true);
    expect(startOf(agent, "coder")?.argv).toContain("m-env");
    expect(project.list("a project/my batch/results")).toEqual([
      "coder.exit",
      "coder.json",
      "coder.log",
      "summary.json",
    ]);
    const refused = await spawned(project, join(root, "scripts/parallel-dispatch.sh"), [], agent.env()).ended;
    expect(refused.code).toBe(64);
  });

  test.concurrent("test-parallel-dispatch.sh proves it, shows what happened and how to clean up (I115)", async ({
    project,
    agent,
  }) => {
    const script = join(root, "scripts/test-parallel-dispatch.sh");
    mkdirSync(join(project.path, "tmp dir"));
    const env = agent.env({ TMPDIR: join(project.path, "tmp dir") });
    const prove = () => spawned(project, script, [], env).ended;

    shellGemini(project, `file=$(sed -n 's/.* to \\(src[^ ]*\\)$/\\1/p'); echo "seen $file" >&2; date >"$file"`);
    const good = await prove();
    expect(good.code, good.stdout + good.stderr).toBe(0);
    expect(good.stdout).toMatch(/Timeout: {6}5 minutes\n[\s\S]*"batch_status": "success"[\s\S]*\nSUCCESS: /);
    expect(good.stdout).toMatch(/\nseen src\/file-a\.txt\n[\s\S]*\nseen src\/file-b\.txt\n/);
    const workspace = /^To clean up: rm -rf '(.*)'$/m.exec(good.stdout)?.[1] ?? "";
    expect(workspace).toContain(join(project.path, "tmp dir"));
    for (const file of ["src/file-a.txt", "src/file-b.txt"]) {
      expect(readFileSync(join(workspace, file), "utf8")).toMatch(/\d\d:\d\d:\d\d/);
    }

    // One does its work, the other only says so.
    shellGemini(project, `file=$(sed -n 's/.* to \\(src[^ ]*\\)$/\\1/p'); case $file in *-a.txt) date >"$file";; esac`);
    const idle = await prove();
    expect(idle.code).toBe(1);
    expect(idle.stdout).toMatch(/\nsrc\/file-b\.txt: not changed\nFAILURE: [\s\S]*\nTo clean up: rm -rf '/);

    shellGemini(project, "exit 9");
    const broken = await prove();
    expect(broken.code).toBe(1);
    expect(broken.stdout).toContain('"exit_code": 9');

    rmSync(join(project.path, ".bin/gemini"));
    for (const tool of ["sh", "readlink", "dirname", "node"]) {
      const found = project.run("sh", ["-c", `command -v ${tool}`]).stdout.trim();
      writeFileSync(join(project.path, ".bin", tool), `#!/bin/sh\nexec '${found}' "$@"\n`, { mode: 0o755 });
    }
    const missing = await spawned(project, script, [], { ...env, PATH: join(project.path, ".bin") }).ended;
    expect(missing.code).toBe(3);
    expect(missing.stderr).toContain("ERROR: gemini was not found on PATH");
    expect(missing.stderr).toContain("npm install -g @google/gemini-cli");
  });
});

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { contextOf, hook } from "../support/hooks.ts";
import { agent, withIsolated } from "../support/isolated.ts";
import { McpClient, withServer } from "../support/mcp.ts";
import { allGone, isAlive, maestro, until, withProcesses } from "../support/processes.ts";
import { type Project, planPath } from "../support/project.ts";
import { played, prepare, type StandIn, scripted } from "../support/stand-in.ts";

const id = "2026-02-14-task-api";
const go = (name: string): [string, string] => ["await", `.bin/${name}`];
const parallel = { mode: "parallel", review: "end" };

/** A session of `phases` that a conversation has created, and its server. */
async function conversation(
  project: Project,
  phases: Parameters<typeof prepare>[1],
  use: (client: McpClient, agent: StandIn) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const agent = prepare(project, phases);
  await withServer(
    project,
    async (client) => {
      await client.ok("maestro_session_write", { action: "create", plan_path: planPath, task: "The task." });
      await use(client, agent);
    },
    agent.env({ MAESTRO_MAX_RETRIES: "0", MAESTRO_EXECUTION_MODE: "ask", ...env }),
  );
}

const journalOf = (project: Project) => project.read(".gemini/state/progress.jsonl");

/** The CPU time that a process has used, in milliseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function watchersOf(pid: number): number {
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkOf(`/proc/${pid}/fd/${fd}`));
  const wakers = open.flatMap((target, at) => (target.includes("inotify") ? [readdirSync(`/proc/${pid}/fd`)[at]] : []));
  return wakers
    .map((fd) => readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8").match(/^inotify/gm)?.length ?? 0)
    .reduce((sum, count) => sum + count, 0);
}

function readlinkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // The server was closed in between.
    return "";
  }
}

describe("maestro_run", () => {
  test("starts the whole plan, which is finished although the server is killed right away (C41, C43)", () =>
    withProcesses(async (project) => {
      const standIn = prepare(project, [
        played(1, [["environment"]]),
        played(2, [], { agent: "tester" }),
        played(3, [], { blocked_by: [1, 2] }),
      ]);
      const { title, phases } = JSON.parse(project.read(planPath).split("---\n")[1] ?? "");
      const lines = [`title: ${title}`, 'status: "draft"', `phases: ${JSON.stringify(phases)}`];
      project.write(planPath, `---\n${lines.join("\n")}\n---\n`);
      const env = standIn.env({ MAESTRO_EXECUTION_MODE: "ask" });
      const client = new McpClient(project, { ...env, GEMINI_API_KEY: "given-key", GOOGLE_API_KEY: "" });
      await client.initialize();
      const create = { action: "create", plan_path: planPath, task: "The task.", ...parallel };
      const { mode: execution_mode, ...rest } = { ...create, approved: true };
      expect(await client.ok("maestro_session_write", { ...rest, execution_mode })).toMatchObject({ approved: true });
      expect(project.read(planPath)).toMatch(/^status: "approved"$/m);
      const { body, bytes } = await client.call("maestro_run", parallel);
      await client.kill("SIGKILL");
      expect(body).toMatchObject({
        started: true,
        session_id: id,
        mode: "parallel",
        review: "end",
        concurrency: "no limit",
        phases: ["1 (coder)", "2 (tester)", "3 (coder)"],
      });
      expect(bytes).toBeLessThanOrEqual(1_500);
      await until("the engine has ended", () => !isAlive(body.engine));
      const starts = standIn.notes("start");
      expect(starts.map(({ phase }) => phase).sort()).toEqual(["1", "2", "3"]);
      const given = standIn.notes("environment")[0]?.values;
      expect(given).toMatchObject({ GEMINI_API_KEY: "given-key" });
      expect(given).not.toHaveProperty("GOOGLE_API_KEY");
      await allGone(project);
      // Another conversation reports it, reviews and completes.
      await withServer(project, async (next) => {
        const { metadata } = await next.ok("maestro_session_read");
        expect(metadata).toMatchObject({
          status: "in_progress",
          execution_mode: "parallel",
          approved: true,
          counts: { completed: 3 },
        });
        expect(await next.ok("maestro_wait")).toMatchObject({
          ended: "end",
          engine: null,
          session: "3 of 3 phases done",
        });
        expect((await next.refused("maestro_run", parallel)).message).toBe("All phases are done");
        expect(await next.ok("maestro_session_write", { action: "complete" })).toMatchObject({ status: "completed" });
      });
      expect(project.exists(`.gemini/state/archive/${id}.jsonl`)).toBe(true);
      expect(project.read(`.gemini/state/archive/${id}.jsonl`)).toContain("The user confirmed maestro_run: parallel");
    }));

  test("says why the engine does not start, and refuses what the user has to decide (C43)", () =>
    withProcesses(async (project) => {
      const phases = [played(1, [["exit", 3]]), played(2, [["hang"]], { blocked_by: [1] })];
      await conversation(project, phases, async (client, agent) => {
        const wrong = await client.refused("maestro_run", { ...parallel, phases: ["9"] });
        expect(wrong).toMatchObject({ error: "usage", message: expect.stringContaining("9") });
        const { engine } = await client.ok("maestro_run", { ...parallel, concurrency: 2 });
        await until("the engine has ended", () => !isAlive(engine));
        const open = await client.refused("maestro_run", parallel);
        expect(open).toMatchObject({
          error: "illegal_transition",
          message: "The user has to decide first about phase 1",
        });
        expect((await client.refused("maestro_run", { ...parallel, mode: "sequential" })).message).toBe(
          "The session runs in parallel mode",
        );
        await client.ok("maestro_decide", { action: "skip", phase_id: 1, user_decision: true });
        const second = await client.ok("maestro_run", parallel);
        await until("the second phase runs", () => agent.notes("start").some(({ phase }) => phase === "2"));
        const busy = await client.refused("maestro_run", parallel);
        expect(busy.message).toBe(`An engine is already running session ${id} (process ${second.engine})`);
        await client.ok("maestro_decide", { action: "stop" });
        await until("the second engine has ended", () => !isAlive(second.engine));
      });
    }));

  test("runs no session of another user, and names the command that shows it (C43)", () =>
    withProcesses(async (project) => {
      const phases = [played(1, [])];
      await conversation(project, phases, async () => undefined);
      const agent = prepare(project, phases);
      const env = agent.env({ XDG_STATE_HOME: `${project.path}/.bin/elsewhere` });
      await withServer(
        project,
        async (client) => {
          const foreign = await client.refused("maestro_run", parallel);
          expect(foreign.message).toContain("was not started by this user on this machine");
          expect(foreign.hint).toMatch(/node ".*dist\/maestro\.js" resume$/);
        },
        env,
      );
      expect(agent.notes("start")).toEqual([]);
    }));

  test("stops for the review of a batch, and continues after the approval (C41, C43)", () =>
    withIsolated(
      { "a.txt": "a\n", "b.txt": "b\n" },
      [
        agent("1", ["a.txt"], ["write", ["a.txt", "done\n"]]),
        { ...agent("2", ["b.txt"], ["write", ["b.txt", "done\n"]]), blocked_by: ["1"] },
      ],
      (project) =>
        withServer(
          project,
          async (client) => {
            const run = { mode: "parallel", review: "batch" };
            await client.ok("maestro_session_write", { action: "create", plan_path: planPath, task: "The task." });
            await client.ok("maestro_run", run);
            const { body, bytes } = await client.call("maestro_wait", { until: "end" });
            expect(body).toMatchObject({
              ended: "decision",
              decision: { phase: "batch-1", kind: "review", phases: ["1"] },
            });
            expect(body.events).toContain("batch-1 waits for the user's review");
            expect(bytes).toBeLessThanOrEqual(1_500);
            const { tree } = body.decision;
            const open = await client.refused("maestro_run", { ...run, review: "end" });
            expect(open.message).toMatch(
              /^(?:The user has to decide first about batch-1|An engine is already running)/,
            );
            const approve = { action: "approve", phase_id: "batch-1", tree, user_decision: true };
            await client.ok("maestro_decide", approve);
            await until("the engine has ended", () => !project.exists(".gemini/state/.engine"));
            await client.ok("maestro_run", run);
            const end = await client.ok("maestro_wait", { until: "end" });
            expect(end).toMatchObject({ ended: "end", session: "2 of 2 phases done" });
            expect(end.events).toContain("batch-1 is approved");
            expect(project.read("b.txt")).toBe("done\n");
          },
          project.agents.env({ MAESTRO_EXECUTION_MODE: "ask" }),
        ),
    ));

  test("runs one attempt at a time in sequential mode, and only the given phases", () =>
    withProcesses(async (project) => {
      const phases = [played(1, [go("go")]), played(2, [], { agent: "tester" }), played(3, [])];
      await conversation(project, phases, async (client, agent) => {
        const begun = await client.ok("maestro_run", { mode: "sequential", review: "end", phases: [1, "2"] });
        expect(begun).toMatchObject({ concurrency: 1, phases: ["1 (coder)", "2 (tester)"] });
        await until("the first phase runs", () => agent.notes("start").length === 1);
        project.write(".bin/go", "");
        expect(await client.ok("maestro_wait", { until: "end" })).toMatchObject({ session: "2 of 3 phases done" });
        const [first, second] = agent.notes("start");
        expect([first?.phase, second?.phase]).toEqual(["1", "2"]);
        expect(agent.notes("start")).toHaveLength(2);
      });
    }));
});

describe("maestro_wait", () => {
  test("returns within a second of the event, misses nothing between two waits, and ends with a decision (C43)", () =>
    withProcesses(async (project) => {
      const phases = [
        played(1, [go("one"), ["report", { summary: "The schema." }]]),
        played(2, [go("two")], { agent: "tester" }),
        played(3, [go("three"), ["exit", 3]], { agent: "tester" }),
      ];
      await conversation(project, phases, async (client, agent) => {
        await client.ok("maestro_run", parallel);
        await until("all have started", () => agent.notes("start").length === 3);
        const waiting = client.ok("maestro_wait");
        project.write(".bin/one", "");
        const recorded = until("phase 1 is completed", () => journalOf(project).includes('"to":"completed"'));
        const [first, since] = await Promise.all([waiting, recorded.then(() => performance.now())]);
        expect(performance.now() - since).toBeLessThan(1_000);
        expect(first).toMatchObject({ ended: "phase", session: "1 of 3 phases done" });
        expect(first.events).toEqual([
          "phase 1 started (coder)",
          "phase 2 started (tester)",
          "phase 3 started (tester)",
          expect.stringMatching(/^phase 1 .* completed in .*: The schema\.$/),
        ]);
        project.write(".bin/two", "");
        await until("phase 2 is completed", () => journalOf(project).match(/"to":"completed"/g)?.length === 2);
        const second = await client.ok("maestro_wait");
        expect(second.events).toEqual([expect.stringMatching(/^phase 2 .* completed/)]);
        expect((await client.ok("maestro_wait", { since: first.since, seconds: 0 })).events).toEqual(second.events);
        const last = client.call("maestro_wait", { until: "end" });
        project.write(".bin/three", "");
        const { body, bytes } = await last;
        expect(body).toMatchObject({ ended: "decision", decision: { phase: "3", kind: "failure" } });
        expect(body.decision.options).toContain("retry");
        expect(body.events).toEqual([expect.stringMatching(/^phase 3 .* failed: /)]);
        expect(bytes).toBeLessThanOrEqual(1_500);
      });
    }));

  test("reports progress at least every 15 s, and costs at most 1 % of a CPU and no watcher in 200 calls (C43)", () =>
    withProcesses(async (project) => {
      await conversation(project, [played(1, [go("go")])], async (client, agent) => {
        await client.ok("maestro_run", parallel);
        await until("it has started", () => agent.notes("start").length === 1);
        const pid = client.child.pid ?? 0;
        for (let at = 0; at < 200; at += 1) await client.ok("maestro_wait", { seconds: 0 });
        expect(watchersOf(pid)).toBe(0);
        const _meta = { progressToken: "p1" };
        const call = { name: "maestro_wait", arguments: { seconds: 6 }, _meta };
        const { result } = await client.request("tools/call", call);
        expect(JSON.parse(result.content[0].text)).toMatchObject({ ended: "time", running: ["1 (coder)"] });
        expect(client.strays).toEqual([
          {
            jsonrpc: "2.0",
            method: "notifications/progress",
            params: { progressToken: "p1", progress: 5, total: 6, message: "0 of 1 phases done" },
          },
        ]);
        // The garbage of the calls before is collected while the first of them wait.
        let share = 1;
        for (let at = 0; at < 4 && share > 0.01; at += 1) {
          const [cpu, time] = [cpuOf(pid), performance.now()];
          await client.ok("maestro_wait", { seconds: 4 });
          share = (cpuOf(pid) - cpu) / (performance.now() - time);
        }
        expect(share).toBeLessThanOrEqual(0.01);
        await maestro(project, ["stop"], agent.env());
      });
    }));

  test("ends at once when it is cancelled, and when the input ends (C43)", () =>
    withProcesses(async (project) => {
      await conversation(project, [played(1, [go("go")])], async (client, agent) => {
        await client.ok("maestro_run", parallel);
        await until("it has started", () => agent.notes("start").length === 1);
        const pid = client.child.pid ?? 0;
        const params = { name: "maestro_wait", arguments: {} };
        client.write(`${JSON.stringify({ jsonrpc: "2.0", id: "w1", method: "tools/call", params })}\n`);
        await until("it waits", () => watchersOf(pid) === 1);
        const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "w1" } };
        client.write(`${JSON.stringify(cancelled)}\n`);
        await until("its watcher is closed", () => watchersOf(pid) === 0);
        const open = client.call("maestro_wait");
        await until("the next one waits", () => watchersOf(pid) === 1);
        const ended = client.end();
        // The events that the cancelled wait did not return.
        expect((await open).body.events).toEqual(["phase 1 started (coder)"]);
        expect((await ended).code).toBe(0);
        await maestro(project, ["stop"], agent.env());
      });
    }));

  test("says at once that no engine runs, and notices that one was killed, as all views do (C43)", () =>
    withProcesses(async (project) => {
      await conversation(project, [played(1, [["hang"]])], async (client, agent) => {
        expect(await client.ok("maestro_wait")).toMatchObject({ ended: "end", engine: null, events: [] });
        const { engine } = await client.ok("maestro_run", parallel);
        await until("it has started", () => agent.notes("start").length === 1);
        expect((await maestro(project, ["status"])).stdout).toContain("Running: phase 1\n");
        expect((await maestro(project, ["diff", "1"])).stderr).toContain("yet: its agent is running");
        expect(hook(project, "SessionStart", {}).reply.systemMessage).toBe(
          `Maestro: an engine (process ${engine}) is running session ${id}, 0 of 1 phases done. maestro_wait follows it.`,
        );
        const turn = contextOf(hook(project, "BeforeAgent", { prompt: "go on" }).reply);
        expect(turn).toContain("In progress: 1 Phase 1 (coder).");
        const waiting = client.ok("maestro_wait");
        process.kill(engine, "SIGKILL");
        const killed = performance.now();
        expect(await waiting).toMatchObject({
          ended: "end",
          engine: null,
          next: expect.stringContaining("interrupted"),
        });
        expect(performance.now() - killed).toBeLessThan(3_000);
        expect((await maestro(project, ["status"])).stdout).toContain("Stopped: phase 1;");
        expect((await maestro(project, ["diff", "1"])).stderr).toContain("has no recorded end");
        const after = contextOf(hook(project, "BeforeAgent", { prompt: "go on" }).reply);
        expect(after).toContain("Interrupted: 1 Phase 1 (coder).");
        expect(hook(project, "SessionStart", {}).reply.systemMessage).toContain("/maestro:resume resumes it.");
      });
    }));

  test("keeps waiting during a retry that needs no decision (C43)", () =>
    withProcesses(async (project) => {
      const phases = [scripted(1, { 1: [["exit", 3]], "*": [] })];
      await conversation(
        project,
        phases,
        async (client) => {
          await client.ok("maestro_run", parallel);
          const { events, ended } = await client.ok("maestro_wait", { until: "end" });
          expect(ended).toBe("end");
          expect(events.map((line: string) => line.replace(/(?: in|:) .*/, ""))).toEqual([
            "phase 1 started (coder)",
            "phase 1 Phase 1 failed",
            "phase 1 Phase 1 is retried",
            "phase 1",
            "phase 1 Phase 1 completed",
          ]);
        },
        { MAESTRO_MAX_RETRIES: "1" },
      );
    }));
});

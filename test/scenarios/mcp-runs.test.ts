import { describe, expect, test } from "vitest";
import { type McpClient, withServer } from "../support/mcp.ts";
import { background, isAlive, maestro, until, withProcesses } from "../support/processes.ts";
import { type Project, planPath, withProject } from "../support/project.ts";
import { played, prepare, StandIn, scripted } from "../support/stand-in.ts";

const id = "2026-02-14-task-api";
const batchOf = (client: McpClient) => client.ok("maestro_dispatch_status", { action: "batch_status", batch_id: id });
const resultOf = (client: McpClient, agent: string, batch_id = id) =>
  client.call("maestro_dispatch_status", { action: "agent_result", batch_id, agent });

/** A detached engine over `phases`. */
async function detached(project: Project, phases: Parameters<typeof prepare>[1]) {
  const agent = prepare(project, phases);
  const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
  const run = await maestro(project, ["run", planPath, "--detach", "--json", "--grace", "300ms"], env);
  expect(run.code, run.stderr).toBe(0);
  return { agent, env, pid: JSON.parse(run.stdout).pid as number };
}

describe("a run in another process", () => {
  test("is shown while it runs, and takes up the decisions of the user (C25, X277, X278)", () =>
    withProcesses(async (project) => {
      const { agent, env, pid } = await detached(project, [
        played(1, [
          ["stderr", "warming up"],
          ["await", ".bin/go"],
          ["report", { summary: "The schema." }],
        ]),
        scripted(2, { 1: [["exit", 3]], "*": [["hang"]] }, { agent: "tester" }),
        played(3, [["hang"]], { agent: "tester", blocked_by: [2] }),
      ]);
      await withServer(
        project,
        async (client) => {
          await until("the second phase has failed", () =>
            project.read(".gemini/state/progress.jsonl").includes('"to":"failed"'),
          );
          await until("the log is there", () => project.exists(`.gemini/parallel/${id}/results/coder.p1-1.log`));
          expect(await batchOf(client)).toMatchObject({
            batch_status: "running",
            total_agents: 2,
            succeeded: 0,
            failed: 1,
            running: 1,
            agents: [
              { name: "coder.p1-1", agent: "coder", phase_id: "1", attempt: 1, exit_code: null, status: "running" },
              { name: "tester.p2-1", exit_code: 3, status: "failed" },
            ],
          });
          const { metadata } = await client.ok("maestro_session_read");
          expect(metadata).toMatchObject({ engine: { pid }, running: [{ id: "1", agent: "coder" }], failed: ["2"] });
          expect(metadata.next).toContain("Phase 2 (tester) has failed: delegate again");
          const busy = await client.refused("maestro_session_write", { action: "complete" });
          expect(busy.message).toContain(`being run by process ${pid}`);
          const asked = await client.refused("maestro_decide", { action: "retry", phase_id: 2 });
          expect(asked.error).toBe("illegal_transition");
          const again = {
            action: "retry",
            phase_id: 2,
            timeout: 20,
            reason: "it was the network",
            user_decision: true,
          };
          expect(await client.ok("maestro_decide", again)).toMatchObject({
            engine_running: true,
            phase_status: "in_progress",
          });
          await until("the second attempt runs", () =>
            agent.notes("start").some((note) => note.phase === "2" && note.attempt === 2),
          );
          const { running } = await client.ok("maestro_progress", { action: "summary" });
          expect(running).toContainEqual({
            phase_id: "2",
            agent: "tester",
            attempt: 2,
            elapsed_ms: expect.any(Number),
          });
          project.write(".bin/go", "");
          await until("the first phase is done", () =>
            project.read(".gemini/state/progress.jsonl").includes('"to":"completed"'),
          );
          const first = await resultOf(client, "coder");
          expect(first.body).toMatchObject({
            name: "coder.p1-1",
            exit_code: 0,
            status: "success",
            report: { valid: true, status: "success", summary: "The schema.", missing: [] },
            tokens: { input: 100, output: 20, cached: 40 },
            log_tail: "warming up\n",
          });
          expect((await resultOf(client, "tester")).body).toMatchObject({
            name: "tester.p2-2",
            status: "running",
            report: null,
          });
          expect((await resultOf(client, "tester.p2-1")).body).toMatchObject({ exit_code: 3, status: "failed" });
          expect(await client.ok("maestro_decide", { action: "stop" })).toMatchObject({ stopped: true, pid });
          await until("the engine is gone", () => !isAlive(pid));
          expect((await batchOf(client)).agents[2]).toMatchObject({ name: "tester.p2-2", status: "interrupted" });
          expect(
            await client.ok("maestro_decide", { action: "skip", phase_id: "2", user_decision: true }),
          ).toMatchObject({
            engine_running: false,
          });
          expect(
            await client.ok("maestro_decide", { action: "abort", reason: "enough", user_decision: true }),
          ).toMatchObject({
            session_id: id,
            aborted: true,
            engine_ended: true,
          });
          expect((await client.ok("maestro_session_read")).metadata.next).toContain("was aborted");
        },
        env,
      );
    }));

  test("is still shown when its session was archived", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [scripted(1, { 1: [["exit", 1]], "*": [] }), played(2, [], { agent: "tester" })]);
      expect((await maestro(project, ["run", planPath, "--yes"], agent.env())).code).toBe(0);
      await withServer(project, async (client) => {
        const { batches } = await client.ok("maestro_dispatch_status", { action: "list_batches" });
        expect(batches).toMatchObject([
          { batch_id: id, batch_status: "success", total_agents: 2, succeeded: 2, failed: 0 },
        ]);
        expect(
          (await batchOf(client)).agents.map(({ name, status }: { name: string; status: string }) => [name, status]),
        ).toEqual([
          ["coder.p1-1", "failed"],
          ["coder.p1-2", "success"],
          ["tester.p2-1", "success"],
        ]);
        expect((await resultOf(client, "coder.p1")).body.name).toBe("coder.p1-2");
      });
    }));
});

describe("a dispatch", () => {
  test("is shown as running until its summary exists, and then with its result (C25, H103, H108, H109)", () =>
    withProcesses(async (project) => {
      const agent = new StandIn(project);
      const play = (steps: object) => `Do it.\nPLAY ${JSON.stringify({ 1: steps })}\n`;
      const batch = ".gemini/parallel/phase-1-batch-1";
      project.write(`${batch}/prompts/coder.one.txt`, play([["await", ".bin/go"]]));
      project.write(`${batch}/prompts/coder.two.txt`, play([["exit", 7]]));
      project.write(`${batch}/prompts/technical_writer.txt`, play([["report", { summary: "Docs." }]]));
      const state = (client: McpClient) =>
        client.ok("maestro_dispatch_status", { action: "batch_status", batch_id: "phase-1-batch-1" });
      await withServer(project, async (client) => {
        expect(await state(client)).toMatchObject({ batch_status: "pending", total_agents: 3, running: 0 });
        const dispatch = maestro(project, ["dispatch", batch], agent.env());
        const hasEnded = (stem: string) => project.exists(`${batch}/results/${stem}.exit`);
        await until("two have ended", () => hasEnded("coder.two") && hasEnded("technical_writer"));
        expect(await state(client)).toMatchObject({ batch_status: "running", running: 1, failed: 1, succeeded: 1 });
        project.write(".bin/go", "");
        expect((await dispatch).code).toBe(1);
        expect(await state(client)).toMatchObject({
          batch_status: "partial_failure",
          total_agents: 3,
          succeeded: 2,
          failed: 1,
          wall_time_seconds: expect.any(Number),
        });
        const doubt = await resultOf(client, "coder", "phase-1-batch-1");
        expect([doubt.isError, doubt.body.error, doubt.body.hint]).toEqual([
          true,
          "usage",
          "Name one of coder.one, coder.two.",
        ]);
        expect((await resultOf(client, "coder.two", "phase-1-batch-1")).body).toMatchObject({
          exit_code: 7,
          status: "failed",
        });
        const writer = await resultOf(client, "technical-writer", "phase-1-batch-1");
        expect(writer.body).toMatchObject({
          name: "technical_writer",
          report: { status: "success", summary: "Docs." },
        });
        const nobody = await resultOf(client, "architect", "phase-1-batch-1");
        expect(nobody.body).toMatchObject({
          error: "not_found",
          hint: expect.stringContaining("coder.one, coder.two"),
        });
      });
    }));

  test("whose dispatch was killed is interrupted at once, and can be dispatched again (X278)", () =>
    withProcesses(async (project) => {
      const agent = new StandIn(project);
      const batch = ".gemini/parallel/killed";
      project.write(`${batch}/prompts/coder.txt`, `Work.\nPLAY ${JSON.stringify({ "*": [["await", ".bin/go"]] })}`);
      const state = (client: McpClient) =>
        client.ok("maestro_dispatch_status", { action: "batch_status", batch_id: "killed" });
      await withServer(project, async (client) => {
        const dispatch = background(project, ["dispatch", batch], agent.env());
        await until("the agent has started", () => agent.notes("start").length === 1);
        expect(await state(client)).toMatchObject({ batch_status: "running", running: 1 });
        const second = await maestro(project, ["dispatch", batch], agent.env());
        expect(second.stderr).toContain(`Another dispatch is running this batch: process ${dispatch.child.pid} since`);
        dispatch.child.kill("SIGKILL");
        await dispatch.ended;
        expect(await state(client)).toMatchObject({ batch_status: "interrupted", running: 0 });
        project.write(".bin/go", "");
        expect((await maestro(project, ["dispatch", batch], agent.env())).code).toBe(0);
        expect(await state(client)).toMatchObject({ batch_status: "success" });
        expect(project.list(`${batch}/results`)).not.toContain(".dispatch");
      });
    }));

  test("record A8: gives the end of the agent's words when its report is invalid, redacted and bounded (X278)", () =>
    withProject((project) =>
      withServer(
        project,
        async (client) => {
          const long = `${"Once upon a time. ".repeat(500)}The key is ${"s3cr3t-".repeat(4)}and I am done.`;
          const write = (name: string, text: string) => {
            project.write(`.gemini/parallel/b/results/${name}.json`, text);
            project.write(`.gemini/parallel/b/results/${name}.exit`, "0\n");
          };
          write("coder", JSON.stringify({ response: long, stats: {} }));
          write("tester", "Segmentation fault");
          const result = (agent: string, full = false) =>
            client.ok("maestro_dispatch_status", { action: "agent_result", batch_id: "b", agent, full });
          const coder = await result("coder");
          expect(coder.report.valid).toBe(false);
          expect(coder.words).toMatch(/^….*and I am done\.$/);
          expect(coder.words.length).toBeLessThan(2_010);
          expect(coder.words).not.toContain("s3cr3t");
          expect((await result("coder", true)).words).toMatch(/^Once upon.*and I am done\.$/);
          expect((await result("tester")).words).toBe("Segmentation fault");
        },
        { STORY_API_KEY: "s3cr3t-".repeat(4) },
      ),
    ));

  test("has no agent for the log of a verified phase (X278)", () =>
    withProject((project) =>
      withServer(project, async (client) => {
        project.write(".gemini/parallel/s/results/p1.validation.log", "ok\n");
        const state = await client.ok("maestro_dispatch_status", { action: "batch_status", batch_id: "s" });
        expect(state).toMatchObject({ total_agents: 0, running: 0, agents: [] });
      }),
    ));

  test("that failed as a whole, or has no recorded end, is shown as such (C25)", () =>
    withProject((project) =>
      withServer(project, async (client) => {
        const file = (path: string, content: string) => project.write(`.gemini/parallel/${path}`, content);
        file("all-failed/results/coder.exit", "1\n");
        file("all-failed/results/tester.exit", "124\n");
        file("all-failed/results/summary.json", '{"batch_status":"partial_failure","wall_time_seconds":4}');
        file("silent/results/coder.json", "");
        project.run("touch", ["-d", "2 hours ago", ".gemini/parallel/silent/results/coder.json"]);
        project.run("ln", ["-s", "/etc", ".gemini/parallel/link"]);
        const state = (batch_id: string) =>
          client.call("maestro_dispatch_status", { action: "batch_status", batch_id });
        expect((await state("all-failed")).body).toMatchObject({
          batch_status: "failed",
          wall_time_seconds: 4,
          agents: [{ status: "failed" }, { status: "timeout", exit_code: 124 }],
        });
        expect((await state("silent")).body).toMatchObject({ batch_status: "interrupted" });
        for (const bad of ["../..", ".", "a/b", "a\\b", ".hidden"])
          expect((await state(bad)).body.error, bad).toBe("path");
        expect((await state("link")).isError).toBe(true);
        expect((await state("nothing")).body).toMatchObject({
          error: "not_found",
          hint: expect.stringContaining("all-failed"),
        });
        const { total, batches } = await client.ok("maestro_dispatch_status", { action: "list_batches", limit: 1 });
        expect([total, batches.length]).toEqual([2, 1]);
        file("broken/results/summary.json", "{");
        expect((await state("broken")).body.error).toBe("parse_failed");
      }),
    ));
});

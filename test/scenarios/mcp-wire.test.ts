import { describe, expect, test } from "vitest";
import { LOCK_FILE } from "../../src/disk/lock.ts";
import { decodeRecords, journalStart } from "../../src/store/journal/record.ts";
import { whileHolding } from "../support/hooks.ts";
import { McpClient, withServer } from "../support/mcp.ts";
import { createSession, type Project, planPath, planText, withProject } from "../support/project.ts";
import { status } from "../support/status.ts";
import { TIMED } from "../support/timed.ts";

const MB = 1024 * 1024;
const journal = ".gemini/state/progress.jsonl";
const view = ".gemini/state/active-session.md";
const addFiles = (path: string) => ({ action: "add_files", phase_id: 1, files: { created: [path] } });

describe("the MCP server on the wire (F23)", () => {
  test("survives half lines, garbage and bytes that are not UTF-8, and answers what it can", () =>
    withProject((project) =>
      withServer(project, async (client) => {
        const request = JSON.stringify({ jsonrpc: "2.0", id: "split", method: "ping" });
        const reply = client.replyTo("split");
        client.write(request.slice(0, 20));
        await new Promise((resolve) => setTimeout(resolve, 30));
        client.write(`${request.slice(20)}\n`);
        expect((await reply).result).toEqual({});
        client.write(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,'), Buffer.from([0xff, 0xc0, 0x0a])]));
        client.write("this is not JSON\n[]\n");
        expect((await client.request("ping")).result).toEqual({});
        expect(client.strays.map(({ id, error }) => [id, error.code])).toEqual([
          [null, -32700],
          [null, -32700],
          [null, -32600],
        ]);
      }),
    ));

  test.each([16, 100])("answers a line of %i MB with an error, does not keep it, and stays usable", (megabytes) =>
    withProject((project) =>
      withServer(project, async (client) => {
        const reply = client.replyTo(77);
        const head = '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"x","arguments":{"a":"';
        client.write(head);
        const chunk = Buffer.alloc(MB, "x");
        for (let sent = 0; sent < megabytes; sent++) {
          if (!client.child.stdin.write(chunk))
            await new Promise((resolve) => client.child.stdin.once("drain", resolve));
        }
        client.write('"}}}\n');
        const { error } = await reply;
        expect(error).toEqual({
          code: -32600,
          message: expect.stringContaining("the limit is 4194304 bytes per line"),
        });
        expect((await client.request("ping")).result).toEqual({});
        const peak = Number(
          /VmHWM:\s+(\d+)/.exec(project.run("cat", [`/proc/${client.child.pid}/status`]).stdout)?.[1],
        );
        expect(peak / 1024).toBeLessThan(200);
      }),
    ),
  );

  test("answers many calls of one turn, each with its own answer", () =>
    withProject(async (project) => {
      createSession(project);
      await withServer(project, async (client) => {
        const names = Array.from({ length: 20 }, (_, at) => `src/file-${at}.ts`);
        const answers = await Promise.all(names.map((path) => client.ok("maestro_session_write", addFiles(path))));
        expect(answers.map(({ revision }) => revision)).toEqual(names.map((_, at) => at + 2));
        const { files } = await client.ok("maestro_session_read", { section: "files", limit: 20 });
        expect(files.map(({ path }: { path: string }) => path)).toEqual(names);
      });
    }));

  test("answers the open requests when its input ends, and exits within a second, with the view drawn", TIMED, () =>
    withProject(async (project) => {
      createSession(project);
      const client = new McpClient(project);
      await client.initialize();
      const calls = Array.from({ length: 10 }, (_, at) => client.ok("maestro_session_write", addFiles(`f${at}`)));
      const { code, ms } = await client.end();
      expect((await Promise.all(calls)).map(({ revision }) => revision)).toEqual(calls.map((_, at) => at + 2));
      expect([code, client.stderr]).toEqual([0, ""]);
      expect(ms).toBeLessThan(1000);
      expect(project.read(view)).toContain("maestro:view seq=11 ");
      expect(project.list(".gemini/state")).toEqual(["active-session.md", "archive", "progress.jsonl"]);
    }),
  );

  test.each([
    ["at once", 0],
    ["when it has been trying to draw the view for a while", 600],
  ])("exits within a second while another process holds the lock: %s", TIMED, (_, pauseMs) =>
    withProject(async (project) => {
      createSession(project);
      const client = new McpClient(project);
      await client.initialize();
      await client.ok("maestro_session_write", addFiles("a"));
      await whileHolding(project, LOCK_FILE, async () => {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        const { code, ms } = await client.end();
        expect([code, client.stderr]).toEqual([0, ""]);
        expect(ms).toBeLessThan(1000);
        expect(project.read(view)).toContain("maestro:view seq=1 ");
      });
      // The next process draws what was recorded.
      expect(status(project).phases[0].files_created).toEqual(["a"]);
      expect(project.read(view)).toContain("maestro:view seq=2 ");
    }),
  );

  test("exits when its input ends, on a signal, and quietly when its output is closed", () =>
    withProject(async (project) => {
      const idle = new McpClient(project);
      expect(await idle.end()).toMatchObject({ code: 0 });
      const told = new McpClient(project);
      await told.initialize();
      expect(await told.kill("SIGTERM")).toMatchObject({ code: 143 });
      expect((await told.exited).ms).toBeLessThan(1000);
      const deaf = new McpClient(project);
      await deaf.initialize();
      deaf.child.stdout.destroy();
      deaf.write(`${JSON.stringify({ jsonrpc: "2.0", id: 5, method: "ping" })}\n`);
      expect(await deaf.exited).toMatchObject({ code: 0 });
      expect([idle.stderr, told.stderr, deaf.stderr]).toEqual(["", "", ""]);
    }));

  test("draws the view on SIGTERM", () =>
    withProject(async (project) => {
      createSession(project);
      const client = new McpClient(project);
      await client.initialize();
      await client.ok("maestro_session_write", addFiles("a"));
      await client.kill("SIGTERM");
      expect(project.read(view)).toContain("maestro:view seq=2 ");
    }));
});

describe("sixteen servers with twenty changes each, and the command line (F9, P2, X265)", () => {
  test(
    "lose nothing, and leave a gapless journal",
    () =>
      withProject(async (project) => {
        createSession(project);
        const clients = Array.from({ length: 16 }, () => new McpClient(project));
        const work = clients.map(async (client, at) => {
          await client.initialize();
          const paths = Array.from({ length: 20 }, (_, turn) => `s${at}-${turn}`);
          const answers = await Promise.all(paths.map((path) => client.ok("maestro_session_write", addFiles(path))));
          await client.end();
          return answers.map(({ revision }) => revision as number);
        });
        const notes = Array.from({ length: 3 }, async (_, at) => {
          const child = project.start(process.execPath, [
            new URL("../../dist/maestro.js", import.meta.url).pathname,
            "session",
            "note",
            `n${at}`,
          ]);
          child.stdin.end();
          expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
        });
        const revisions = (await Promise.all([...work, ...notes.map(async (note) => void (await note))])).flat();
        expect(new Set(revisions.filter((one) => one !== undefined)).size).toBe(320);
        const sequence: number[] = [];
        const decoded = decodeRecords(
          Buffer.from(project.read(journal)),
          journalStart,
          ({ seq }) => void sequence.push(seq),
        );
        expect(decoded).toMatchObject({ tail: { kind: "none" } });
        expect(sequence).toEqual(Array.from({ length: 324 }, (_, at) => at + 1));
        const session = status(project);
        expect(new Set(session.phases[0].files_created).size).toBe(320);
        expect(clients.map(({ stderr }) => stderr)).toEqual(Array(16).fill(""));
      }),
    60_000,
  );
});

describe("a session that cannot be read (F10, C32, X262)", () => {
  const readings = async (project: Project) =>
    withServer(project, async (client) => ({
      read: await client.call("maestro_session_read"),
      again: await client.call("maestro_session_read", { section: "phases" }),
      write: await client.call("maestro_session_write", { action: "set_mode", execution_mode: "parallel" }),
    }));

  test("is reported as unreadable when its journal is broken, and the bytes are kept", () =>
    withProject(async (project) => {
      createSession(project);
      project.maestro(["session", "note", "one"]);
      const broken = project.read(journal).replace('"type":"session.created"', '"type":"session.creatid"');
      project.write(journal, broken);
      const { read, again, write } = await readings(project);
      expect(read).toMatchObject({ isError: false, body: { exists: false, error: "parse_failed" } });
      expect(read.body.reason).toContain("line 1 of .gemini/state/progress.jsonl");
      expect(project.read(read.body.kept)).toBe(broken);
      expect(again.body).toMatchObject({ exists: false, error: "parse_failed" });
      expect([write.isError, write.body.error]).toEqual([true, "parse_failed"]);
      expect(project.read(journal)).toBe(broken);
    }));

  test("is reported as unreadable when only a broken view exists", () =>
    withProject(async (project) => {
      project.write(view, "---\nsession_id: [\n---\n");
      const { read } = await readings(project);
      expect(read.body).toMatchObject({ exists: false, error: "parse_failed" });
      expect(project.read(view)).toBe("---\nsession_id: [\n---\n");
    }));

  test("is rebuilt with a message when only its view is broken", () =>
    withProject(async (project) => {
      createSession(project);
      project.write(view, "---\nsession_id: [\n---\n");
      const { read, write } = await readings(project);
      expect(read.body).toMatchObject({ exists: true, warnings: [expect.stringContaining("the view was rebuilt")] });
      expect(write.body).toEqual({ execution_mode: "parallel", revision: 2 });
      expect(project.read(view)).toContain("2026-02-14-task-api");
      expect(project.list(".gemini/state").filter((file) => file.includes(".corrupt-"))).toHaveLength(1);
    }));

  test("does not end the server when its directory is a file, or gone", () =>
    withProject(async (project) => {
      project.write(".gemini", "a file");
      await withServer(project, async (client) => {
        expect((await client.ok("maestro_session_read")).exists).toBe(false);
        const create = {
          action: "create",
          task: "t",
          plan_content: planText([{ id: 1 }]),
          plan_filename: "x-impl-plan.md",
        };
        const refused = await client.refused("maestro_session_write", create);
        expect(["path", "io"]).toContain(refused.error);
        expect(refused.message).toContain(".gemini");
      });
    }));
});

describe("a session of 5,000 phases", () => {
  test("never makes an answer over 1,500 characters, and pages through all of it (C43)", () =>
    withProject(async (project) => {
      const long = "A title that is as long as titles are in plans that people write. ".repeat(3);
      const phases = Array.from({ length: 5000 }, (_, at) => ({
        id: `phase-${at}`,
        title: long,
        blocked_by: at < 1000 ? [] : [`phase-${at - 1000}`],
      }));
      const last = { id: "last", blocked_by: phases.slice(0, 300).map(({ id }) => id) };
      project.write(planPath, planText([...phases, last]));
      await withServer(project, async (client) => {
        const create = { action: "create", task: "long ".repeat(4000), plan_path: planPath };
        const sizes: number[] = [];
        const ask = async (tool: string, args: object) => {
          const { body, bytes } = await client.call(tool, args);
          sizes.push(bytes);
          return body;
        };
        expect((await ask("maestro_session_write", create)).total_phases).toBe(5001);
        const { metadata } = await ask("maestro_session_read", {});
        expect([metadata.total_phases, metadata.counts.pending, metadata.ready.length]).toEqual([5001, 5001, 20]);
        expect(metadata.task).toHaveLength(160);
        const found: string[] = [];
        let offset: number | null = 0;
        for (let page = 0; offset !== null && page < 3; page++) {
          const answer: { phases: { id: string }[]; total: number; next_offset: number | null } = await ask(
            "maestro_session_read",
            { section: "phases", offset },
          );
          expect(answer.total).toBe(5001);
          found.push(...answer.phases.map(({ id }) => id));
          offset = answer.next_offset;
        }
        expect(found).toEqual(phases.slice(0, found.length).map(({ id }) => id));
        const end = await ask("maestro_session_read", { section: "phases", offset: 4999 });
        expect([end.phases.map(({ id }: { id: string }) => id), end.next_offset]).toEqual([["phase-4999"], 5000]);
        const { phases: rest, next_offset } = await ask("maestro_session_read", { section: "phases", offset: 5000 });
        expect([rest[0].id, next_offset]).toEqual(["last", null]);
        expect((await ask("maestro_progress", { action: "summary" })).total).toBe(5001);
        const checked = await ask("maestro_validate_plan", { plan_path: planPath });
        expect(checked.valid).toBe(true);
        expect(checked.dependency_graph.phases_total).toBe(5001);
        const chain = await ask("maestro_context_chain", { phase_id: "last", plan_path: planPath });
        expect([chain.phase_id, chain.cut.hint]).toEqual(["last", expect.stringContaining("full: true")]);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(1_500);
        const whole = await client.call("maestro_session_read", { section: "full" });
        expect(whole.body.full.phases).toHaveLength(5001);
        const graph = await client.call("maestro_validate_plan", { plan_path: planPath, full: true });
        expect(graph.body.dependency_graph.phases).toHaveLength(5001);
        const list = await client.call("maestro_session_read", { section: "phases", full: true });
        expect(list.body.phases).toHaveLength(5001);
      });
    }));
});

// The dashboard of a project, asked by programs: its answers, its streams, how it ends. What a browser shows is in
// test/browser.

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { encodeChange, journalStart } from "../../src/store/journal/record.ts";
import { commandLine } from "../support/command-line.ts";
import { startDashboard, type TestDashboard, withDashboard } from "../support/dashboard.ts";
import { runPlan } from "../support/engine-run.ts";
import { agent, withIsolated } from "../support/isolated.ts";
import {
  allGone,
  background,
  maestro,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
  withRemoved,
} from "../support/processes.ts";
import { createSession, Project, planPath, planText } from "../support/project.ts";
import { played, prepare, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const SESSION = "2026-02-14-task-api";
const records = (blocks: string[]) =>
  blocks.filter((block) => block.startsWith("id: ")).map((block) => JSON.parse(block.split("\ndata: ")[1] ?? ""));
const isCaught = (blocks: string[]) => blocks.some((block) => block.startsWith("event: caught"));

/** Every file below the project, with its time of change. */
function filesOf(project: Project): Map<string, number> {
  const files = readdirSync(project.path, { recursive: true, encoding: "utf8" });
  return new Map(
    files
      .map((file) => [file, statSync(join(project.path, file))] as const)
      .filter(([file, stat]) => stat.isFile() && !file.startsWith(".home"))
      .map(([file, stat]) => [file, stat.mtimeMs]),
  );
}

/** The answer to exactly these bytes. */
function rawAnswer(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = createConnection({ host: "127.0.0.1", port }, () => socket.write(request));
    socket.setEncoding("utf8").on("data", (chunk) => (answer += chunk));
    socket.once("close", () => resolve(answer)).once("error", reject);
  });
}

/** What an agent that has found the port can try: every path and method, with and without made-up secrets. */
const reach = `
import { readFileSync } from "node:fs";
const session = process.argv[2];
const port = readFileSync(".bin/port", "utf8");
const skip = JSON.stringify({ action: "skip", phase_id: "2", user_decision: true });
const tries = ["/", "/api/sessions", "/api/sessions/" + session + "/records?after=0", "/api/sessions/" + session + "/attempts/1/1/log",
  "/api/sessions/" + session + "/attempts/1/1/prompt", "/api/sessions/" + session + "/attempts/1/1/diff", "/api/../etc/passwd"]
  .flatMap((path) => [["GET", path], ["GET", path, { authorization: "Bearer undefined" }], ["DELETE", path]]);
const json = { "content-type": "application/json" };
for (const headers of [json, { ...json, authorization: "Bearer " }, { "content-type": "text/plain" }])
  tries.push(["POST", "/api/sessions/" + session + "/decisions", headers, skip], ["POST", "/api/login", headers, '{"code":null}']);
for (const [method, path, headers, body] of tries) {
  const answer = await fetch("http://127.0.0.1:" + port + path, { method, headers, body });
  console.log([method, path + (headers?.authorization ? " with " + headers.authorization : ""), answer.status].join(" "));
  await answer.body?.cancel();
}
`;

/** The tests share a dashboard, which is logged in. */
describe("a dashboard of a session (T11)", () => {
  const project = new Project();
  let dashboard: TestDashboard;
  let before: Map<string, number>;

  beforeAll(async () => {
    createSession(project, [{ id: 1 }, { id: 2, blocked_by: [1] }]);
    before = filesOf(project);
    dashboard = await (await startDashboard(project, ["--control"])).login();
  }, TEST_TIMEOUT_MS);
  afterAll(() => withRemoved(project, () => dashboard.end()));

  test("answers a foreign host, origin, sender and method with a refusal, although the token is right", async () => {
    const refused: [Record<string, string>, number][] = [
      [{ host: "evil.test" }, 403],
      [{ host: `evil.test:${dashboard.port}`, origin: `http://evil.test:${dashboard.port}` }, 403],
      [{ host: "127.0.0.1" }, 403],
      [{ origin: "null" }, 403],
      [{ origin: `http://127.0.0.1:${dashboard.port + 1}` }, 403],
      [{ "sec-fetch-site": "same-site" }, 403],
      [{ "sec-fetch-site": "cross-site" }, 403],
    ];
    for (const [headers, code] of refused) {
      expect((await dashboard.get("/api/sessions", headers)).status, JSON.stringify(headers)).toBe(code);
      const decided = await dashboard.post(`/api/sessions/${SESSION}/decisions`, { action: "skip" }, headers);
      expect(decided.status, JSON.stringify(headers)).toBe(code);
    }
    expect((await dashboard.ask("/", { headers: { host: "evil.test" } })).status).toBe(403);
    const own = `Host: 127.0.0.1:${dashboard.port}\r\n`;
    expect(await rawAnswer(dashboard.port, `GET / HTTP/1.1\r\n${own}Connection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 200 /,
    );
    for (const hosts of [`${own}Host: evil.test\r\n`, `Host: evil.test\r\n${own}`, own + own])
      expect(await rawAnswer(dashboard.port, `GET / HTTP/1.1\r\n${hosts}\r\n`), hosts).toMatch(/^HTTP\/1.1 403 /);
    for (const method of ["DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"]) {
      const { status: code, headers } = await dashboard.ask("/api/sessions", { method, headers: dashboard.bearer });
      expect(code, method).toBe(405);
      expect(headers).not.toHaveProperty("access-control-allow-methods");
    }
    const form = { "content-type": "text/plain" };
    expect((await dashboard.post(`/api/sessions/${SESSION}/decisions`, {}, form)).status).toBe(415);
    const huge = JSON.stringify({ code: "x".repeat(70_000) });
    for (const length of [{}, { "transfer-encoding": "chunked" }]) {
      const headers = { "content-type": "application/json", ...length };
      expect((await dashboard.ask("/api/login", { method: "POST", headers, body: huge })).status).toBe(413);
    }
  });

  test("sends every answer with the headers that keep other pages out", async () => {
    for (const path of ["/", "/api/sessions", "/nothing"]) {
      const { headers } = await dashboard.get(path);
      expect(headers["content-security-policy"], path).toMatch(
        /default-src 'none'.*connect-src 'self'.*frame-ancestors 'none'/,
      );
      expect(headers, path).toMatchObject({
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
      });
    }
  });

  test("tries ten logins a minute", async () => {
    const codes: number[] = [];
    for (let at = 0; at < 11; at += 1) codes.push((await dashboard.post("/api/login", { code: `guess${at}` })).status);
    expect(codes.at(0)).toBe(401);
    expect(codes.at(-1)).toBe(429);
  });

  test("listens on 127.0.0.1 alone", async () => {
    const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address } of others.filter(({ internal }) => !internal)) {
      const reached = await new Promise((resolve) => {
        const socket = createConnection({ host: address, port: dashboard.port, timeout: 1000 });
        socket
          .once("connect", () => resolve(true))
          .once("error", () => resolve(false))
          .once("timeout", () => resolve(false));
        socket.once("close", () => socket.destroy());
      });
      expect(reached, address).toBe(false);
    }
    const table = readFileSync("/proc/net/tcp", "utf8").split("\n");
    const port = dashboard.port.toString(16).toUpperCase().padStart(4, "0");
    const listening = table.filter((line) => line.includes(`:${port} `) && / 0A /.test(line));
    expect(listening.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${port}`]);
    for (const port of ["0x0", "::", "0.0.0.0", "-1", "65536", "1e3"]) {
      const { code, stderr } = await commandLine(project, ["dashboard", "--port", port]);
      expect([code, stderr], port).toEqual([2, expect.stringContaining("--port must be a number")]);
    }
    const taken = await maestro(project, ["dashboard", "--port", String(dashboard.port)]);
    expect([taken.code, taken.stderr]).toEqual([
      3,
      expect.stringMatching(/Cannot listen on .*\n.*Choose another --port/),
    ]);
  });

  test("streams history, then what is new, from where a page left off, and reads state without changing a file", async () => {
    const history = await dashboard.stream(SESSION, 0, isCaught);
    const [first] = records(history);
    expect(first).toMatchObject({ seq: 1, type: "session.created" });
    expect(first).not.toHaveProperty("crc");
    expect(history.some((block) => block.startsWith("event: layout"))).toBe(true);
    expect(filesOf(project)).toEqual(before);
    const live = dashboard.stream(SESSION, 1, (blocks) => records(blocks).some(({ type }) => type === "session.noted"));
    expect((await maestro(project, ["session", "note", "Seen?"])).code).toBe(0);
    const seen = records(await live);
    expect(seen.every(({ seq }) => seq > 1)).toBe(true);
    expect(seen.at(-1)).toMatchObject({ type: "session.noted", text: "Seen?" });
    expect((await dashboard.get("/api/sessions/2020-01-01-none/records")).status).toBe(404);
  });
});

describe("a dashboard (T11)", () => {
  test("lets a page in by a code that works once, and shows nothing without its token", () =>
    withProcesses(async (project) => {
      createSession(project);
      await withDashboard(project, [], async (dashboard) => {
        const page = await dashboard.get("/");
        expect(page.status).toBe(200);
        expect(page.body).not.toContain(dashboard.code);
        const paths = [
          "/api/sessions",
          `/api/sessions/${SESSION}/records`,
          `/api/sessions/${SESSION}/attempts/1/1/log`,
        ];
        for (const path of paths) expect((await dashboard.get(path)).status, path).toBe(401);
        expect((await dashboard.post("/api/login", { code: "wrong" })).status).toBe(401);
        await dashboard.login();
        expect(page.body).not.toContain(dashboard.token);
        expect((await dashboard.post("/api/login", { code: dashboard.code })).status).toBe(401);
        const { body, headers } = await dashboard.get("/api/sessions");
        expect(JSON.parse(body)).toMatchObject({ control: false, sessions: [{ id: SESSION, isActive: true }] });
        expect(headers["set-cookie"]).toBeUndefined();
        expect(headers).not.toHaveProperty("access-control-allow-origin");
        // A token in an address would be in histories and logs.
        const inQuery = `/api/sessions?token=${dashboard.token}&authorization=Bearer%20${dashboard.token}`;
        expect((await dashboard.ask(inQuery)).status).toBe(401);
        expect((await dashboard.ask("/api/sessions", { headers: { cookie: `token=${dashboard.token}` } })).status).toBe(
          401,
        );
      });
    }));

  test("redacts secrets in records, logs and prompts", () =>
    withProcesses(async (project) => {
      const secret = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c";
      const env = prepare(project, [played(1, [["stderr", `first\nkey ${secret}\nlast`]])]).env({ MY_API_KEY: secret });
      await maestro(project, ["run", planPath, "--keep-open", "--grace", "300ms"], env);
      const log = join(project.path, ".gemini/parallel", SESSION, "results", "coder.p1-1.log");
      writeFileSync(log, `first\nkey ${secret}\nlast\n`);
      await withDashboard(
        project,
        [],
        async (dashboard) => {
          await dashboard.login();
          const { body, headers } = await dashboard.get(`/api/sessions/${SESSION}/attempts/1/1/log?part=errors`);
          expect(body).toMatch(/^first\nkey .*\nlast\n$/);
          expect(body).not.toContain(secret);
          expect(headers["x-next-offset"]).toBe(String(statSync(log).size));
          const rest = await dashboard.get(
            `/api/sessions/${SESSION}/attempts/1/1/log?part=errors&from=${headers["x-next-offset"]}`,
          );
          expect([rest.body, rest.headers["x-log-end"], rest.headers["x-attempt-over"]]).toEqual(["", "yes", "yes"]);
          const said = await dashboard.get(`/api/sessions/${SESSION}/attempts/1/1/log`);
          expect(said.body).toContain("Task Report");
          expect((await dashboard.get(`/api/sessions/${SESSION}/attempts/9/1/log`)).status).toBe(404);
          expect((await dashboard.get(`/api/sessions/${SESSION}/attempts/1/7/prompt`)).status).toBe(404);
        },
        { MY_API_KEY: secret },
      );
    }));

  test("shows the diff of an attempt from the recorded objects", () =>
    withIsolated({ "a.txt": "a\n" }, [agent("1", ["a.txt"], ["write", ["a.txt", "changed\n"]])], async (project) => {
      expect(project.runPlan().code).toBe(0);
      await withDashboard(project, [], async (dashboard) => {
        await dashboard.login();
        const { status: code, body } = await dashboard.get(`/api/sessions/${SESSION}/attempts/1/1/diff`);
        expect([code, body]).toEqual([200, expect.stringContaining("-a\n+changed\n")]);
        const prompt = await dashboard.get(`/api/sessions/${SESSION}/attempts/1/1/prompt`);
        expect(prompt.status === 200 ? prompt.body : JSON.parse(prompt.body).message).toMatch(
          /Work on 1|does not exist any more/,
        );
      });
    }));

  test("lists archived sessions, and streams a session to its end, also when it is archived during the stream", () =>
    withProcesses(async (project) => {
      const standIn = prepare(project, [played(1, [["signal", "go"]])]);
      const run = background(project, ["run", planPath, "--grace", "300ms"], standIn.env());
      await until("the agent", () => standIn.notes("start").length > 0);
      await withDashboard(project, [], async (dashboard) => {
        await dashboard.login();
        const watched = dashboard.stream(SESSION, 0, (blocks) => {
          if (isCaught(blocks)) project.write(".bin/go", "");
          return false;
        });
        expect((await run.ended).code).toBe(0);
        const seen = await watched;
        expect(seen.at(-1)).toContain("event: end");
        // A page shows the run as running from its first moment on.
        const pulse = seen.findIndex((block) => block.startsWith("event: pulse"));
        expect(seen[pulse]).toContain('"driven":true');
        expect(pulse).toBeLessThan(seen.findIndex((block) => block.startsWith("event: caught")));
        expect(records(seen).map(({ seq }) => seq)).toEqual(records(seen).map((_, at) => at + 1));
        expect(records(seen).at(-1)?.type).toBe("archive.started");
        const { sessions } = JSON.parse((await dashboard.get("/api/sessions")).body);
        expect(sessions).toMatchObject([{ id: SESSION, isActive: false, status: "completed", phases: [{ id: "1" }] }]);
        const blocks = await dashboard.stream(SESSION, 0, () => false);
        expect(blocks.at(-1)).toContain("event: end");
        expect(records(blocks).at(-1)?.type).toBe("archive.started");
      });
    }));
});

test("a dashboard lists every archived session, however many, and reads a part of them for each answer", () =>
  withProcesses(async (project) => {
    createSession(project);
    const { v, crc, seq, ts, ...created } = JSON.parse(
      project.read(".gemini/state/progress.jsonl").split("\n")[0] ?? "",
    );
    const notes = Array.from({ length: 40 }, (_, at) => ({ type: "session.noted", text: `Note ${at} of many.` }));
    const count = 500;
    for (let at = 0; at < count; at += 1) {
      const id = `2025-01-01-old-${at}`;
      const { bytes } = encodeChange(journalStart, ts, [{ ...created, session_id: id }, ...notes]);
      project.write(`.gemini/state/archive/${id}.jsonl`, bytes);
    }
    await withDashboard(project, [], async (dashboard) => {
      await dashboard.login();
      const ask = async () => JSON.parse((await dashboard.get("/api/sessions")).body);
      const first = await ask();
      expect(first.sessions[0]).toMatchObject({ id: SESSION, isActive: true });
      expect(first.unread).toBeGreaterThan(0);
      expect(first.sessions.length + first.unread).toBe(count + 1);
      let last = first;
      while (last.unread > 0) last = await ask();
      expect(new Set(last.sessions.map(({ id }: { id: string }) => id)).size).toBe(count + 1);
    });
  }));

describe("a decision", () => {
  const failing = [played(1, [["exit", 7]], {}, [["exit", 7]]), { id: 2 }];
  const retries = { MAESTRO_MAX_RETRIES: "0" };

  test("needs --control, and takes the path of maestro_decide", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, failing, { words: ["--keep-going"], env: retries });
      expect(run.code).toBe(4);
      const path = `/api/sessions/${SESSION}/decisions`;
      const skip = { action: "skip", phase_id: "1", reason: "not needed", user_decision: true };
      await withDashboard(project, [], async (dashboard) => {
        await dashboard.login();
        expect((await dashboard.post(path, skip)).status).toBe(403);
      });
      expect(status(project).phases[0]?.status).toBe("failed");
      await withDashboard(project, ["--control"], async (dashboard) => {
        expect((await dashboard.post(path, skip)).status).toBe(401);
        await dashboard.login();
        const wrong = await dashboard.post(path, { ...skip, command: "rm -rf /" });
        expect([wrong.status, JSON.parse(wrong.body).message]).toEqual([409, expect.stringContaining("Unknown key")]);
        expect((await dashboard.post(path, { ...skip, user_decision: false })).status).toBe(409);
        expect((await dashboard.post(path, { ...skip, action: "run" })).status).toBe(409);
        for (const body of [null, [], "skip", 1, {}]) expect((await dashboard.post(path, body)).status).toBe(409);
        const unseen = await dashboard.post(path, { action: "approve", phase_id: "1", user_decision: true });
        expect([unseen.status, JSON.parse(unseen.body).message]).toEqual([
          409,
          "An approval names the tree that was shown.",
        ]);
        expect((await dashboard.post("/api/sessions/2020-01-01-other/decisions", skip)).status).toBe(409);
        const done = await dashboard.post(path, skip);
        expect([done.status, JSON.parse(done.body)]).toEqual([
          200,
          expect.objectContaining({ phase_status: "skipped" }),
        ]);
      });
      expect(status(project).phases[0]?.status).toBe("skipped");
    }));
});

describe("the life of a dashboard", () => {
  test("ends on a signal and when it is idle, and leaves no file and no process", () =>
    withProcesses(async (project) => {
      createSession(project);
      const before = filesOf(project);
      for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) {
        const dashboard = await startDashboard(project);
        dashboard.process.child.kill(signal);
        expect((await dashboard.process.ended).code, signal).toBe(0);
      }
      const idle = await startDashboard(project, ["--idle", "200ms"]);
      expect((await idle.process.ended).code).toBe(0);
      await allGone(project);
      expect(filesOf(project)).toEqual(before);
    }));

  test("is refused inside an attempt, and no agent finds its code or token", () =>
    withProcesses(async (project) => {
      const look = `env; cat /proc/*/cmdline | tr '\\0' ' '; cat /proc/*/environ | tr '\\0' '\\n'; grep -r . "$HOME" .gemini 2>/dev/null; node '${join(project.path, ".bin/maestro.js")}' dashboard --json; true`;
      project.write(".bin/maestro.js", `import("${join(process.cwd(), "dist/maestro.js")}")`);
      const standIn = prepare(project, [
        played(1, [
          ["signal", "go"],
          ["shell", look],
        ]),
      ]);
      const run = background(
        project,
        ["run", planPath, "--keep-open", "--dashboard", "--grace", "300ms"],
        standIn.env(),
      );
      const url = await until("the address", () => /Dashboard: (\S+)\n/.exec(run.stderr())?.[1]);
      const code = url.split("#code=")[1] ?? "-";
      await until("the agent", () => standIn.notes("start").length > 0);
      const login = await fetch(`${url.split("/#")[0]}/api/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      });
      const { token } = (await login.json()) as { token: string };
      project.write(".bin/go", "");
      expect((await run.ended).code).toBe(0);
      const [seen] = standIn.notes("shell") as unknown as { stdout: string; stderr: string }[];
      const all = `${seen?.stdout}${seen?.stderr}`;
      expect(all).toContain("it cannot start the dashboard");
      expect(all).not.toContain(code);
      expect(all).not.toContain(token);
      await allGone(project);
    }));

  test("decides nothing for an agent that asks everything it can reach on loopback (T11)", () =>
    withProcesses(async (project) => {
      const steps: Steps = [
        ["signal", "go"],
        ["shell", `node .bin/reach.mjs ${SESSION}`],
      ];
      const phases = [played(1, steps), played(2, [["exit", 7]])];
      const standIn = prepare(project, phases);
      project.write(".bin/reach.mjs", reach);
      const env = standIn.env({ MAESTRO_MAX_RETRIES: "0" });
      const run = background(project, ["run", planPath, "--keep-open", "--keep-going", "--grace", "300ms"], env);
      await until("the failed phase", () => status(project).phases?.[1]?.status === "failed");
      await withDashboard(project, ["--control"], async (dashboard) => {
        await dashboard.login();
        project.write(".bin/port", String(dashboard.port));
        project.write(".bin/go", "");
        expect((await run.ended).code).toBe(4);
        const [seen] = standIn.notes("shell") as unknown as { stdout: string }[];
        const answers = (seen?.stdout ?? "").trim().split("\n");
        expect(answers.length).toBeGreaterThan(20);
        // The page itself is public and contains no data; every other request is denied.
        const given = answers.filter((line) => !/ (401|403|404|405|415|429)$/.test(line));
        expect(given).toEqual(["GET / 200", "GET / with Bearer undefined 200"]);
        expect(status(project).phases.map((phase: { status: string }) => phase.status)).toEqual([
          "completed",
          "failed",
        ]);
      });
      await allGone(project);
    }));

  test("of a run ends with the run, even when the run is killed, and is not for a detached run", () =>
    withProcesses(async (project) => {
      const standIn = prepare(project, [played(1, [["hang"]])]);
      const run = background(project, ["run", planPath, "--dashboard"], standIn.env());
      await until("the address", () => /Dashboard: (\S+)\n/.exec(run.stderr())?.[1]);
      await until("the agent", () => standIn.notes("start").length > 0);
      run.child.kill("SIGKILL");
      await run.ended;
      await allGone(project);
      project.write("other.md", planText([{ id: 1 }]));
      const refused = await maestro(project, ["run", "other.md", "--dashboard", "--detach"], standIn.env());
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining("--dashboard cannot be used with --detach"),
      ]);
    }));
});

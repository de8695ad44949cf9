import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan, moved } from "../../../test/support/session.ts";
import type { SessionEvent } from "../../session/events.ts";
import { locateState } from "../../store/location.ts";
import { projectStore } from "../../store/project-store.ts";
import { Toolbox } from "../toolbox.ts";

const session_id = "2026-02-14-task-api";
const created: SessionEvent = {
  type: "session.created",
  session_id,
  task: null,
  execution_mode: "parallel",
  plan: frozenPlan([
    frozenPhase("1", { files_modified: ["src/a.ts"] }),
    frozenPhase("2", { agent: "tester", files_modified: ["test/"] }),
  ]),
};
const started = (attempt: number): SessionEvent => ({
  type: "attempt.started",
  phase: "1",
  attempt,
  agent: "coder",
  run: "r",
  runtime: "gemini",
  model: null,
  batch: "b",
  name: `coder.p1-${attempt}`,
  prompt_bytes: 1,
  timeout_ms: 1_000,
});
const finished = (attempt: number): SessionEvent => ({
  type: "attempt.finished",
  phase: "1",
  attempt,
  outcome: "success",
  exit_code: 0,
  signal: null,
  duration_ms: 1,
  usage: null,
});
const running = [created, moved("1", "pending", "in_progress"), started(1)];
const identity = {
  MAESTRO_AGENT: "coder",
  MAESTRO_PHASE: "1",
  MAESTRO_SESSION: session_id,
  MAESTRO_ATTEMPT: "1",
};

let root: string;
let project: string;
let worktree: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "maestro-scope-")));
  [project, worktree] = [join(root, "project"), join(root, "cache", "w1")];
  for (const path of [project, worktree]) mkdirSync(path, { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const state = () => join(project, ".gemini");
const journal = () => {
  const lines = readFileSync(join(state(), "state", "progress.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line): { type: string } => JSON.parse(line));
};
const requests = () => journal().filter(({ type }) => type === "phase.scope_requested");

/** The answer of the attempt's server in `cwd`, after `events`. */
async function ask(
  args: object,
  { events = running, cwd = project, env = {} }: { events?: SessionEvent[]; cwd?: string; env?: object } = {},
) {
  const now = () => new Date("2026-02-14T22:58:00.000Z");
  const store = projectStore(locateState(project, ".gemini"), {
    now,
    warn: () => undefined,
    maxRetries: () => 2,
    env: { HOME: project },
  });
  if (store.session === undefined && events.length > 0) store.update(() => ({ events, result: undefined }));
  store.close(200);
  const complaints: unknown[] = [];
  const variables = { HOME: root, ...identity, ...env };
  const toolbox = new Toolbox({ cwd: () => cwd, env: variables, now, complain: (error) => complaints.push(error) });
  const { content, isError } = await toolbox.call("maestro_request_scope", args);
  toolbox.close();
  expect(complaints).toEqual([]);
  return { isError: isError === true, body: JSON.parse(content[0]?.text ?? "null") };
}

describe("maestro_request_scope", () => {
  test("grants files that no open phase owns, and records the request with its reason", async () => {
    expect(await ask({ paths: ["src/b.ts", "docs/"], reason: "b.ts is imported" })).toEqual({
      isError: false,
      body: { granted: true, paths: ["src/b.ts", "docs/"], revision: 4 },
    });
    expect(requests()).toMatchObject([
      { phase: "1", agent: "coder", paths: ["src/b.ts", "docs/"], reason: "b.ts is imported", granted: true },
    ]);
  });

  test("rejects files that an open phase owns, names the owner and the alternative, and records the request", async () => {
    expect(await ask({ paths: ["src/b.ts", "test/a.test.ts"], reason: "a test is wrong" })).toEqual({
      isError: false,
      body: {
        granted: false,
        reason: "phase 2 (tester), which is pending, owns test/a.test.ts",
        owner: "2",
        paths: ["test/a.test.ts"],
        next: "Leave them as they are, and name them in your report with what should change.",
        revision: 4,
      },
    });
    expect(requests()).toMatchObject([{ granted: false, owner: "2", paths: ["src/b.ts", "test/a.test.ts"] }]);
  });

  test("uses the project's session from a worktree, and accepts absolute paths of the worktree", async () => {
    const there = { cwd: worktree, env: { MAESTRO_STATE_DIR: state() } };
    const paths = [join(worktree, "src/b.ts"), `${worktree}//docs/./x/`];
    expect((await ask({ paths, reason: "why" }, there)).body).toMatchObject({
      granted: true,
      paths: ["src/b.ts", "docs/x/"],
    });
    expect(requests()).toHaveLength(1);
  });

  test.each([
    ["the state directory, by its path in the project", ".gemini/state/progress.jsonl"],
    ["a path outside the project", "/etc/passwd"],
    ["a glob", "src/**"],
  ])("rejects %s in a worktree", async (_, path) => {
    const there = { cwd: worktree, env: { MAESTRO_STATE_DIR: state() } };
    expect((await ask({ paths: [path], reason: "why" }, there)).body).toMatchObject({ granted: false, owner: null });
  });

  test.each<[string, object, SessionEvent[] | undefined, string, RegExp]>([
    [
      "another session",
      { MAESTRO_SESSION: "old" },
      undefined,
      "conflict",
      /belongs to session old; the active one is 2026/,
    ],
    ["no session", { MAESTRO_SESSION: "" }, undefined, "conflict", /belongs to session \(none\)/],
    ["no phase", { MAESTRO_PHASE: "" }, undefined, "conflict", /does not work on a phase/],
    ["an unknown phase", { MAESTRO_PHASE: "9" }, undefined, "not_found", /no phase "9"/],
    [
      "another agent",
      { MAESTRO_AGENT: "tester" },
      undefined,
      "conflict",
      /Attempt 1 of tester at phase 1 is not running/,
    ],
    ["another phase's number", { MAESTRO_PHASE: "2" }, undefined, "conflict", /at phase 2 is not running/],
    ["no attempt", { MAESTRO_ATTEMPT: "" }, undefined, "conflict", /Attempt \(none\) .* is not running/],
    ["an attempt that has ended", {}, [...running, finished(1)], "conflict", /Attempt 1 .* is not running/],
    [
      "an attempt that a later one replaced",
      {},
      [...running, finished(1), started(2)],
      "conflict",
      /Attempt 1 .* is not running/,
    ],
    ["no session at all", {}, [], "no_session", /No session is active/],
  ])("rejects a request with %s, and records nothing", async (_, env, events, error, message) => {
    const { isError, body } = await ask({ paths: ["x.ts"], reason: "why" }, { env, events: events ?? running });
    expect(isError).toBe(true);
    expect(body).toMatchObject({ error, message: expect.stringMatching(message) });
    if (events?.length !== 0) expect(requests()).toEqual([]);
  });

  test.each([
    [{ reason: "why" }, 'Missing "paths"'],
    [{ paths: [], reason: "why" }, "must name at least one path"],
    [{ paths: Array.from({ length: 51 }, (_, at) => `f${at}`), reason: "why" }, "more than 50 paths"],
    [{ paths: "src/a.ts", reason: "why" }, "must be a list of paths"],
    [{ paths: ["a"] }, 'Missing "reason"'],
    [{ paths: ["a"], reason: " " }, "must not be empty"],
    [{ paths: ["a"], reason: "why", phase_id: "2" }, 'Unknown key "phase_id"'],
  ])("names the problem in %j", async (args, problem) => {
    const { body } = await ask(args);
    expect(body).toMatchObject({ error: "usage", message: expect.stringContaining(problem) });
    expect(requests()).toEqual([]);
  });

  test("is not offered to a TechLead", async () => {
    const { body } = await ask({ paths: ["a"], reason: "why" }, { env: { MAESTRO_AGENT: "" } });
    expect(body).toMatchObject({ error: "unknown_tool" });
  });
});

import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import { processorMs } from "../../../test/support/timed.ts";
import { eventFault, type SessionEvent } from "../events.ts";
import { applyEvent } from "../fold.ts";
import { outsideScope } from "../scope.ts";
import { findPhase, type SessionPhase } from "../session.ts";
import { decideScopeRequest, judgeScopeRequest } from "./scope-request.ts";

const plan = [
  frozenPhase("1", { files_modified: ["src/own.ts", "shared.ts"] }),
  frozenPhase("2", { agent: "tester", files_created: ["test/**/*.test.ts"], files_modified: ["lib/"] }),
  frozenPhase("3", { files_modified: ["app/[id]/page.tsx"], files_deleted: ["old.ts"], blocked_by: ["1"] }),
  frozenPhase("4", { files_modified: ["shared.ts"], blocked_by: ["1"] }),
  frozenPhase("5", { agent: "architect" }),
];
const started = moved("1", "pending", "in_progress");
const following = (...events: SessionEvent[]) => sessionAfter(plan, started, ...events);
const skipped = (phase: string) => moved(phase, "pending", "skipped");
const judge = (paths: string[], session = following(), stateDir = ".gemini") =>
  judgeScopeRequest(session, "1", paths, stateDir);

const request = (paths: string[], over: object = {}) => ({ phase: "1", agent: "coder", paths, reason: "why", ...over });
const granted = (phase: string, ...paths: string[]): SessionEvent => ({
  type: "phase.scope_requested",
  phase,
  agent: "coder",
  paths,
  reason: "why",
  granted: true,
  owner: null,
});

describe("a request for more files", () => {
  test.each([
    ["a file that no phase owns", ["src/new.ts"], ["src/new.ts"]],
    ["a directory that no phase owns", ["docs/guide/"], ["docs/guide/"]],
    ["paths that are not in normal form, without duplicates", ["./a//b.ts", "a/b.ts", "x\\y.ts"], ["a/b.ts", "x/y.ts"]],
    ["a name that looks like a glob", ["app/[slug]/page.tsx"], ["app/[slug]/page.tsx"]],
    ["a name with braces", ["src/a{b}.ts"], ["src/a{b}.ts"]],
    ["a file that the phase already owns, even if a later phase owns it too", ["shared.ts"], ["shared.ts"]],
    ["an example env file", [".env.example"], [".env.example"]],
  ])("is granted for %s", (_, asked, paths) => {
    expect(judge(asked)).toEqual({ granted: true, paths });
  });

  test.each([
    ".env",
    "conf/.env.local",
    "keys/server.pem",
    "id.key",
    ".gemini/settings.json",
    ".GEMINI/Settings.json",
    ".gemini/hooks/x.sh",
    ".gemini/",
    "hooks/hooks.json",
    ".husky/pre-commit",
    ".husky/",
    ".githooks",
    ".envrc",
    ".mcp.json",
    ".npmrc",
    "sub/.vscode/tasks.json",
    ".claude/settings.json",
  ])("is refused for a sensitive file, which only the user may change: %s", (path) => {
    expect(judge([path])).toMatchObject({ granted: false, owner: null, paths: [path] });
  });

  test.each([
    ["a file of another phase", ["old.ts"], "3", ["old.ts"]],
    ["one of several", ["src/new.ts", "old.ts"], "3", ["old.ts"]],
    ["a file that a glob of another phase matches", ["test/a/b.test.ts"], "2", ["test/a/b.test.ts"]],
    ["a file in a directory of another phase", ["lib/x/y.ts"], "2", ["lib/x/y.ts"]],
    ["the directory of another phase", ["lib"], "2", ["lib"]],
    ["a directory that contains a file of another phase", ["app/"], "3", ["app/"]],
    ["a name that looks like a glob, of another phase", ["app/[id]/page.tsx"], "3", ["app/[id]/page.tsx"]],
    ["another spelling of the same file", ["OLD.ts"], "3", ["OLD.ts"]],
  ])("is refused for %s", (_, asked, owner, paths) => {
    expect(judge(asked)).toMatchObject({ granted: false, owner, paths });
  });

  test("is refused with the phase that owns the files and its status", () => {
    expect(judge(["lib/a.ts"])).toMatchObject({ reason: "phase 2 (tester), which is pending, owns lib/a.ts" });
    const many = Array.from({ length: 8 }, (_, at) => `lib/${at}.ts`);
    expect(judge(many)).toMatchObject({
      reason: "phase 2 (tester), which is pending, owns lib/0.ts, lib/1.ts, lib/2.ts, lib/3.ts, lib/4.ts and 3 more",
    });
  });

  test("is granted once the other phase is closed, but not after it has only failed", () => {
    const running = moved("2", "pending", "in_progress");
    expect(judge(["lib/a.ts"], following(running))).toMatchObject({ granted: false });
    expect(judge(["lib/a.ts"], following(running, moved("2", "in_progress", "failed")))).toMatchObject({
      granted: false,
    });
    expect(judge(["lib/a.ts"], following(running, moved("2", "in_progress", "completed")))).toMatchObject({
      granted: true,
    });
    expect(judge(["lib/a.ts"], following(skipped("2")))).toMatchObject({ granted: true });
  });

  test("is refused for files that another phase was granted", () => {
    expect(judge(["new/a.ts"], following(granted("2", "new/")))).toMatchObject({ granted: false, owner: "2" });
    expect(judge(["new/"], following(granted("2", "new/a.ts")))).toMatchObject({ granted: false, owner: "2" });
  });

  test.each([
    ["the whole project", "."],
    ["the whole project by a detour", "src/.."],
    ["a glob", "src/*.ts"],
    ["a recursive glob", "src/**"],
    ["a brace set", "src/{a,b}.ts"],
    ["a brace range", "src/a{1..3}.ts"],
    ["an extended glob", "src/@(a|b).ts"],
    ["a path outside the project", "../x.ts"],
    ["an absolute path", "/etc/passwd"],
    ["git's own directory", ".git/config"],
    ["a state file", ".gemini/state/progress.jsonl"],
    ["a directory above the state", ".gemini/"],
    ["a blank path", " "],
    ["control characters", "a\u001b[31m"],
    ["a very long path", "a".repeat(5_000)],
  ])("is refused for %s, because no phase may own it", (_, path) => {
    expect(judge(["src/fine.ts", path])).toEqual({
      granted: false,
      owner: null,
      paths: [path],
      reason: expect.stringMatching(/; |no phase may own it/),
    });
  });

  test("is refused for the state directory given as an absolute path, wherever the project starts in it", () => {
    const stateDir = "/home/me/project/var/maestro";
    expect(judge(["var/maestro/state/x"], following(), stateDir)).toMatchObject({ granted: false, owner: null });
    expect(judge(["maestro/plans/x.md"], following(), stateDir)).toMatchObject({ granted: false, owner: null });
    expect(judge(["var/maestro.ts"], following(), stateDir)).toMatchObject({ granted: true });
  });

  test("is refused for an agent that does not write files", () => {
    const session = following(moved("5", "pending", "in_progress"));
    expect(judgeScopeRequest(session, "5", ["a.ts"], ".gemini")).toEqual({
      granted: false,
      owner: null,
      paths: ["a.ts"],
      reason: "architect writes no files",
    });
  });

  test("is judged quickly in a large plan", () => {
    const files = (id: number) => Array.from({ length: 10 }, (_, at) => `src/module-${id}/file-${at}.ts`);
    const phases = Array.from({ length: 5_000 }, (_, id) => frozenPhase(String(id), { files_modified: files(id) }));
    const session = sessionAfter(phases, moved("1", "pending", "in_progress"));
    const asked = Array.from({ length: 50 }, (_, at) => `src/other/file-${at}.ts`);
    const start = processorMs();
    expect(judge(asked, session)).toMatchObject({ granted: true });
    expect(processorMs() - start).toBeLessThan(2_000);
  });
});

describe("the record of a request", () => {
  test("extends the files of the phase when it is granted", () => {
    const session = following();
    const { events, result } = decideScopeRequest(session, request(["./src/new.ts", "docs/"]), ".gemini");
    expect(result).toEqual({ granted: true, paths: ["src/new.ts", "docs/"] });
    expect(events).toEqual([granted("1", "src/new.ts", "docs/")]);
    const [event] = events as [SessionEvent];
    expect(eventFault(event)).toBeUndefined();
    const after = applyEvent(session, { ...event, seq: 9, ts: "2026-02-14T23:00:00.000Z" });
    const changes = [{ path: "src/new.ts", kind: "created" as const }];
    expect(outsideScope(findPhase(after, "1") as SessionPhase, changes)).toEqual([]);
    expect(decideScopeRequest(after, request(["src/new.ts"]), ".gemini").events).toEqual([]);
  });

  test("names only new paths", () => {
    const { events } = decideScopeRequest(following(), request(["src/own.ts", "src/new.ts"]), ".gemini");
    expect(events).toEqual([granted("1", "src/new.ts")]);
  });

  test("contains every requested path and the owner when it is refused", () => {
    const { events, result } = decideScopeRequest(following(), request(["src/new.ts", "old.ts"]), ".gemini");
    expect(result).toMatchObject({ granted: false, owner: "3" });
    expect(events).toEqual([{ ...granted("1", "src/new.ts", "old.ts"), granted: false, owner: "3" }]);
  });

  test.each([["\u0000"], [" "], ["x".repeat(100_000)], ["a\u001b]0;x\u0007b"]])(
    "is a valid event for any requested path: %j",
    (path) => {
      const { events, result } = decideScopeRequest(following(), request([path]), ".gemini");
      expect(result.granted).toBe(false);
      expect(events.map(eventFault)).toEqual([undefined]);
      expect(JSON.stringify(events)).not.toContain("\\u001b");
    },
  );

  test.each([
    ["no paths", request([]), /must name them/],
    ["no reason", request(["a.ts"], { reason: " " }), /say why/],
    ["an unknown phase", request(["a.ts"], { phase: "9" }), /no phase "9"/],
    ["a pending phase", request(["a.ts"], { phase: "2" }), /Phase 2 is pending: only running phases/],
  ])("is rejected for %s", (_, asked, message) => {
    expect(() => decideScopeRequest(following(), asked, ".gemini")).toThrow(message);
  });
});

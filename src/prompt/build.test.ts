import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../test/support/project.ts";
import { frozenPhase, moved, sessionAfter } from "../../test/support/session.ts";
import { emptyContext } from "../handoff/downstream-context.ts";
import type { SessionEvent } from "../session/events.ts";
import { findPhase, type Session, type SessionPhase } from "../session/session.ts";
import { buildPrompt, type PromptInput, rolePrompt } from "./build.ts";
import { projectRootHeader } from "./header.ts";

const tag = "q7x2m9kd";

function promptFor(session: Session, id: string, over: Partial<PromptInput> = {}): string {
  return buildPrompt({
    projectRoot: "/work/shop",
    agent: "coder",
    role: rolePrompt(
      { name: "coder", body: "Make the smallest change.\n" },
      { base: "# Base\n", safety: "# Safety\n" },
    ),
    redact: (text) => text,
    session,
    phase: findPhase(session, id) as SessionPhase,
    maxRetries: 2,
    tag,
    ...over,
  });
}

const handedOff = (phase: string, over: Partial<ReturnType<typeof emptyContext>>): SessionEvent => ({
  type: "phase.handed_off",
  phase,
  agent: "data-engineer",
  handoff: { status: "success", missing: [], summary: "", downstream_context: { ...emptyContext(), ...over } },
});

const failed: SessionEvent = {
  type: "phase.error_added",
  phase: "2",
  error: {
    agent: "coder",
    timestamp: "2026-02-14T22:58:10.000Z",
    type: "validation",
    message: "$ npm test\nexit code 1",
    resolution: "pending",
    resolved: false,
  },
};

const phases = [
  frozenPhase("1", { title: "Schema", agent: "data-engineer" }),
  frozenPhase("2", {
    title: "Routes",
    description: "The five operations of the contract.",
    validation_criteria: ["every operation answers", "errors have one body"],
    validation: ["npm test -- routes", "npm run lint"],
    blocked_by: ["1"],
    files_created: ["src/routes.ts", "test/routes/**"],
    files_modified: ["src/main.ts"],
    files_deleted: ["src/old.ts"],
  }),
  frozenPhase("3", {
    title: "Manual",
    agent: "technical-writer",
    description: "Describe the routes.",
    blocked_by: ["2"],
  }),
];

function sessionAtPhaseTwo(...events: SessionEvent[]): Session {
  const session = sessionAfter(
    phases,
    moved("1", "pending", "in_progress"),
    handedOff("1", { key_interfaces_introduced: ["`Task` in src/schema.ts"] }),
    moved("1", "in_progress", "completed"),
    moved("2", "pending", "in_progress"),
    ...events,
  );
  session.task = "A small task service.";
  return session;
}

describe("the delegation prompt", () => {
  const prompt = promptFor(sessionAtPhaseTwo(), "2");

  test.each([
    ["project root", `${projectRootHeader("/work/shop")}\n\n`],
    ["agent context", "# Role: coder\n\nMake the smallest change."],
    ["objective", "## Objective\n\nThe five operations of the contract."],
    [
      "file constraints",
      "You may create:\n- src/routes.ts\n- test/routes/**\n\nYou may modify:\n- src/main.ts\n\nYou may delete:\n- src/old.ts",
    ],
    ["file constraints, the rule for all other files", "Nothing else may be created, modified or deleted"],
    ["downstream consumers", "- Phase 3, Manual (technical-writer): Describe the routes."],
    ["base protocol", "# Base"],
    ["safety protocol", "# Safety"],
    ["context chain", "Key Interfaces Introduced:\n- `Task` in src/schema.ts"],
    ["validation instructions", "- every operation answers\n- errors have one body"],
    [
      "validation commands",
      "- npm test -- routes\n- npm run lint\nRun them yourself before you report, if your tools allow it",
    ],
    ["the user's task", "## The user's overall task\n\nA small task service."],
    ["progress", 'Phase 2 of 3 of "Task API". Done: 1. Running beside this one: 0.'],
  ])("contains its %s (H107)", (_part, text) => {
    expect(prompt).toContain(text);
  });

  test("names agent, phase and session right after the header", () => {
    const header = projectRootHeader("/work/shop");
    expect(prompt.slice(0, header.length)).toBe(header);
    expect(prompt.slice(header.length)).toMatch(/^\n\nAgent: coder\nPhase: 2\nSession: 2026-02-14-task-api\n\n/);
  });

  test("has its parts in the decided order: protocols first, text from others last (N190)", () => {
    const retried = promptFor(sessionAtPhaseTwo(failed, moved("2", "in_progress", "failed")), "2");
    const parts = [
      "PROJECT ROOT:",
      "Agent: coder",
      "# Base",
      "# Safety",
      "# Role: coder",
      "# Task: Routes",
      "## Objective",
      "## The user's overall task",
      "## Files",
      "## Validation",
      "## Who builds on this",
      "Text between `<data-",
      "# Previous attempts",
      "# Context from earlier phases",
      "## Phase 1: Schema (data-engineer, completed)",
    ];
    const places = parts.map((part) => retried.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).toEqual(parts.map((part) => retried.lastIndexOf(part)));
  });

  test("explains the tags only when it contains any", () => {
    const first = promptFor(sessionAfter(phases), "1");
    expect(first).not.toContain("<data-");
    expect(first).toContain("# Context from earlier phases\n\nNone: this phase waits for no other.");
    expect(first).not.toContain("# Previous attempts");
  });

  test("is the same for the same input, and takes a few thousand characters with the real protocols and agents", () => {
    const read = (path: string) => readFileSync(join(root, path), "utf8");
    const protocols = {
      base: read("protocols/agent-base-protocol.md"),
      safety: read("protocols/filesystem-safety-protocol.md"),
    };
    const body = read("agents/coder.md").split("\n---\n")[1] ?? "";
    const role = rolePrompt({ name: "coder", body }, protocols);
    const build = () => promptFor(sessionAtPhaseTwo(), "2", { role });
    expect(build()).toBe(build());
    expect(build().length).toBeLessThan(10_000);
  });

  test("contains no secret of the project's path, the plan, the task, an earlier phase or an earlier failure", () => {
    const secrets = /shop|Routes|small|npm test|Task.? in src/g;
    const session = sessionAtPhaseTwo(failed);
    expect(new Set(promptFor(session, "2").match(secrets)).size).toBe(5);
    const prompt = promptFor(session, "2", { redact: (text) => text.replace(secrets, "[redacted]") });
    expect(prompt.match(secrets)).toEqual(["small"]);
    expect(prompt).toContain("# Role: coder\n\nMake the smallest change.");
  });

  test.each(["", "short", "with space", "angle>bracket", "regex.*chars"])(
    "rejects the tag %j, which could be guessed or closed",
    (bad) => {
      expect(() => promptFor(sessionAtPhaseTwo(), "2", { tag: bad })).toThrow("A prompt's tag must be");
    },
  );

  test("contains no control characters from the plan, the task or the names", () => {
    const red = "\u001b[31mred\u001b[0m\u0007";
    const session = sessionAfter([
      frozenPhase("1", {
        title: `A${red}\nB`,
        description: red,
        validation_criteria: [red],
        validation: [red],
      }),
      frozenPhase("2", { title: red, description: red, blocked_by: ["1"] }),
    ]);
    session.task = red;
    const text = promptFor(session, "1");
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    expect(text).toContain("# Task: Ared B\n");
  });
});

describe("the files a phase may change", () => {
  test("are none when the plan gives it no files", () => {
    const text = promptFor(sessionAfter([frozenPhase("1")]), "1");
    expect(text).toContain("## Files\n\nThe plan gives this phase no files: create, modify and delete none.");
    expect(text).not.toContain("You may");
  });

  test("can be extended on request by an agent that writes, and by no other", () => {
    const ask = /If the objective needs more, ask for it with `maestro_request_scope` first; .*name in your report\.\n/;
    const textFor = (over: object) => promptFor(sessionAfter([frozenPhase("1", over)]), "1");
    expect(textFor({ files_modified: ["a.ts"] })).toMatch(ask);
    expect(textFor({})).toMatch(ask);
    expect(textFor({ agent: "architect" })).not.toContain("maestro_request_scope");
    expect(textFor({ agent: "debugger" })).not.toContain("maestro_request_scope");
  });

  test("include what its agent requested and was granted", () => {
    const grant: SessionEvent = {
      type: "phase.scope_requested",
      phase: "1",
      agent: "coder",
      paths: ["src/b.ts", "docs/"],
      reason: "needed",
      granted: true,
      owner: null,
    };
    const text = promptFor(sessionAfter([frozenPhase("1", { files_modified: ["a.ts"] })], grant), "1");
    expect(text).toContain("- a.ts\n\nYou may change, granted on request:\n- src/b.ts\n- docs/\n\nNothing else may be");
  });

  test("leave out empty lists", () => {
    const text = promptFor(sessionAfter([frozenPhase("1", { files_modified: ["a.ts"] })]), "1");
    expect(text).toContain("## Files\n\nYou may modify:\n- a.ts\n\nNothing else may be");
    expect(text).not.toMatch(/You may (create|delete)/);
  });

  test("are what the objective needs when no plan is recorded, and the title is the objective", () => {
    const session = sessionAfter([frozenPhase("1", { title: "Repair the build" })]);
    delete findPhase(session, "1")?.plan;
    const text = promptFor(session, "1");
    expect(text).toContain("## Objective\n\nRepair the build\n");
    expect(text).toContain("The plan of this session is not on record");
    expect(text).toContain("The plan names no criteria");
  });
});

describe("validation and consumers", () => {
  test("says so when no command runs and no phase waits", () => {
    const text = promptFor(sessionAfter([frozenPhase("1")]), "1");
    expect(text).toContain("No command runs after you.");
    expect(text).toContain("No phase waits for this one.");
    expect(text).not.toContain("overall task");
  });

  test("keeps a command of several lines as one entry", () => {
    const text = promptFor(sessionAfter([frozenPhase("1", { validation: ["set -e\nnpm test"] })]), "1");
    expect(text).toContain("- set -e\n  npm test\nRun them yourself");
  });

  test("names twenty consumers and counts the rest", () => {
    const many = Array.from({ length: 25 }, (_, n) =>
      frozenPhase(`c${n}`, { blocked_by: ["1"], description: "x".repeat(1000) }),
    );
    const text = promptFor(sessionAfter([frozenPhase("1"), ...many]), "1");
    expect(text.match(/^- Phase c/gm)).toHaveLength(20);
    expect(text).toContain("- and 5 more\n");
    expect(text.length).toBeLessThan(12_000);
  });

  test("counts the phases running beside it", () => {
    const side = frozenPhase("4");
    const session = sessionAfter(
      [frozenPhase("1"), side],
      moved("1", "pending", "in_progress"),
      moved("4", "pending", "in_progress"),
    );
    expect(promptFor(session, "1")).toContain("Done: 0. Running beside this one: 1.");
  });
});

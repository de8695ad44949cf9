import { expect, test } from "vitest";
import type { Session } from "../../session/session.ts";
import { earlierRuntime } from "./earlier.ts";

type Made = { runtime: string; instead_of?: string; seq: number; agent?: string };
const earlier = (...phases: { plan?: object; attempts: Made[] }[]) =>
  earlierRuntime({ phases } as unknown as Session, (agent) => agent === "tester");

test("a session continues with the runtime that was chosen for its last attempt", () => {
  const first = { attempts: [{ runtime: "gemini", seq: 2 }] };
  expect(earlier(first, { attempts: [{ runtime: "claude", seq: 9 }] })).toBe("claude");
  expect(earlier({ attempts: [{ runtime: "codex", instead_of: "claude", seq: 9 }] }, first)).toBe("claude");
  expect([
    earlier(first),
    earlier(),
    earlier({ attempts: [{ runtime: "codex", instead_of: "gemini", seq: 3 }] }),
  ]).toEqual([undefined, undefined, undefined]);
});

test("a runtime that the plan names does not count, and the journal names no command to start", () => {
  expect(earlier({ plan: { runtime: "claude" }, attempts: [{ runtime: "claude", seq: 1 }] })).toBeUndefined();
  expect(earlier({ attempts: [{ runtime: "acp:sh -c evil", seq: 1 }] })).toBeUndefined();
});

test("an agent that the settings give a runtime of its own says nothing about the others", () => {
  const coder = { attempts: [{ runtime: "codex", seq: 1, agent: "coder" }] };
  expect(earlier(coder, { attempts: [{ runtime: "claude", seq: 9, agent: "tester" }] })).toBe("codex");
});

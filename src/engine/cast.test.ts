import { expect, test } from "vitest";
import { acpRuntime } from "../runtimes/acp/acp.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { runtimes } from "../runtimes/runtime-table.ts";
import type { Session, SessionPhase } from "../session/session.ts";
import { Cast, type Player } from "./cast.ts";

const player = (runtime: Runtime, program: string | undefined): Player => ({
  ...{ runtime, program, extraArgs: [], agentEnvironment: () => ({}) },
});

function castOf(missing: string[], fallback: string[], allowsUnheld = false): Cast {
  const players = runtimes.map((one) => player(one, missing.includes(one.name) ? undefined : `/bin/${one.name}`));
  return new Cast(players, { byAgent: () => "gemini", fallback, allowsUnheld });
}

const phase = (plan: object = {}, blocked_by: string[] = []) =>
  ({ id: "2", plan, blocked_by }) as unknown as SessionPhase;
const session = { phases: [{ id: "1", attempts: [{ runtime: "gemini" }] }] } as unknown as Session;
const coder = { name: "coder", tier: "full" as const };
const roleOf = (cast: Cast, of = phase(), agent: Parameters<Cast["choose"]>[2] = coder) => {
  const { player: chosen, insteadOf } = cast.choose(session, of, agent);
  return [chosen.runtime.name, insteadOf];
};

test("the plan's runtime overrides that of the agent", () => {
  expect(roleOf(castOf([], []))).toEqual(["gemini", null]);
  expect(roleOf(castOf([], []), phase({ runtime: "codex" }))).toEqual(["codex", null]);
});

test("a runtime that cannot continue is replaced by the next of the list, and the attempt says so", () => {
  const cast = castOf([], ["claude", "codex"]);
  expect(cast.failOver("gemini", "full")).toBe("claude");
  expect(roleOf(cast)).toEqual(["claude", "gemini"]);
  expect(cast.failOver("claude", "full")).toBe("codex");
  expect(roleOf(cast)).toEqual(["codex", "gemini"]);
});

test("without another runtime it stays in use, so that its own failure is reported", () => {
  const cast = castOf([], []);
  expect(cast.failOver("gemini", "full")).toBeNull();
  expect([cast.isSpent("gemini"), ...roleOf(cast)]).toEqual([false, "gemini", null]);
});

test("a missing program is replaced from the first attempt on", () => {
  expect(roleOf(castOf(["gemini", "claude"], ["claude", "codex"]))).toEqual(["codex", "gemini"]);
});

test("a runtime that cannot enforce the agent's tier does not take over, unless the user allows it", () => {
  const writer = { name: "refactor", tier: "read-write" as const };
  expect(roleOf(castOf(["gemini"], ["codex", "claude"]), phase(), writer)).toEqual(["claude", "gemini"]);
  expect(roleOf(castOf(["gemini"], ["codex", "claude"], true), phase(), writer)).toEqual(["codex", "gemini"]);
});

test("a review by another is played by a runtime that did not play the work", () => {
  expect(roleOf(castOf([], []), phase({ review_by: "other" }, ["1"]))).toEqual(["claude", null]);
  const others = runtimes.map(({ name }) => name).filter((name) => name !== "gemini");
  expect(roleOf(castOf(others, []), phase({ review_by: "other" }, ["1"]))).toEqual(["gemini", null]);
});

test("a review by another vendor that only the author's vendor can play is reported as such", () => {
  const isOwn = (cast: Cast, of: SessionPhase) => cast.choose(session, of, coder).isOwnReview;
  const others = runtimes.map(({ name }) => name).filter((name) => name !== "gemini");
  const review = phase({ review_by: "other" }, ["1"]);
  expect([isOwn(castOf(others, []), review), isOwn(castOf([], []), review)]).toEqual([true, false]);
  expect(isOwn(castOf(others, []), phase({}, ["1"]))).toBe(false);
});

test("a review by another vendor goes to a runtime that enforces the reviewer's tier, with another account", () => {
  const reviewer = { name: "code-reviewer", tier: "read-only" as const };
  const only = (...there: string[]) => runtimes.map(({ name }) => name).filter((name) => !there.includes(name));
  const review = phase({ review_by: "other" }, ["1"]);
  expect(roleOf(castOf(only("gemini", "goose"), []), review, reviewer)).toEqual(["gemini", null]);
  expect(roleOf(castOf(only("gemini", "goose", "pi"), []), review, reviewer)).toEqual(["pi", null]);
  const face = acpRuntime("acp:gemini --acp", [], runtimes);
  const players = [...runtimes.filter(({ name }) => name === "gemini"), face].map((one) => player(one, "/bin/x"));
  const cast = new Cast(players, { byAgent: () => "gemini", fallback: [], allowsUnheld: true });
  expect(roleOf(cast, review, reviewer)).toEqual(["gemini", null]);
});

test.each(["gemini", "claude", "acp:agent --acp"])(
  "an attempt that %s played is read by it, whatever plays now",
  (name) => {
    expect(castOf(["claude"], []).reader(name).name).toBe(name);
  },
);

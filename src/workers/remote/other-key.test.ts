import { describe, expect, test } from "vitest";
import type { PhaseId } from "../../ids.ts";
import { canStillRun, idsNamed, type KeyedWorker, namesOf, otherKeyMessage, otherKeyWarning } from "./other-key.ts";

const worker = (name: string, over: Partial<KeyedWorker> = {}): KeyedWorker => ({
  id: `${name}-1`,
  name,
  runtimes: ["gemini"],
  labels: [],
  isDraining: false,
  ...over,
});
const queue = { runtime: "gemini", pool: "login", needs: [] };
const refused = (...ids: string[]) => new Set(ids);

describe("after a worker refused an order because of its key", () => {
  test.each<[string, KeyedWorker[], boolean]>([
    ["it is the only one", [worker("a")], false],
    ["nobody is there any more", [], false],
    ["another one is there", [worker("a"), worker("b")], true],
    ["the other one drains", [worker("a"), worker("b", { isDraining: true })], false],
    ["the other one has another runtime", [worker("a"), worker("b", { runtimes: ["pi"] })], false],
    ["it was started again since", [worker("a", { id: "a-2" })], true],
  ])("%s", (_, workers, expected) => {
    expect(canStillRun({ workers, refused: refused("a-1") }, queue)).toBe(expected);
  });

  test("another one counts until it has refused too, and then both are named", () => {
    const keys = {
      workers: [worker("b"), worker("a"), worker("c", { isDraining: true })],
      refused: refused("a-1", "b-1"),
    };
    expect(canStillRun(keys, queue)).toBe(false);
    expect(namesOf(keys, "b")).toEqual(["a", "b"]);
    expect(otherKeyMessage(namesOf(keys, "b"), "3" as PhaseId)).toMatch(
      /^Workers a, b refuse the order.*"maestro retry 3"$/,
    );
  });

  test("it is known by its name, and named also when it is gone", () => {
    expect(idsNamed([worker("a"), worker("a", { id: "a-2" }), worker("b")], "a")).toEqual(["a-1", "a-2"]);
    expect(namesOf({ workers: [], refused: refused("a-1") }, "a")).toEqual(["a"]);
  });

  test("a name that no worker can have is not shown", () => {
    expect(namesOf({ workers: [], refused: refused() }, "\u001b[31m x")).toEqual(["unnamed"]);
    expect(otherKeyWarning("a\nb")).toContain("Worker unnamed refuses orders");
  });
});

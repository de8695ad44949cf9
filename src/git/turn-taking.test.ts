import { describe, expect, test } from "vitest";
import { TurnTaking } from "./turn-taking.ts";

const soon = (ms = 1) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("TurnTaking", () => {
  test("runs one task at a time, in the order of submission, however long each takes", async () => {
    const turns = new TurnTaking();
    const log: string[] = [];
    const work = (name: string, ms: number) =>
      turns.take(async () => {
        log.push(`${name} begins`);
        await soon(ms);
        log.push(`${name} ends`);
      });
    await Promise.all([work("slow", 20), work("quick", 0), work("last", 5)]);
    expect(log).toEqual(["slow begins", "slow ends", "quick begins", "quick ends", "last begins", "last ends"]);
  });

  test("gives each caller the result or failure of its own task", async () => {
    const turns = new TurnTaking();
    const failing = turns.take(() => Promise.reject(new Error("mine")));
    const throwing = turns.take(() => {
      throw new Error("at once");
    });
    const fine = turns.take(async () => 3);
    await expect(failing).rejects.toThrow("mine");
    await expect(throwing).rejects.toThrow("at once");
    expect(await fine).toBe(3);
    expect(await turns.take(async () => 4)).toBe(4);
  });

  test("starts even the first task asynchronously", async () => {
    const turns = new TurnTaking();
    let begun = false;
    const turn = turns.take(async () => {
      begun = true;
    });
    expect(begun).toBe(false);
    await turn;
    expect(begun).toBe(true);
  });

  test("runs a task that is submitted during another one after it", async () => {
    const turns = new TurnTaking();
    const log: string[] = [];
    let inner: Promise<void> = Promise.resolve();
    await turns.take(async () => {
      inner = turns.take(async () => void log.push("inner"));
      await soon();
      log.push("outer");
    });
    await inner;
    expect(log).toEqual(["outer", "inner"]);
  });
});

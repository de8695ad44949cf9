import { describe, expect, test } from "vitest";
import type { Killed } from "../../runtimes/runtime.ts";
import { Stopping } from "./stopping.ts";

describe("work that can be stopped", () => {
  test("stops the current process", () => {
    const stopping = new Stopping();
    const ended: Killed[] = [];
    stopping.runs((why) => void ended.push(why));
    expect(stopping.isStopped).toBe(false);
    stopping.stop("stopped");
    expect([stopping.isStopped, ended]).toEqual([true, ["stopped"]]);
  });

  test("stops a process at once when it starts after the stop", () => {
    const stopping = new Stopping();
    stopping.stop("stopped");
    const ended: Killed[] = [];
    stopping.runs((why) => void ended.push(why));
    expect(ended).toEqual(["stopped"]);
  });

  test("stops only the current process, not earlier ones", () => {
    const stopping = new Stopping();
    const ended: string[] = [];
    stopping.runs(() => void ended.push("first"));
    stopping.runs(() => void ended.push("second"));
    stopping.stop("timeout");
    expect(ended).toEqual(["second"]);
  });
});

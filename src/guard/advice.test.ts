// Every command that a denial advises is one that the guard allows and that no protocol forbids.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../test/support/project.ts";
import { baselineRules } from "../agents/baseline.ts";
import { judgeCommand, judgeToolCall } from "./judge.ts";
import type { Machine } from "./machine.ts";

const machine: Machine = {
  projectRoot: "/work/project",
  home: "/home/dev",
  tmpdir: "/tmp",
  stateDir: "/work/project/.gemini",
  extensionRoot: "/home/dev/.gemini/extensions/maestro",
  hasSession: () => true,
};

const programs = "git|rm|kill|pkill|maestro|npm|sed|cat|tee";
const protocols = ["agent-base-protocol", "filesystem-safety-protocol"].map((name) =>
  readFileSync(join(root, `protocols/${name}.md`), "utf8"),
);
const forbidden = protocols.flatMap(
  (text) => /in this tree: no ([^.]*?),? unless/.exec(text)?.[1]?.split(/,? or |, /) ?? [],
);

/** The text of every denial that the corpus reaches, without the parts that differ from call to call. */
const denials = [
  ...new Set(
    readFileSync(join(root, "test/guard/deny.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ command, tool_name, tool_input }) =>
        command === undefined ? judgeToolCall(tool_name, tool_input, machine) : judgeCommand(command, machine),
      )
      .flatMap((verdict) => (verdict.verdict === "deny" ? [verdict.reason] : [])),
  ),
  ...baselineRules.map(({ denyMessage }) => denyMessage),
];

/** What comes after the complaint, which is the first sentence and names the denied command. */
function adviceIn(denial: string): string {
  return denial.replace(/^.*?(?:\.|\)\.) (?=[A-Z])/s, "");
}

/** Commands in quotes or in brackets, after a colon, or plain words that name a command of git. */
function commandsIn(advice: string): string[] {
  const quoted = [...advice.matchAll(new RegExp(`["\`(]((?:${programs}) [^"\`]*?)(?:["\`]|\\)(?=[,. ]))`, "g"))];
  const plain = [...advice.matchAll(/(?<!["`(])\b((?:git|rm|pkill) [a-z-][^,".]*)/g)];
  return [...quoted, ...plain].map(([, command = ""]) => command.replace(/<\w+>/g, "mine").trim());
}

const advised = [...new Set(denials.flatMap((denial) => commandsIn(adviceIn(denial))))];

describe("record A16: the advice of a denial", () => {
  test("is read from many denials, and names commands", () => {
    expect(denials.length).toBeGreaterThan(200);
    expect(forbidden).toEqual(["commit", "stash", "reset", "checkout", "clean"]);
    expect(advised).toEqual(expect.arrayContaining(["git restore mine", "git branch -D mine", "kill $!"]));
    expect(commandsIn('Use "git stash", or git clean -fd <path>.')).toEqual(["git stash", "git clean -fd mine"]);
  });

  test("is allowed by the guard (S239)", () => {
    const denied = advised.filter((command) => judgeCommand(command, machine).verdict === "deny");
    expect(denied).toEqual([]);
  });

  test("is not forbidden by a protocol (S239)", () => {
    const verbs = new RegExp(`\\bgit (?:${forbidden.join("|")})\\b`);
    expect(denials.map(adviceIn).filter((advice) => verbs.test(advice))).toEqual([]);
  });
});

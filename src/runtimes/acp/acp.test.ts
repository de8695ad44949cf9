import { expect, test } from "vitest";
import { geminiRuntime } from "../gemini/gemini.ts";
import { acpRuntime, type BridgeEvent } from "./acp.ts";

const runtimeOf = (name: string) => acpRuntime(name, ["node", "bridge"], [geminiRuntime]);
const judged = (...events: BridgeEvent[]) =>
  runtimeOf("acp:agent").judge({
    exitCode: events.some((event) => event.type === "end" && event.good) ? 0 : 1,
    killed: null,
    stdout: events.map((event) => JSON.stringify(event)).join("\n"),
    stderr: "",
  });
const said = (text: string): BridgeEvent => ({ type: "text", text });
const end: BridgeEvent = { type: "end", good: true };

test("the bridge gets the agent's program, the tier, the model and the agent's arguments", () => {
  const { program, host, argv } = runtimeOf("acp:my-agent --acp 'two words'");
  const spec = { agent: "coder", policyFile: null, isStreamed: true, extraArgs: ["--not-mine"] };
  expect([program, host]).toEqual(["my-agent", ["node", "bridge"]]);
  expect(argv({ ...spec, tier: "full", model: null })).toEqual(["full", "", "--acp", "two words"]);
  expect(argv({ ...spec, tier: "read-only", model: "m" })).toEqual(["read-only", "m", "--acp", "two words"]);
});

test.each(["acp:", "acp: ", "acp:'open", "acp:ag\u00e9nt", `acp:${"x".repeat(200)}`])("%j is a usage error", (name) => {
  expect(() => runtimeOf(name)).toThrow(expect.objectContaining({ code: "usage" }));
});

test.each([
  ["acp:gemini --acp", true],
  ["acp:/opt/bin/gemini", true],
  ["acp:gemini-acp", true],
  ["acp:other --gemini", false],
])("%s gets the variables of a vendor by the name of its program", (name, isGemini) => {
  expect(runtimeOf(name).vendor.test("GEMINI_API_KEY")).toBe(isGemini);
});

test.each([
  ["an answer", [said("## Task Report\nerror handling is done"), end], { kind: "success" }],
  [
    "an error of the protocol",
    [
      { type: "error", message: "rate_limit (-32603)" },
      { type: "end", good: false },
    ],
    { kind: "quota" },
  ],
  [
    "a sign-in",
    [
      { type: "error", message: "Authentication required (-32000)" },
      { type: "end", good: false },
    ],
    { errorType: "auth" },
  ],
  ["an error told as an answer", [said("Info: x\nError: 400 bad request"), end], { kind: "failure", reason: "error" }],
  ["a quota told as an answer", [said("Ran into this error: 429 Too Many Requests."), end], { kind: "quota" }],
  ["an end without an answer", [end], { kind: "failure", reason: "empty_response" }],
  ["no end", [said("half")], { kind: "failure", reason: "error" }],
] satisfies [string, BridgeEvent[], object][])("%s is judged for what it is", (_, events, expected) => {
  expect(judged(...events)).toMatchObject(expected);
});

import { expect, test } from "vitest";
import { quotaSign } from "../quota.ts";
import type { AttemptSpec } from "../runtime.ts";
import { geminiRuntime } from "./gemini.ts";
import { judgeGemini } from "./outcome.ts";

const spec: AttemptSpec = {
  agent: "coder",
  tier: "full",
  model: null,
  policyFile: null,
  isStreamed: false,
  extraArgs: [],
};
const argv = (given: Partial<AttemptSpec>) => geminiRuntime.argv({ ...spec, ...given }).join(" ");

test("the command line is the documented one (E54, G80, G81, C8)", () => {
  expect(geminiRuntime.program).toBe("gemini");
  expect(argv({})).toBe("--approval-mode=yolo --output-format json --skip-trust");
  expect(argv({ isStreamed: true })).toBe("--approval-mode=yolo --output-format stream-json --skip-trust");
  expect(argv({ model: "gemini-2.5-pro" })).toBe(
    "--approval-mode=yolo --output-format json -m gemini-2.5-pro --skip-trust",
  );
  expect(argv({ model: "m", policyFile: "/p/read-only.toml", extraArgs: ["--debug", "a b"] })).toBe(
    "--approval-mode=yolo --output-format json -m m --policy /p/read-only.toml --policy ~/.gemini/policies --skip-trust --debug a b",
  );
});

test("keeps the user's arguments as whole words", () => {
  expect(geminiRuntime.argv({ ...spec, extraArgs: ["a b", "$HOME", ""] }).slice(-3)).toEqual(["a b", "$HOME", ""]);
});

test.each(["/a,b/read-only.toml", "/p/read-only", "/p/read-only.toml.bak"])(
  "rejects a policy file that the CLI would silently skip: %s",
  (policyFile) => {
    expect(() => argv({ policyFile })).toThrow(/would not load the policy file/);
  },
);

test("a signal reaches the CLI itself, and no other variable is set", () => {
  expect(geminiRuntime.environment).toEqual({ GEMINI_CLI_NO_RELAUNCH: "true" });
});

test("it calls a model, and has its own rules for outcomes", () => {
  expect(geminiRuntime).toMatchObject({ callsModel: true, judge: judgeGemini, quotaSign });
});

test("a prompt reaches the agent as written: nothing in it is taken for a file or an agent", () => {
  expect(geminiRuntime.payload("Install zod@4 for @coder.\n")).toBe(
    "Install zod\\@4 for \\@coder.\n\nIn all of this `\\@` stands for a plain at sign.\n",
  );
  expect(geminiRuntime.payload("an escaped \\@ stays")).toBe("an escaped \\@ stays");
  expect(geminiRuntime.payload("nothing to do\n")).toBe("nothing to do\n");
});

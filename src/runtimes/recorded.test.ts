import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { claudeRuntime } from "./claude/claude.ts";
import { codexRuntime } from "./codex/codex.ts";
import { copilotRuntime } from "./copilot/copilot.ts";
import { vendorEnvironment } from "./environment.ts";
import { gooseRuntime } from "./goose/goose.ts";
import { opencodeRuntime } from "./opencode/opencode.ts";
import { piRuntime } from "./pi/pi.ts";
import { qwenRuntime } from "./qwen/qwen.ts";
import { noProgress, type Runtime } from "./runtime.ts";
import { runtimes } from "./runtime-table.ts";

// Each .jsonl file beside a runtime is what the program printed, with a scripted model: two calls of 1,234 tokens in (200 cached) and 56 out.
const recorded = ({ name }: Runtime, what: string) =>
  readFileSync(new URL(`${name}/${what}.jsonl`, import.meta.url), "utf8");
const judged = (runtime: Runtime, what: string, exitCode = 0) =>
  runtime.judge({ exitCode, killed: null, stdout: recorded(runtime, what), stderr: "" });

const seven = [...[claudeRuntime, codexRuntime, piRuntime, qwenRuntime, opencodeRuntime, copilotRuntime, gooseRuntime]];

describe.each(seven.map((runtime) => [runtime.name, runtime] as const))("what %s printed", (name, runtime) => {
  test("is its answer after the file was written, and not what it said before", () => {
    const { kind, text } = judged(runtime, "success");
    expect([kind, text.trim()]).toEqual(["success", "All done."]);
  });

  test("has the tokens that the account is billed for, or none", () => {
    const counted = {
      claude: { model: "claude-sonnet-4-5", input: 2468, cached: 400, output: 112, thoughts: 0 },
      codex: { model: null, input: 2468, cached: 400, output: 112, thoughts: 0 },
      pi: { model: "m1", input: 2468, cached: 400, output: 112, thoughts: 0 },
      qwen: { model: null, input: 2468, cached: 400, output: 112, thoughts: 0 },
      opencode: { model: null, input: 2468, cached: 400, output: 80, thoughts: 32 },
      goose: { model: null, input: 2468, cached: 0, output: 112, thoughts: 0 },
    };
    expect(judged(runtime, "success").usage).toEqual(name in counted ? [counted[name as keyof typeof counted]] : null);
  });

  test("shows the call that writes the file, while it runs and in the log", () => {
    const stdout = recorded(runtime, "success");
    const lines = stdout.split("\n");
    const isCall = (line: string) => runtime.progress(noProgress, line).activity.includes("out.txt");
    expect(lines.some(isCall)).toBe(true);
    expect(runtime.progress(noProgress, stdout).activity).toBe("All done.");
    expect(runtime.shown(stdout, false)?.text).toMatch(/> \w+ .*out\.txt\S*\n(.*\n)*.*All done\./);
  });

  test("is a failure when it stops before its last event", () => {
    const ofEvents = recorded(runtime, "success")
      .split("\n")
      .filter((line) => line.startsWith("{"));
    const cut = ofEvents.slice(0, -1).join("\n");
    expect(runtime.judge({ exitCode: 0, killed: null, stdout: cut, stderr: "" })).toMatchObject({
      reason: "no_result",
    });
  });

  test("needs a way to sign in when its key is refused", () => {
    expect(judged(runtime, "sign-in")).toMatchObject({ kind: "failure", reason: "auth", errorType: "auth" });
    expect(judged(runtime, "sign-in", 1).message).toMatch(/terminal/);
  });
});

test.each(seven.filter((runtime) => runtime !== qwenRuntime).map((runtime) => [runtime.name, runtime] as const))(
  "%s tells that its quota is gone, and how long to wait",
  (_, runtime) => {
    // Codex leaves out what its provider said.
    const wait = runtime === codexRuntime ? {} : { retryAfterMs: 7000 };
    for (const code of [0, 1]) {
      expect(judged(runtime, "quota", code)).toMatchObject({ kind: "quota", ...wait });
    }
  },
);

test.each([
  ["claude", claudeRuntime],
  ["codex", codexRuntime],
  ["pi", piRuntime],
  ["copilot", copilotRuntime],
  ["goose", gooseRuntime],
])("%s tells that its provider failed", (_, runtime) => {
  expect(judged(runtime, "server-error")).toMatchObject({ kind: "failure", reason: "server_error" });
});

test.each([
  ["pi", piRuntime],
  ["copilot", copilotRuntime],
])("an empty answer of %s is a failure", (_, runtime) => {
  expect(judged(runtime, "empty", runtime === copilotRuntime ? 1 : 0)).toMatchObject({ reason: "empty_response" });
});

test("an empty answer of qwen is a failed call of the model", () => {
  expect(judged(qwenRuntime, "empty")).toMatchObject({ kind: "failure", reason: "error" });
  expect(judged(qwenRuntime, "empty").message).toContain("empty response text");
});

test.each([
  ["pi", piRuntime, "Tool write not found"],
  ["qwen", qwenRuntime, "permission was declined"],
  ["opencode", opencodeRuntime, "unavailable tool 'write'"],
  ["copilot", copilotRuntime, ""],
])("a read-only agent of %s that tries to write shows that it failed", (_, runtime, why) => {
  expect(judged(runtime, "read-only").kind).toBe("success");
  expect(runtime.shown(recorded(runtime, "read-only"), false)?.text).toMatch(new RegExp(`failed: .*${why}`));
});

test("goose reports a complete run after its quota ran out in the middle, which does not count as success", () => {
  expect(judged(gooseRuntime, "quota-late")).toMatchObject({ kind: "quota", usage: [{ input: 1234, output: 56 }] });
  expect(judged(gooseRuntime, "garbage")).toMatchObject({ kind: "failure", reason: "empty_response", usage: null });
});

test("goose that cannot reach its model has failed, although it reports a complete run", () => {
  const text = "Network error: Could not connect to 127.0.0.1:9\n\nPlease resend your message to try again.";
  const said = { type: "message", message: { id: null, role: "assistant", content: [{ type: "text", text }] } };
  const stdout = [said, { type: "complete", total_tokens: null }].map((event) => JSON.stringify(event)).join("\n");
  const outcome = gooseRuntime.judge({ exitCode: 0, killed: null, stdout, stderr: "" });
  expect(outcome).toMatchObject({ kind: "failure", message: expect.stringContaining("Could not connect") });
});

test("an error that a program prints in place of its events is reported", () => {
  const stdout = "  error: Could not create session: database is locked\n";
  const outcome = gooseRuntime.judge({ exitCode: 1, killed: null, stdout, stderr: "" });
  expect(outcome).toMatchObject({ kind: "failure", message: expect.stringContaining("database is locked") });
});

test("an agent that quotes an error of its program has not failed", () => {
  const said = {
    type: "message",
    message: { id: "c9", role: "assistant", content: [{ type: "text", text: "Ran into this error: 429" }] },
  };
  const stdout = [said, { type: "complete", total_tokens: 2, input_tokens: 1, output_tokens: 1 }]
    .map((e) => JSON.stringify(e))
    .join("\n");
  expect(gooseRuntime.judge({ exitCode: 0, killed: null, stdout, stderr: "" }).kind).toBe("success");
});

test("the tokens of pi are complete even if only the end of its output is read", () => {
  const lines = recorded(piRuntime, "success").split("\n");
  const ofEnd = piRuntime.judge({ exitCode: 0, killed: null, stdout: lines.slice(-3).join("\n"), stderr: "" });
  expect(ofEnd).toMatchObject({ kind: "success", usage: [{ input: 2468, output: 112 }] });
  expect(piRuntime.progress(noProgress, lines.join("\n")).usage).toMatchObject([{ input: 2468, output: 112 }]);
});

test("pi loads the file that prints its events, and no other extension", () => {
  const args = piRuntime.argv({
    agent: "a",
    tier: "full",
    model: null,
    policyFile: "/b/policy.mjs",
    isStreamed: true,
    extraArgs: [],
  });
  expect(args.join(" ")).toContain("--no-extensions -e /b/policy.mjs");
  expect(piRuntime.startFile?.text).not.toMatch(/message_update/);
});

const spec = { agent: "a", model: "m", policyFile: null, isStreamed: true, extraArgs: [] };

test.each(["read-only", "read-shell", "read-write", "full"] as const)(
  "a %s agent starts with the tools of its tier",
  (tier) => {
    const mayWrite = tier === "read-write" || tier === "full";
    const mayRun = tier === "read-shell" || tier === "full";
    const claude = claudeRuntime.argv({ ...spec, tier }).join(" ");
    const isOpen = !claude.includes("--tools");
    expect([isOpen || /Write,Edit/.test(claude), isOpen || /Bash/.test(claude)]).toEqual([mayWrite, mayRun]);
    const codex = codexRuntime.argv({ ...spec, tier }).join(" ");
    expect(codex.includes("-s read-only")).toBe(!mayWrite);
    expect(codex.includes("--dangerously-bypass-approvals-and-sandbox")).toBe(tier === "full");
    const pi = piRuntime.argv({ ...spec, tier }).join(" ");
    expect([/edit,write/.test(pi), /bash/.test(pi)]).toEqual([mayWrite, mayRun]);
    const qwen = qwenRuntime.argv({ ...spec, tier }).join(" ");
    expect([!/write_file,edit/.test(qwen), !/run_shell_command,monitor/.test(qwen)]).toEqual([mayWrite, mayRun]);
    const opencode = opencodeRuntime.tierEnvironment?.(tier).OPENCODE_PERMISSION ?? '"edit":"allow","bash":"allow"';
    expect([/"edit":"allow"/.test(opencode), /"bash":"allow"/.test(opencode)]).toEqual([mayWrite, mayRun]);
    const copilot = copilotRuntime.argv({ ...spec, tier });
    expect([!copilot.includes("--deny-tool=write"), !copilot.includes("--deny-tool=shell")]).toEqual([
      mayWrite,
      mayRun,
    ]);
    expect(gooseRuntime.capabilities.tiers.includes(tier)).toBe(tier === "full");
  },
);

test("each program gets the credentials of its own vendor and of no other", () => {
  const keys = {
    ...{ GEMINI_API_KEY: "gemini", ANTHROPIC_API_KEY: "claude", CODEX_API_KEY: "codex", DASHSCOPE_API_KEY: "qwen" },
    ...{
      OPENCODE_API_KEY: "opencode",
      COPILOT_GITHUB_TOKEN: "copilot",
      GOOSE_PROVIDER__API_KEY: "goose",
      PI_KEY: "pi",
    },
  };
  for (const { name, vendor } of runtimes) {
    expect(Object.values(vendorEnvironment({ ...keys, GITHUB_TOKEN: "t" }, [], vendor))).toEqual([name]);
  }
});

test("qwen reads a prompt with at signs as it was written", () => {
  expect(qwenRuntime.payload("mail a@b")).toMatch(/^mail a\\@b\n/);
});

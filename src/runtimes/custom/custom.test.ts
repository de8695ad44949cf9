import { describe, expect, test } from "vitest";
import { noProgress } from "../runtime.ts";
import { customRuntime } from "./custom.ts";
import { type Description, readDescription } from "./description.ts";

const minimal = { name: "mine", program: "mine", args: [], output: { form: "text" }, tiers: { full: [] } };
const lines = {
  form: "json-lines",
  type: "/kind",
  events: {
    say: { text: "/words" },
    act: { tool: "/tool", input: "/with" },
    oops: { failed: "/why" },
    bad: { error: "/why/message" },
    done: {
      end: true,
      error: "/error",
      tokens: {
        input: "/use/0/in",
        output: "/use/0/out",
        cached: "/use/0/c~1hit",
        model: "/m",
        input_excludes_cached: true,
      },
    },
  },
};
const described = (over: object = {}) => {
  const read = readDescription(JSON.stringify({ ...minimal, ...over }), ["gemini"]);
  if ("problems" in read) throw new Error(read.problems.join("; "));
  return read as Description;
};
const runtimeOf = (over: object = {}) => customRuntime(described(over), "mine");
const ended = (over: object, stdout: string, exitCode = 0, stderr = "") =>
  runtimeOf(over).judge({ exitCode, killed: null, stdout, stderr });
const stream = (...events: object[]) => `${events.map((event) => JSON.stringify(event)).join("\n")}\n`;

describe("a description of a runtime names each wrong field and what is allowed", () => {
  test.each([
    ["no JSON", "{", "it must be JSON"],
    ["an unknown field", { ...minimal, colour: 1 }, "colour must be left out: it is not a known field"],
    ["an unknown field inside", { ...minimal, output: { form: "text", colour: 1 } }, "output.colour must be left out"],
    ["no program", { ...minimal, program: undefined }, "program must be a path"],
    [
      "a program in a strange place",
      { ...minimal, program: "a/b" },
      "program must be a name on PATH, an absolute path",
    ],
    ["a built-in name", { ...minimal, name: "gemini" }, "name must be another one: gemini is built in"],
    ["a name with capitals", { ...minimal, name: "Mine" }, "name must be lower-case letters"],
    ["an unknown form", { ...minimal, output: { form: "xml" } }, "output.form must be one of json-lines, json, text"],
    [
      "a pointer without slash",
      { ...minimal, output: { form: "json", text: "a" } },
      "output.text must be a JSON pointer",
    ],
    ["an unknown tier", { ...minimal, tiers: { some: [] } }, "tiers.some must be left out"],
    [
      "an unknown placeholder",
      { ...minimal, args: ["{model}"] },
      "args must not contain {model}: it may contain {prompt}",
    ],
    ["a prompt file that no argument names", { ...minimal, prompt: "file" }, "args must contain {prompt}"],
    ["a prompt path without a prompt file", { ...minimal, args: ["{prompt}"] }, 'prompt must be "file"'],
    ["a stream without end", { ...minimal, output: { form: "json-lines", events: {} } }, "output.events must contain"],
    [
      "a credential that is not a name",
      { ...minimal, credentials: ["A B"] },
      "credentials.0 must be the name of a variable",
    ],
  ])("%s", (_, given, expected) => {
    const text = typeof given === "string" ? given : JSON.stringify(given);
    expect(readDescription(text, ["gemini"])).toEqual({ problems: [expect.stringContaining(expected)] });
  });

  test("all wrong fields are reported at once", () => {
    const read = readDescription(JSON.stringify({ name: 1, args: 2 }), []);
    expect("problems" in read && read.problems.length).toBe(5);
  });
});

test("the command line has the tier's arguments, the model only when there is one, and the prompt's path when asked", () => {
  const over = {
    ...{ args: ["--file", "{prompt}", "--as={agent}/{tier}"], prompt: "file", model_args: ["-m", "{model}"] },
    tiers: { "read-only": ["--safe"], full: ["--all"] },
  };
  const { argv, capabilities } = runtimeOf(over);
  const spec = { agent: "coder", policyFile: null, isStreamed: true, extraArgs: [] };
  expect(argv({ ...spec, tier: "read-only", model: "$&" })).toEqual([
    ...["--file", "/dev/stdin", "--as=coder/read-only", "-m", "$&", "--safe"],
  ]);
  expect(argv({ ...spec, tier: "full", model: null })).toEqual(["--file", "/dev/stdin", "--as=coder/full", "--all"]);
  expect(capabilities.tiers).toEqual(["read-only", "full"]);
});

test("it gets its credentials and those of no other vendor", () => {
  const { vendor } = runtimeOf({ credentials: ["MINE_KEY"] });
  expect(["MINE_KEY", "MINE_KEY2", "GEMINI_API_KEY"].filter((name) => vendor.test(name))).toEqual(["MINE_KEY"]);
  expect(runtimeOf().vendor.test("")).toBe(false);
});

describe("its output is read as its file says", () => {
  const said = [
    { kind: "say", words: "I begin." },
    { kind: "act", tool: "write", with: "a.txt" },
    { kind: "oops", why: "no" },
    { kind: "say", words: "Done." },
  ];
  const done = { kind: "done", m: "m-1", use: [{ in: 10, out: 2, "c/hit": 5 }] };

  test("events: the answer after the last call, tokens by pointer", () => {
    expect(ended({ output: lines }, stream(...said, done))).toEqual({
      kind: "success",
      text: "Done.",
      usage: [{ model: "m-1", input: 15, cached: 5, output: 2, thoughts: 0 }],
    });
    const { progress, shown } = runtimeOf({ output: lines });
    expect(progress(noProgress, stream(...said.slice(0, 2))).activity).toBe("write a.txt");
    expect(shown(stream(...said), false)?.text).toBe("I begin.\n> write a.txt\n  failed: no\nDone.");
  });

  test.each([
    [
      "an error in the end",
      stream({ ...done, error: { code: 7 } }),
      { reason: "error", message: expect.stringContaining('{"code":7}') },
    ],
    ["an error before the end", stream({ kind: "bad", why: { message: "429 too many" } }), { kind: "quota" }],
    ["no end", stream(...said), { reason: "no_result" }],
    ["no event", "hello\n", { reason: "not_json" }],
  ])("events: %s is not a success", (_, stdout, expected) => {
    expect(ended({ output: lines }, stdout)).toMatchObject({ kind: "failure", ...expected });
  });

  test("a document, with noise before it", () => {
    const output = { form: "json", text: "/a/1", error: "/e", tokens: { input: "/i", output: "/o" } };
    const stdout = `starting\n${JSON.stringify({ a: ["x", "Done."], i: 3, o: 4 }, null, 2)}\n`;
    expect(ended({ output }, stdout)).toMatchObject({
      kind: "success",
      text: "Done.",
      usage: [{ input: 3, output: 4 }],
    });
    expect(ended({ output }, '{"e": "401 unauthorized"}')).toMatchObject({ kind: "failure", errorType: "auth" });
    expect(ended({ output }, "{")).toMatchObject({ kind: "failure", reason: "not_json" });
  });

  test("plain text: what it printed, if it exits with 0", () => {
    expect(ended({}, "Done.\n")).toMatchObject({ kind: "success", text: "Done.\n", usage: null });
    expect(ended({}, "half", 3)).toMatchObject({ kind: "failure", reason: "error" });
    expect(ended({}, " \n")).toMatchObject({ kind: "failure", reason: "no_result" });
    expect(runtimeOf().shown("a\nb", false)).toEqual({ text: "a\nb", isMidLine: true });
    expect(runtimeOf().progress(noProgress, "a\nb\n").activity).toBe("b");
  });

  test("exit codes that mean no quota or no sign-in", () => {
    const over = { exit_codes: { quota: [75], auth: [77] } };
    expect(ended(over, "", 75, "retry after 7s")).toMatchObject({ kind: "quota", retryAfterMs: 7000 });
    expect(ended(over, "", 77)).toMatchObject({ kind: "failure", reason: "auth", errorType: "auth" });
    expect(ended(over, "", 1)).toMatchObject({ kind: "failure", reason: "error" });
  });
});

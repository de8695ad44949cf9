import { expect, test } from "vitest";
import { resolveSettings } from "../../settings.ts";
import { modelOfRuntime } from "./model.ts";

const settings = resolveSettings("/nowhere", { MAESTRO_DEFAULT_MODEL: "gemini-2.5-pro" });
const chosenFor = (runtime: string, model?: string) =>
  modelOfRuntime({ name: "coder" }, runtime, settings, { model, main: "claude" });

test("--model names a model of the run's own runtime, and of no other", () => {
  expect(["claude", "codex", "gemini"].map((runtime) => chosenFor(runtime, "claude-sonnet-4-5"))).toEqual([
    "claude-sonnet-4-5",
    null,
    "gemini-2.5-pro",
  ]);
});

test("the settings name models of Gemini CLI, and other programs choose their own", () => {
  expect(["claude", "gemini"].map((runtime) => chosenFor(runtime))).toEqual([null, "gemini-2.5-pro"]);
});

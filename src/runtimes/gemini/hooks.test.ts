import { describe, expect, test } from "vitest";
import { type GeminiState, hookFault } from "./hooks.ts";

const state = (over: Partial<GeminiState> = {}): GeminiState => ({
  extensions: ["maestro", "other"],
  enablement: undefined,
  settings: [undefined, {}, undefined],
  ...over,
});
const fault = (over: Partial<GeminiState> = {}, extraArgs: string[] = []) =>
  hookFault(state(over), ["/home/u/app", "/home/u/.cache/maestro"], extraArgs);

describe("the hooks of the extension", () => {
  test("run where it is installed and enabled", () => {
    expect(fault()).toBeNull();
    expect(
      fault({ enablement: { maestro: { overrides: ["!/other/*", "/home/u/*"] }, other: { overrides: ["!/*"] } } }),
    ).toBeNull();
    expect(fault({}, ["--debug", "-m", "x"])).toBeNull();
  });

  test("do not run without it", () => {
    expect(fault({ extensions: ["other"] })).toEqual({ kind: "not-installed" });
  });

  test.each([
    [["!/home/u/*"], "/home/u/app"],
    [["!/*", "/home/u/app/*"], "/home/u/.cache/maestro"],
    [["/home/u/*", "!/home/u/app/"], "/home/u/app"],
    [["!/home/u/app/*"], "/home/u/app"],
  ])("do not run where it is disabled: %j", (overrides, directory) => {
    expect(fault({ enablement: { maestro: { overrides } } })).toEqual({ kind: "disabled", directory });
  });

  test.each([[["-e", "none"]], [["--extensions=other"]], [["-e", "other", "-e", "another"]], [["-enone"]]])(
    "do not run when the arguments exclude it: %j",
    (extraArgs) => {
      expect(fault({}, extraArgs)).toEqual({ kind: "left-out" });
    },
  );

  test("run when the arguments name it, even where it is disabled", () => {
    expect(fault({ enablement: { maestro: { overrides: ["!/*"] } } }, ["-e", "other,Maestro"])).toBeNull();
  });

  test.each([
    [[undefined, { hooksConfig: { enabled: false } }, undefined], "hooksConfig.enabled"],
    [[undefined, { hooksConfig: { enabled: true } }, { hooksConfig: { enabled: false } }], "hooksConfig.enabled"],
    [[undefined, { hooksConfig: { disabled: ["x", "maestro-guard"] } }], "hooksConfig.disabled"],
    [[{ admin: { extensions: { enabled: false } } }], "admin.extensions.enabled"],
  ])("do not run when settings disable them: %j", (settings, setting) => {
    expect(fault({ settings })).toEqual({ kind: "hooks-off", setting });
  });

  test("run when a stronger setting enables them again", () => {
    expect(fault({ settings: [{ hooksConfig: { enabled: false } }, { hooksConfig: { enabled: true } }] })).toBeNull();
  });
});

import { describe, expect, test } from "vitest";
import { type Trust, trustOf } from "./trust.ts";

const asked = (rules: unknown, directory = "/home/u/code/app", over: Partial<Parameters<typeof trustOf>[0]> = {}) =>
  trustOf({ rules, exported: undefined, directory, real: (path) => path, platform: "linux", ...over });

describe("whether the user trusts a project", () => {
  test.each<[object, Trust]>([
    [{}, "unknown"],
    [{ "/home/u/code/app": "TRUST_FOLDER" }, "trusted"],
    [{ "/home/u/code/app/": "TRUST_FOLDER" }, "trusted"],
    [{ "/home/u/code": "TRUST_FOLDER" }, "trusted"],
    [{ "/home/u/code/other": "TRUST_PARENT" }, "trusted"],
    [{ "/home/u/code/app": "DO_NOT_TRUST" }, "distrusted"],
    [{ "/home/u/code": "TRUST_FOLDER", "/home/u/code/app": "DO_NOT_TRUST" }, "distrusted"],
    [{ "/home/u/code": "DO_NOT_TRUST", "/home/u/code/app": "TRUST_FOLDER" }, "trusted"],
    [{ "/home/u/code/ap": "TRUST_FOLDER" }, "unknown"],
    [{ "/home/u/code/app/sub": "TRUST_FOLDER" }, "unknown"],
    [{ "/HOME/u/code/app": "TRUST_FOLDER" }, "unknown"],
    [{ "/home/u/code/app": "trust_folder" }, "unknown"],
    [{ "/home/u/code/app": true }, "unknown"],
  ])("%j: %s", (rules, trust) => {
    expect(asked(rules)).toBe(trust);
  });

  test.each([undefined, null, 1, "x", ["/home/u/code/app"]])("a file without rules says nothing: %j", (rules) => {
    expect(asked(rules)).toBe("unknown");
  });

  test("the exported value wins, if it is true or false", () => {
    const rules = { "/home/u/code/app": "DO_NOT_TRUST" };
    expect(asked(rules, undefined, { exported: "true" })).toBe("trusted");
    expect(asked({ "/": "TRUST_FOLDER" }, undefined, { exported: "false" })).toBe("distrusted");
    expect(asked(rules, undefined, { exported: "" })).toBe("distrusted");
  });

  test("links are followed, and case counts where the disk is case-sensitive", () => {
    const real = (path: string) => path.replace("/home/u/link", "/home/u/code/app");
    expect(asked({ "/home/u/link": "TRUST_FOLDER" }, undefined, { real })).toBe("trusted");
    expect(asked({ "/Home/U/Code": "TRUST_FOLDER" }, undefined, { platform: "darwin" })).toBe("trusted");
  });
});

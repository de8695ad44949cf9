import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { definitions } from "../src/settings.ts";
import { root } from "./support/project.ts";

const manifest = JSON.parse(readFileSync(join(root, "gemini-extension.json"), "utf8"));
const meanings = Object.fromEntries(Object.entries(definitions).map(([name, definition]) => [name, definition]));

describe("the manifest", () => {
  it("has the version of package.json (I112)", () => {
    expect(manifest.version).toBe(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
  });

  it("asks only for settings that exist, in the words of the one table", () => {
    expect(manifest.settings.length).toBeGreaterThan(0);
    for (const setting of manifest.settings) {
      expect(meanings[setting.envVar]?.meaning, setting.envVar).toBe(setting.description);
    }
  });
});

describe("docs/settings.md", () => {
  it("lists every setting with its default and meaning, and no other", () => {
    const rows = [
      ...readFileSync(join(root, "docs/settings.md"), "utf8").matchAll(
        /^\| `(MAESTRO_\w+)` \| (?:`(.*?)`)? ?\| (.*) \|$/gm,
      ),
    ].map((row) => row.slice(1));
    const expected = Object.entries(definitions).map(([name, definition]) => [
      name,
      String(definition.default) || undefined,
      definition.meaning,
    ]);
    expect(rows).toEqual(expected);
  });
});

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { noticesOf } from "../tools/notices.js";
import { Project, root } from "./support/project.ts";

/** A package may be installed in several versions, one inside of another package. */
function foldersOf(name: string): string[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return Object.keys(lock.packages)
    .filter((path) => path.endsWith(`node_modules/${name}`))
    .map((path) => join(root, path));
}

const versionIn = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;

describe("THIRD_PARTY_NOTICES", () => {
  const text = readFileSync(join(root, "THIRD_PARTY_NOTICES"), "utf8");
  const titles = [...text.matchAll(/^={80}\n(.+) (\S+)\n={80}$/gm)];
  const sections = text.split(/^={80}\n.+\n={80}$/m).slice(1);

  test("names the packages in dist/, and no others", () => {
    expect(titles.map(([, name]) => name)).toEqual([
      "@agentclientprotocol/sdk",
      "@dagrejs/dagre",
      "@ioredis/commands",
      "@modelcontextprotocol/core",
      "@modelcontextprotocol/server",
      "@preact/signals",
      "@preact/signals-core",
      "bullmq",
      "cluster-key-slot",
      "commander",
      "cron-parser",
      "debug",
      "denque",
      "detect-libc",
      "fastest-levenshtein",
      "has-flag",
      "ioredis",
      "luxon",
      "ms",
      "msgpackr",
      "msgpackr-extract",
      "node-abort-controller",
      "node-gyp-build-optional-packages",
      "parse-diff",
      "preact",
      "redis-errors",
      "redis-parser",
      "semver",
      "smol-toml",
      "standard-as-callback",
      "supports-color",
      "tslib",
      "unbash",
      "yaml",
      "zod",
    ]);
  });

  test("has the installed version and the whole license text of each package", () => {
    expect(titles.length).toBeGreaterThan(0);
    for (const [at, [, name = "", version]] of titles.entries()) {
      const [folder = ""] = foldersOf(name).filter((one) => versionIn(one) === version);
      expect(folder, name).not.toBe("");
      const file = readdirSync(folder).find((entry) => /^license/i.test(entry)) ?? "";
      expect(sections[at], name).toContain(readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
    }
  });
});

describe("the notices of a build", () => {
  let project: Project;
  beforeEach(() => {
    project = new Project();
  });
  afterEach(() => project.remove());

  const install = (folder: string, files: Record<string, string>) => {
    mkdirSync(join(project.path, folder), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project.path, folder, name), text);
  };
  const packageJson = (name: string) => JSON.stringify({ name, version: "1.2.3", license: "MIT" });
  const notices = (inputs: Record<string, number>, bundle = "") => {
    const bundled = Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }] as const);
    const output = { bytes: 1, imports: [], exports: [], inputs: Object.fromEntries(bundled) };
    return noticesOf(`${project.path}/`, [{ inputs: {}, outputs: { "dist/a.js": output } }], [bundle]);
  };

  test("leave out our own files and packages of which no byte is left", () => {
    install("node_modules/@some/used", { "package.json": packageJson("@some/used"), LICENSE: "Do.", "a.js": "" });
    const text = notices({ "src/a.ts": 10, "node_modules/@some/used/a.js": 10, "node_modules/unused/a.js": 0 });
    expect(text).toContain("- @some/used 1.2.3 (MIT)\n");
    expect(text).toContain("\n\nDo.\n");
    expect(text).not.toMatch(/unused|src/);
  });

  test("name the innermost package of nested ones", () => {
    const folder = "node_modules/outer/node_modules/inner";
    install(folder, { "package.json": packageJson("inner"), "license.md": "Do.", "a.js": "" });
    expect(notices({ [`${folder}/a.js`]: 1 })).toContain("- inner 1.2.3 (MIT)\n");
  });

  test("fail the build for a package without a license text", () => {
    install("node_modules/bare", { "package.json": packageJson("bare"), "a.js": "" });
    expect(() => notices({ "node_modules/bare/a.js": 1 })).toThrow(/bare has no license text/);
  });

  test("fail the build for code of a package inside another package", () => {
    const code = "//#region ../node_modules/.pnpm/ajv@8.1.0/node_modules/ajv/dist/code.js\n";
    install("node_modules/host", { "package.json": packageJson("host"), LICENSE: "Do.", "a.js": code });
    expect(() => notices({ "node_modules/host/a.js": 1 })).toThrow(/contains code of ajv/);
  });

  test("accept code of content-type inside another package only while it is not in dist/", () => {
    const code = "//#region ../node_modules/.pnpm/content-type@1.0.5/node_modules/content-type/index.js\n";
    install("node_modules/host", { "package.json": packageJson("host"), LICENSE: "Do.", "a.js": code });
    expect(notices({ "node_modules/host/a.js": 1 })).toContain("- host 1.2.3 (MIT)\n");
    expect(() => notices({ "node_modules/host/a.js": 1 }, 'throw new TypeError("invalid media type")')).toThrow(
      /contains code of content-type/,
    );
  });
});

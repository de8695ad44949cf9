import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { join } from "node:path";
import { cruise, type IConfiguration, type ICruiseResult } from "dependency-cruiser";
import { describe, expect, test } from "vitest";
import { root } from "./support/project.ts";

const MAX_LINES = 400;
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((path) =>
  path.endsWith(".ts"),
);

describe("the house", () => {
  test("imports only what the table allows, and the table was looked at", async () => {
    const { forbidden, options }: IConfiguration = createRequire(import.meta.url)(
      join(root, ".dependency-cruiser.cjs"),
    );
    const { output } = await cruise(["src"], {
      ...(options ?? {}),
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: forbidden ?? [] },
    });
    const { summary } = output as ICruiseResult;
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
    expect(summary.totalCruised).toBeGreaterThanOrEqual(sources.length);
    expect(summary.totalDependenciesCruised).toBeGreaterThan(100);
  });

  test(`has no source file of more than ${MAX_LINES} lines`, () => {
    const long = sources.filter(
      (path) =>
        !path.endsWith(".test.ts") && readFileSync(join(root, "src", path), "utf8").split("\n").length > MAX_LINES,
    );
    expect(long).toEqual([]);
  });

  test("opens every source file with a line about what it owns", () => {
    const silent = sources.filter(
      (path) => !path.endsWith(".test.ts") && !readFileSync(join(root, "src", path), "utf8").startsWith("// "),
    );
    expect(silent).toEqual([]);
  });

  test("has one main.ts per front door and no file named after a pattern", () => {
    expect(sources.filter((path) => path.endsWith("main.ts")).sort()).toEqual([
      "cli/main.ts",
      "hooks/main.ts",
      "mcp/main.ts",
      "player/main.ts",
      "warden/main.ts",
    ]);
    expect(sources.filter((path) => /(^|[/-])(index|utils?|helpers?|manager|factory|service)\.ts$/.test(path))).toEqual(
      [],
    );
  });
});

describe("the repository", () => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

  test("pins every dependency exactly (X255, C44)", () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies }) as string[];
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  test("has scripts to build, watch and check types, and no script whose file is missing (X258)", () => {
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(["build", "dev", "typecheck"]));
    const lines = Object.values(manifest.scripts) as string[];
    const named = lines.flatMap((line) => [...line.matchAll(/\bnode ([\w./-]+)/g)].map((match) => match[1] as string));
    expect(named).toContain("tools/build.js");
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("has a lock file that is complete for every platform: npm ci refuses another one", () => {
    const entries = Object.entries(lock.packages) as [string, { optionalDependencies?: Record<string, string> }][];
    const missing = entries.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in lock.packages || `${path}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  // The registry that the lock was made with does not have these builds for other platforms; npm ci fetches them nowhere else.
  const unhashed = /^node_modules\/@(?:biomejs\/cli|oxc-parser\/binding|rolldown\/binding)-/;
  const onLinux = /-linux-(?:x64|arm64)(?:-(?:gnu|musl))?$/;

  test("has a lock file that knows the content of every package (T16)", () => {
    const entries = Object.entries(lock.packages) as [string, { integrity?: string; link?: true; inBundle?: true }][];
    const missing = entries
      .filter(([path, { integrity, link, inBundle }]) => path !== "" && !link && !inBundle && integrity === undefined)
      .map(([path]) => path);
    expect(missing.filter((path) => !unhashed.test(path) || onLinux.test(path))).toEqual([]);
    expect(missing.length).toBeLessThanOrEqual(33);
  });

  test("has a lock file without download addresses", () => {
    const entries = Object.entries(lock.packages) as [string, { resolved?: string }][];
    expect(entries.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  const built = readdirSync(join(root, "dist")).map(
    (name) => [name, readFileSync(join(root, "dist", name), "utf8")] as const,
  );

  test("needs nothing but itself at run time (X257)", () => {
    expect(manifest.dependencies).toBeUndefined();
    for (const [name, bundle] of built) {
      const imported = [...bundle.matchAll(/(?:from|import|require\()\s*"([\w./:@-]+)"/g)].map(
        (match) => match[1] as string,
      );
      const isOwn = (path: string) => path.startsWith("./") && built.some(([other]) => path === `./${other}`);
      const foreign = imported.filter(
        (path) => !path.startsWith("node:") && !builtinModules.includes(path) && !isOwn(path),
      );
      expect(foreign, name).toEqual([]);
    }
  });

  test("starts a hook with little to read, and without schema library, YAML or command line parser", () => {
    const hooks = built.filter(([name]) => name.startsWith("hook"));
    expect(hooks.length).toBeGreaterThan(1);
    const usual = hooks.filter(([name]) => name !== "hook-adopting.cjs");
    for (const [name, bundle] of usual) expect(bundle, name).not.toMatch(/ZodError|YAMLParseError|Commander/);
    const sizes = Object.fromEntries(hooks.map(([name, bundle]) => [name, bundle.length]));
    expect(sizes["hook.cjs"]).toBeLessThan(32_000);
  });
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packMaestro, unpack } from "../support/package.ts";
import { Project, type Run, root } from "../support/project.ts";

const filesBelow = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(path.length + 1))
    .sort();

describe("the package of Maestro", () => {
  const project = new Project();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  let unpacked = "";

  const maestro = (...args: string[]): Run => project.run("node_modules/.bin/maestro", args);

  beforeAll(() => {
    const tarball = packMaestro(project);
    unpacked = unpack(project, tarball);
    project.write("package.json", "{}");
    const installed = project.run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball]);
    if (installed.code !== 0) throw new Error(installed.stderr);
  }, 60_000);
  afterAll(() => project.remove());

  test("contains what runs and what explains it, whole, and nothing that builds or tests it", () => {
    const folders = "agents commands dist docs examples hooks policies protocols scripts skills templates".split(" ");
    const files = [
      "CHANGELOG.md",
      "CONTEXT.md",
      "CONTRIBUTING.md",
      "GEMINI.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "THIRD_PARTY_NOTICES",
      "gemini-extension.json",
      "package.json",
    ];
    expect(readdirSync(unpacked).sort()).toEqual([...files, ...folders].sort());
    for (const folder of folders) {
      const there = filesBelow(join(root, folder)).filter((name) => name !== "sync-version.js");
      expect(filesBelow(join(unpacked, folder)), folder).toEqual(there);
    }
  });

  test("has every file that its pages link to", () => {
    const pages = filesBelow(unpacked).filter((path) => path.endsWith(".md"));
    const links = pages.flatMap((page) => {
      const text = readFileSync(join(unpacked, page), "utf8").replace(/^```[\s\S]*?^```|`[^`\n]*`/gm, "");
      return [...text.matchAll(/\]\(([^)\s#]+)[^)\s]*\)|(?:src|srcset|href)="([^"#]+)"/g)]
        .map(([, markdown, html]) => markdown ?? html ?? "")
        .filter((target) => !/^[a-z]+:/.test(target))
        .map((target) => ({ page, target }));
    });
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ page, target }) => !existsSync(join(unpacked, dirname(page), target)))).toEqual([]);
  });

  test("installs into an empty directory without another package, and answers by its name", () => {
    expect(readdirSync(join(project.path, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "maestro",
    ]);
    expect(project.run("npx", ["--no-install", "maestro", "--version"])).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
    });
  });

  test("has every file that maestro doctor looks for in an extension", () => {
    const { extension } = JSON.parse(maestro("doctor", "--json").stdout);
    expect(extension).toMatchObject({ problems: [] });
  });

  test("rehearses the example plan from where it is installed", () => {
    const run = maestro("rehearse", "--seconds", "1", "node_modules/maestro/examples/task-api-impl-plan.md");
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toMatch(/Critical path +1 → 3 → 5 → 8 → 11/);
  });

  test("has scripts that start the installed program", () => {
    const script = join(project.path, "node_modules/maestro/scripts/read-active-session.sh");
    expect(project.run(script, [])).toMatchObject({ stdout: expect.stringContaining("No active session") });
  });
});

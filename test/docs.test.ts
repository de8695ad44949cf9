// Compares the README and docs/ with the program, the manifest and the tree.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { verbs } from "../src/cli/verb-table.ts";
import { definitions } from "../src/settings.ts";
import { root } from "./support/project.ts";

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const readme = textOf("README.md");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => join("docs", path)),
];

describe("the README", () => {
  test("lists every command of the command line, as its help does", () => {
    const helped = verbs.map(({ usage, summary }) => [usage, summary]);
    expect(tableBelow(readme, "at a terminal: `maestro ...`")).toEqual(helped);
  });

  test("lists every command of Gemini CLI", () => {
    const named = tableBelow(readme, "in Gemini CLI").map(([usage]) => /^\/maestro:([\w-]+)/.exec(usage ?? "")?.[1]);
    const files = readdirSync(join(root, "commands/maestro")).map((file) => file.replace(/\.toml$/, ""));
    expect(named.sort()).toEqual(files.sort());
  });

  test("lists the settings that Gemini CLI asks for, with their defaults, and counts them", () => {
    const { settings } = JSON.parse(textOf("gemini-extension.json")) as { settings: { envVar: string }[] };
    const defaults = new Map<string, { default: unknown; meaning: string }>(Object.entries(definitions));
    const expected = settings.map(({ envVar }) => {
      const { default: value, meaning } = defaults.get(envVar) ?? { default: null, meaning: null };
      return [envVar, String(value), meaning];
    });
    expect(tableBelow(readme, "setting")).toEqual(expected);
    const count = ["six", "seven", "eight", "nine"][settings.length - 6];
    expect(readme).toContain(`[${count} settings](#settings)`);
    expect(readme).toContain(`asks for these ${count} `);
  });
});

describe("docs/README.md", () => {
  test("lists every page and folder of docs/", () => {
    const linked = linksOf("docs/README.md").map(({ target }) => target);
    const present = readdirSync(join(root, "docs"), { withFileTypes: true })
      .filter(({ name }) => name !== "README.md")
      .map(({ name }) => name);
    expect(linked.sort()).toEqual(present.sort());
  });
});

describe("docs/architecture.md", () => {
  const architecture = textOf("docs/architecture.md");

  test("names functions and tables that are in the files it names", () => {
    const named = [...architecture.matchAll(/((?:`\w+`(?: and )?)+) in `(src\/[\w/.-]+\.ts)`/g)].flatMap(
      ([, names = "", path = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => ({ name, path })),
    );
    const missing = named.filter(
      ({ name, path }) => !existsSync(join(root, path)) || !new RegExp(`\\b${name}\\b`).test(textOf(path)),
    );
    expect(missing).toEqual([]);
    expect(named.length).toBeGreaterThan(15);
  });

  test("walks from the plan to the report in at most ten files", () => {
    const [, walk = ""] = architecture.split("## From plan to report in ten files");
    const steps = [...(walk.split("\n## ")[0] ?? "").matchAll(/^\d+\. /gm)];
    expect(steps).toHaveLength(10);
  });

  test("says what every folder of src/ owns", () => {
    const folders = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
    expect(folders.filter((folder) => !architecture.includes(`\`${folder}\``))).toEqual([]);
  });
});

describe("links", () => {
  test.each(pages)("of %s lead to a file and a heading that exist", (page) => {
    const broken = linksOf(page).filter(({ target, anchor }) => {
      const path = target === "" ? page : join(dirname(page), target);
      if (!existsSync(join(root, path))) return true;
      return anchor !== undefined && !anchorsOf(path).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test("are found at all", () => {
    expect(linksOf("README.md").length).toBeGreaterThan(10);
  });
});

describe("paths of this repository", () => {
  // A decision record may name what existed when it was written.
  test.each(pages.filter((page) => !page.startsWith("docs/decisions/")))("that %s names exist", (page) => {
    expect(pathsOf(page).filter((path) => !isInTree(path))).toEqual([]);
  });

  test("are found at all", () => {
    expect(pathsOf("docs/architecture.md").length).toBeGreaterThan(40);
  });
});

/** The cells of the table whose first heading is `heading`, without code marks. */
function tableBelow(text: string, heading: string): string[][] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  expect(first, `a table with the heading ${heading}`).not.toBe(-1);
  const rows = lines.slice(first + 2);
  const length = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, length === -1 ? undefined : length).map((row) =>
    row
      .slice(1, row.lastIndexOf("|"))
      .split("|")
      .map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")),
  );
}

interface Link {
  target: string;
  anchor: string | undefined;
}

/** Links of Markdown and of HTML that do not leave the repository. */
function linksOf(page: string): Link[] {
  const text = proseOf(page);
  return [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)]
    .map(([, markdown, html]) => markdown ?? html ?? "")
    .filter((address) => !/^[a-z]+:/.test(address))
    .map((address) => {
      const [target = "", anchor] = address.split("#");
      return { target: target.replace(/\/$/, ""), anchor };
    });
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(path: string): string[] {
  return [...proseOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}

function proseOf(path: string): string {
  return textOf(path).replace(/^```[\s\S]*?^```/gm, "");
}

const topLevel = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^(?:\..*|node_modules|coverage)$/.test(entry.name))
  .map(({ name }) => name);

/** Code marks that begin with a folder of the repository. */
function pathsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/`([\w.-]+\/[^`\s]*)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => topLevel.includes(path.split("/")[0] ?? ""));
}

/** `<name>` and `*` stand for any name, of which there must be one. */
function isInTree(path: string): boolean {
  let found = [root];
  for (const part of path.split("/").filter((name) => name !== "")) {
    const pattern = new RegExp(
      `^${part
        .replace(/<[^>]*>|\*/g, "\0")
        .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
        .replaceAll("\0", "[^/]+")}$`,
    );
    found = found.flatMap((folder) =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((name) => pattern.test(name))
        .map((name) => join(folder, name)),
    );
  }
  return found.length > 0;
}

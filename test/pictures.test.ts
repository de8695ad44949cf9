// The pictures of the README, and the tool that draws them.

import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./support/project.ts";

/** What tools/picture.js exports: JavaScript without declarations. */
interface Picture {
  framesOf: (printed: string) => string[][];
  busiest: (frames: readonly string[][]) => string[];
  svgOf: (lines: readonly string[], palette: Readonly<Record<string, string>>) => string;
}

const { busiest, framesOf, svgOf }: Picture = await import(String(new URL("../tools/picture.js", import.meta.url)));
const textOf = (path: string) => readFileSync(join(root, path), "utf8");

describe("the pictures of the live table", () => {
  const phases = [...textOf("examples/task-api-impl-plan.md").matchAll(/^ {4}title: "(.*)"$/gm)].map(
    ([, title]) => title,
  );

  test.each(["dark", "light"])("%s: it is well-formed and shows every phase of the example plan", (name) => {
    const { faults, texts } = readXml(textOf(`docs/pictures/live-${name}.svg`));
    expect(faults).toEqual([]);
    expect(phases.length).toBe(11);
    expect(texts).toEqual(expect.arrayContaining(phases));
    expect(texts).toEqual(expect.arrayContaining(["done", "running", "waiting"]));
  });

  test.each(["dark", "light"])("%s: it names no directory of a machine", (name) => {
    const text = readXml(textOf(`docs/pictures/live-${name}.svg`)).texts.join("\n");
    expect([root, homedir(), tmpdir()].filter((path) => text.includes(path))).toEqual([]);
    expect(text).not.toMatch(/(?:^|\s)[/~]/m);
  });

  const palette = {
    background: "#000",
    border: "#111",
    text: "#fff",
    dim: "#888",
    green: "#0f0",
    cyan: "#0ff",
    yellow: "#ff0",
    red: "#f00",
  };

  test("have colours as classes, columns as places, and no markup from the text", () => {
    const svg = svgOf(["\u001b[32m✓\u001b[39m  a <b> & c"], palette);
    expect(readXml(svg)).toEqual({ faults: [], texts: [expect.any(String), expect.any(String), "✓", "a <b> & c"] });
    expect(svg).toMatch(/<text x="18\.0" [^>]*class="green">✓</);
    expect(svg).toMatch(/<text x="43\.2" [^>]*>a &lt;b&gt; &amp; c</);
  });

  test("are refused when the program prints a sequence that would be lost", () => {
    expect(() => svgOf(["\u001b[5mblink"], palette)).toThrow(/does not know/);
  });

  test("show the middle one of the frames with the most running phases", () => {
    const frames = [["▶ a"], ["▶ a", "▶ b", "1"], ["▶ a", "▶ b", "2"], ["▶ a", "▶ b", "3"], ["✓ a", "✓ b"]];
    const printed = frames.map((lines, i) => {
      const before = i === 0 ? "a warning\r\n\u001b[?25l" : `\u001b[${frames[i - 1]?.length}A\r`;
      return `${before}${lines.map((line) => `${line}\u001b[K\r\n`).join("")}\u001b[J`;
    });
    expect(framesOf(`${printed.join("")}the end`)).toEqual(frames);
    expect(busiest(frames)).toEqual(["▶ a", "▶ b", "2"]);
  });
});

/** The texts of an XML document, and what is wrong with its form. */
function readXml(xml: string): { faults: string[]; texts: string[] } {
  const open: string[] = [];
  const texts: string[] = [];
  const faults: string[] = [];
  for (const [token] of xml.matchAll(/<[^<>]*>|[^<>]+|[<>]/g)) {
    const [, closing, name = "", attributes = "", empty] =
      /^<(\/?)([a-z]+)((?:\s[\w:-]+="[^"<>&]*")*)\s*(\/?)>$/i.exec(token) ?? [];
    if (name === "") {
      if (/[<>]|&(?!(?:amp|lt|gt|quot);)/.test(token)) faults.push(`not text and not a tag: ${token}`);
      else if (token.trim() !== "") texts.push(unescaped(token));
    } else if (closing) {
      if (open.pop() !== name || attributes !== "") faults.push(`closed without being open: ${token}`);
    } else if (!empty) open.push(name);
  }
  return { faults: [...faults, ...open.map((name) => `never closed: ${name}`)], texts };
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

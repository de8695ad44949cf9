// Makes the pictures of the live table, docs/pictures/live-{dark,light}.svg, from a real rehearsal: node tools/picture.js
// The program runs in a pseudo-terminal, made by the `script` of util-linux. One frame of what it prints becomes an SVG file for each palette.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const columns = 92;
const rows = 30;
// Slow enough for several frames of every constellation, so that the same one is chosen on a slow machine.
const command = "node dist/maestro.js rehearse examples/task-api-impl-plan.md --seconds 24";

/** Width and height of a character, and the space around the text, in pixels. */
const cell = { width: 8.4, height: 19, font: 14, margin: 18 };

const palettes = {
  dark: {
    background: "#0d1117",
    border: "#30363d",
    text: "#e6edf3",
    dim: "#8b949e",
    green: "#3fb950",
    cyan: "#39c5cf",
    yellow: "#d29922",
    red: "#f85149",
  },
  light: {
    background: "#f6f8fa",
    border: "#d0d7de",
    text: "#1f2328",
    dim: "#59636e",
    green: "#1a7f37",
    cyan: "#1b7c83",
    yellow: "#9a6700",
    red: "#cf222e",
  },
};

/**
 * What the escape sequences of colours switch on, and what they switch off.
 * @type {Record<string, (style: Set<string>) => void>}
 */
const sequences = {
  1: (style) => style.add("bold"),
  2: (style) => style.add("dim"),
  22: (style) => {
    style.delete("bold");
    style.delete("dim");
  },
  31: (style) => style.add("red"),
  32: (style) => style.add("green"),
  33: (style) => style.add("yellow"),
  36: (style) => style.add("cyan"),
  39: (style) => {
    for (const color of ["red", "green", "yellow", "cyan"]) style.delete(color);
  },
};

/** @typedef {{ text: string, classes: string[] }} Run a stretch of text in one style */

if (process.argv[1] === fileURLToPath(import.meta.url)) main();

function main() {
  const frame = busiest(framesOf(transcript()));
  const lines = [`\u001b[2m$ ${command}\u001b[22m`, "", ...frame];
  mkdirSync(join(root, "docs/pictures"), { recursive: true });
  for (const [name, palette] of Object.entries(palettes)) {
    const path = `docs/pictures/live-${name}.svg`;
    writeFileSync(join(root, path), svgOf(lines, palette));
    console.log(path);
  }
}

/** Everything that the rehearsal printed to its terminal. The settings of the user who runs this tool do not affect it. */
function transcript() {
  const scratch = mkdtempSync(join(tmpdir(), "maestro-picture-"));
  const file = join(scratch, "transcript");
  const node = process.execPath.replaceAll("'", "'\\''");
  const line = `stty cols ${columns} rows ${rows} && exec '${node}' ${command.slice("node ".length)}`;
  try {
    const { status, error, stderr } = spawnSync("script", ["--quiet", "--return", "--command", line, file], {
      cwd: root,
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH, HOME: scratch, LANG: "C.UTF-8", TERM: "xterm-256color" },
      encoding: "utf8",
    });
    if (error) throw error;
    if (status !== 0) throw new Error(`"${command}" exited with ${status}: ${stderr}`);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * The frames of the live table, each as lines with colours and without cursor movements.
 * @param {string} printed
 * @returns {string[][]}
 */
export function framesOf(printed) {
  const drawn = printed.split("\u001b[J").slice(0, -1);
  return drawn.map((text) =>
    text
      .replace(/^[\s\S]*?\u001b\[(?:\?25l|\d+A\r)/, "")
      .split(/\r*\n/)
      .slice(0, -1)
      .map((line) => line.replaceAll("\u001b[K", "")),
  );
}

/**
 * Of the frames with the most running phases, the one in the middle.
 * @param {string[][]} frames
 * @returns {string[]}
 */
export function busiest(frames) {
  const running = frames.map((frame) => frame.filter((line) => line.includes("▶")).length);
  const most = Math.max(...running);
  const candidates = frames.filter((_, i) => running[i] === most);
  const chosen = candidates[Math.floor(candidates.length / 2)];
  if (chosen === undefined || most === 0) throw new Error("No frame of the live table shows a running phase");
  return chosen;
}

/**
 * @param {readonly string[]} lines
 * @param {typeof palettes.dark} palette
 * @returns {string}
 */
export function svgOf(lines, palette) {
  const width = Math.ceil(columns * cell.width + 2 * cell.margin);
  const height = lines.length * cell.height + 2 * cell.margin;
  const { background, border, text, ...colors } = palette;
  const styles = Object.entries(colors).map(([name, color]) => `.${name}{fill:${color}}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">The live table of a Maestro run: phases that are done, that run and that wait, with times and tokens</title>`,
    `<style>text{font:${cell.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${text}}.bold{font-weight:bold}${styles.join("")}</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${background}" stroke="${border}"/>`,
    ...lines.flatMap((line, row) => textsOf(line, row)),
    "</svg>",
    "",
  ].join("\n");
}

/**
 * The texts of one line. Each has its place and its width, so that columns stay columns in every font.
 * @param {string} line
 * @param {number} row
 * @returns {string[]}
 */
function textsOf(line, row) {
  const y = cell.margin + row * cell.height + cell.font;
  let column = 0;
  return runsOf(line).flatMap(({ text, classes }) => {
    const start = column;
    column += [...text].length;
    return [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: words, index }) => {
      const x = cell.margin + (start + [...text.slice(0, index)].length) * cell.width;
      const length = [...words].length * cell.width;
      const style = classes.length === 0 ? "" : ` class="${classes.join(" ")}"`;
      return `<text x="${x.toFixed(1)}" y="${y}" textLength="${length.toFixed(1)}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(words)}</text>`;
    });
  });
}

/**
 * @param {string} line
 * @returns {Run[]}
 */
function runsOf(line) {
  /** @type {Set<string>} */
  const style = new Set();
  return line.split(/(\u001b\[[^A-Za-z]*[A-Za-z])/).flatMap((part) => {
    if (!part.startsWith("\u001b")) return part === "" ? [] : [{ text: part, classes: [...style] }];
    const change = sequences[/^\u001b\[(\d+)m$/.exec(part)?.[1] ?? ""];
    if (change === undefined)
      throw new Error(`The live table prints a sequence this tool does not know: ${JSON.stringify(part)}`);
    change(style);
    return [];
  });
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

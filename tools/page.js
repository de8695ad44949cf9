// Builds the page of the dashboard: script and style of src/web in one HTML file, which needs nothing else.

import { readFileSync } from "node:fs";

/** @type {Pick<import("esbuild").BuildOptions, "entryPoints" | "format" | "platform" | "target" | "jsx" | "jsxImportSource" | "charset">} */
export const pageOptions = {
  entryPoints: { dashboard: "src/web/main.tsx" },
  format: "iife",
  platform: "browser",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
};

/** The files of src/web/style, in the order in which the page has them: of two rules of equal weight the later one holds. */
const styles = ["base", "head", "timeline", "graph", "phase", "views", "media"];

/**
 * The marks are replaced by functions: a replacement text may contain `$&`.
 * @param {string} root with a slash at its end
 * @param {{ text: string }[]} outputs the bundled script
 */
export function pageOf(root, outputs) {
  const script = outputs.map(({ text }) => text).join("");
  // Neither may end its own element.
  if (/<\/script|<!--/i.test(script)) throw new Error("The script of the page contains a mark that ends it");
  const css = styles.map((name) => readFileSync(`${root}src/web/style/${name}.css`, "utf8")).join("\n");
  const style = minified(withSystemDark(css));
  return readFileSync(`${root}src/web/page.html`, "utf8")
    .replace("<!--style-->", () => `<style>${style}</style>`)
    .replace("<!--script-->", () => `<script>${script.trimEnd()}</script>`);
}

/**
 * The dark palette is written once: it also holds when the system is dark and the user chose nothing.
 * @param {string} css
 */
function withSystemDark(css) {
  const palette = /\.dark-palette \{([^}]*)\}/.exec(css)?.[1];
  if (palette === undefined) throw new Error("src/web/style/base.css has no dark palette");
  const rule = `@media (prefers-color-scheme: dark) { :root[data-theme="system"] {${palette}} }`;
  return css.replace(", .dark-palette", "").replace("/*dark-for-system*/", () => rule);
}

/** @param {string} css */
function minified(css) {
  return css
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};:,>]) ?/g, (found, mark) => (mark === ":" && found.startsWith(" ") ? found : mark))
    .trim();
}

// Generates THIRD_PARTY_NOTICES: the packages whose code is in dist/ according to esbuild's metafile, each with its license text.

import { readdirSync, readFileSync } from "node:fs";

/** The folder of the package that a bundled file belongs to; for nested packages the innermost. */
const packageOf = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const licenseName = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** Packages contained in a bundled package that tree shaking removes, each with a text that would reveal it in dist/. */
const leftOut = new Map([["content-type", "invalid media type"]]);

/**
 * Returns the text of the file. A source file that tree shaking removes is not in dist/, so its package is not listed.
 * @param {string} root with a slash at its end
 * @param {import("esbuild").Metafile[]} metafiles
 * @param {string[]} bundles the texts of the built files
 */
export function noticesOf(root, metafiles, bundles) {
  const bundled = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && packageOf.test(path))
    .map(([path]) => path);
  for (const path of new Set(bundled)) refuseVendored(`${root}${path}`, bundles);
  const folders = new Set(bundled.flatMap((path) => packageOf.exec(path)?.[0] ?? []));
  const notices = [...folders].map((folder) => notice(`${root}${folder}`));
  const unique = [...new Map(notices.map((one) => [one.title, one])).values()];
  // Sorted by code units, so that the order does not depend on the machine's locale.
  unique.sort((a, b) => (a.title < b.title ? -1 : 1));
  const rule = "=".repeat(80);
  return [
    "The programs in dist/ contain code of these packages. This file is written by the build.",
    `${unique.map(({ title, license }) => `- ${title} (${license})`).join("\n")}`,
    ...unique.map(({ title, text }) => `${rule}\n${title}\n${rule}\n\n${text}`),
  ]
    .join("\n\n")
    .concat("\n");
}

/**
 * Fails when a package contains code of another one, marked with "//#region .../node_modules/...", because that license would be missing.
 * @param {string} path
 * @param {string[]} bundles
 */
function refuseVendored(path, bundles) {
  const marks = readFileSync(path, "utf8").matchAll(/\/\/#region .*node_modules\/((?:@[^/]+\/)?[^/\s]+)\//g);
  for (const name of new Set([...marks].map((mark) => mark[1] ?? ""))) {
    const sign = leftOut.get(name);
    if (sign !== undefined && !bundles.some((text) => text.includes(sign))) continue;
    throw new Error(`${path} contains code of ${name}, whose license would be missing in THIRD_PARTY_NOTICES`);
  }
}

/** @param {string} folder */
function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const files = readdirSync(folder).filter((file) => licenseName.test(file));
  const texts = files.sort().map((file) => readFileSync(`${folder}/${file}`, "utf8").replaceAll("\r\n", "\n").trim());
  if (texts.length === 0 || typeof license !== "string") {
    throw new Error(`${folder} has no license text, but its code is in dist/`);
  }
  return { title: `${name} ${version}`, license, text: texts.join("\n\n") };
}

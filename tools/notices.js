// Writes THIRD_PARTY_NOTICES: the packages whose code is in dist/, by esbuild's own account of the build, each with the text of its license.

import { readdirSync, readFileSync } from "node:fs";

/** Folder of the package that a bundled file belongs to; of nested packages the innermost. */
const packageOf = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const licenseName = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** Code of other packages inside a bundled package that tree shaking leaves out, each with a text by which it would be recognised in dist/. */
const leftOut = new Map([["content-type", "invalid media type"]]);

/**
 * The text of the file. A file that tree shaking has emptied is not in dist/, so its package is not named for it.
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
  // By code units: the order must not depend on the language of the machine.
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
 * Packages that were bundled themselves mark the code of others with "//#region .../node_modules/...": its license would be missed.
 * @param {string} path
 * @param {string[]} bundles
 */
function refuseVendored(path, bundles) {
  const marks = readFileSync(path, "utf8").matchAll(/\/\/#region .*node_modules\/((?:@[^/]+\/)?[^/\s]+)\//g);
  for (const name of new Set([...marks].map((mark) => mark[1] ?? ""))) {
    const sign = leftOut.get(name);
    if (sign !== undefined && !bundles.some((text) => text.includes(sign))) continue;
    throw new Error(`${path} contains code of ${name}, whose license THIRD_PARTY_NOTICES would not have`);
  }
}

/** @param {string} folder */
function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const files = readdirSync(folder).filter((file) => licenseName.test(file));
  const texts = files.sort().map((file) => readFileSync(`${folder}/${file}`, "utf8").replaceAll("\r\n", "\n").trim());
  if (texts.length === 0 || typeof license !== "string") {
    throw new Error(`${folder} has no license text, and its code is in dist/: what may be done with it?`);
  }
  return { title: `${name} ${version}`, license, text: texts.join("\n\n") };
}

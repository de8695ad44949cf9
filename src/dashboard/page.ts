// The built page, dist/dashboard.html: its parts and the policy under which a browser runs it. The policy names the script by its hash, so
// that no other script runs.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export interface PageParts {
  html: string;
  script: string;
  style: string;
}

export function readPage(path: string): PageParts {
  const html = readFileSync(path, "utf8");
  return { html, script: between(html, "<script>", "</script>"), style: between(html, "<style>", "</style>") };
}

/** For the page that the server serves. */
export function servedPolicy({ script, style }: PageParts): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** For a file: it connects to nothing. */
export function filePolicy(scripts: readonly string[], style: string): string {
  const hashes = scripts.map(hashOf).join(" ");
  return `default-src 'none'; script-src ${hashes}; style-src ${hashOf(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start) + start.length;
  return text.slice(from, text.indexOf(end, from));
}

// The report as one HTML file: the page and the journal, compressed, with a few lines that unpack them. It needs no network and works from
// file://. Pure, apart from the given page.

import { gzipSync } from "node:zlib";
import type { ReportData } from "../web/model/wire.ts";
import { filePolicy, type PageParts } from "./page.ts";

/** Unpacks the style and the script. The policy names both scripts by their hashes. */
const loader = `(async()=>{const read=async id=>{const bytes=Uint8Array.from(atob(document.getElementById(id).textContent),c=>c.charCodeAt(0));return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text()};const add=(name,text)=>{const made=document.createElement(name);made.textContent=text;document.head.append(made)};add("style",await read("packed-style"));add("script",await read("packed-script"))})()`;

export function reportFile({ html, script, style }: PageParts, data: ReportData): string {
  const policy = `<meta http-equiv="content-security-policy" content="${filePolicy([loader, script], style)}">`;
  const journal = packed("journal", JSON.stringify(data));
  const parts: [mark: string, text: string][] = [
    ["<!--policy-->", policy],
    [`<style>${style}</style>`, ""],
    ["<!--data-->", `${packed("packed-style", style)}\n${packed("packed-script", script)}\n${journal}`],
    [`<script>${script}</script>`, `<script>${loader}</script>`],
  ];
  // Split and joined: a replacement text may contain signs that String.replace reads as commands.
  return parts.reduce((text, [mark, put]) => text.split(mark).join(put), html);
}

/** Base64 contains nothing that ends an element. */
function packed(id: string, text: string): string {
  return `<script type="text/plain" id="${id}">${gzipSync(text, { level: 9 }).toString("base64")}</script>`;
}

import { expect, test } from "vitest";
import { checkHandoff } from "./handoff.ts";
import type { HandoffFormat } from "./output/formats.ts";

/** Twice the time on a busy machine; anything worse than linear takes minutes. */
const LIMIT = 2;

const fill = (unit: string, size = 1_000_000) => unit.repeat(Math.ceil(size / unit.length));

const fillAll = (unit: string) => fill(unit, 2_000_000);

/** Seconds of processor time, so that other work on the machine does not count. */
function cost(source: string, format: HandoffFormat): number {
  const before = process.cpuUsage();
  checkHandoff(source, { format });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

test.each([
  ["backticks", fill("`")],
  ["fences", fill("```\n")],
  ["fences of growing length", Array.from({ length: 2200 }, (_, i) => "`".repeat(i)).join("\n")],
  ["pipes", fill("|")],
  ["rows", fill("|a|b|\n")],
  ["stars", fill("*")],
  ["star lines", fill("**\n")],
  ["hashes", fill("#")],
  ["headings", fill("# x\n")],
  ["reports", fill("## Task Report\n")],
  ["joined reports", fill("x.## Task Report\n")],
  ["words of the title", fill("Task Report ")],
  ["status lines", fill("- Status: success\n")],
  ["a long status", `- Status: success ${fill("no ")}`],
  ["list markers", fill("- ")],
  ["rules", fill("---\n")],
  ["comments", fill("<!-- ")],
  ["closed comments", fill("<!---->")],
  ["newlines", fill("\n")],
  ["carriage returns", fill("\r")],
  ["escapes", fill("\u001b")],
  ["C1 introducers", `${fill("\u009d")}\u001bA`],
  ["spaces", `a${fill(" ")}b`],
  ["many lines after a field", `- Summary: x\n${fill("y\n")}`],
  ["commas in a file list", `- Files Created: ${fill("a,")}`],
  ["brackets in a file list", `- Files Created: ${fill("(")}`],
  ["a bracketed list", `- Files Created: [${fill("[")}]`],
  ["links in a file list", `- Files Created: ${fill("[a](")}`],
  ["dots in a file list", `- Files Created: ${fill("....................,")}`],
  ["quotation marks in a file list", `- Files Created: ${fill('"')}`],
  ["spaces in a file list", `- Files Created: a${fill(" ")}b`],
  ["incomplete line breaks in a file list", `- Files Created: ${fill("<br ")}`],
])("2 MB of %s, half in each section, take two seconds at most (T7)", (_, text) => {
  expect(cost(`## Task Report\n${text}\n## Downstream Context\n${text}`, "text")).toBeLessThan(LIMIT);
});

test.each([
  ["brace lines", fillAll("{\n")],
  ["half objects", fillAll('{"a":[\n')],
  ["half strings", fillAll('{"\n')],
  ["broken objects", fillAll('{"":}\n')],
  ["broken events", fillAll('{"type"}\n')],
  ["objects", fillAll("{}\n")],
  ["objects on one line", fillAll("{}")],
  ["events", fillAll('{"type":"message","role":"assistant","content":"x","delta":true}\n')],
  ["escaped quotation marks", `{"response":"${fillAll('\\"')}`],
  ["nested arrays", `{"response":${fillAll("[")}`],
  ["white space in an object", `{${fillAll(" ")}`],
])("2 MB of %s as output take two seconds at most (T7)", (_, text) => {
  expect(cost(text, "gemini-json")).toBeLessThan(LIMIT);
  expect(cost(text, "stream-json")).toBeLessThan(LIMIT);
});

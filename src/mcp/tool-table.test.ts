import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Caller, listFor } from "./offered.ts";
import { ONLY } from "./tool.ts";
import { toolTable } from "./tool-table.ts";

const document = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");

/** The section of docs/mcp.md about a tool. */
const section = (name: string) => new RegExp(`^## ${name}\\b[^]*?(?=^## |$(?![^]))`, "m").exec(document)?.[0] ?? "";

describe("docs/mcp.md", () => {
  test.each(toolTable.map((offered) => [offered.tool.name, offered] as const))(
    "has a section about %s, with every action and every key",
    (name, { tool, readOnly }) => {
      const text = section(name);
      expect(text.split("\n").length).toBeLessThan(40);
      expect(text.startsWith(`## ${name}${readOnly ? " (read-only)" : "\n"}`)).toBe(true);
      const words = new Set(text.match(/[a-z_]+/g));
      for (const [action, { input }] of Object.entries(tool.actions)) {
        const missing = [...(action === ONLY ? [] : [action]), ...Object.keys(input)].filter(
          (word) => !words.has(word),
        );
        expect(missing).toEqual([]);
      }
    },
  );

  test("documents only tools that exist", () => {
    const told = [...document.matchAll(/^## (maestro_\w+)/gm)].map((match) => match[1]);
    expect(told).toEqual(toolTable.map(({ tool }) => tool.name));
  });
});

describe("the tools", () => {
  test.each([
    ["the TechLead", "techlead", 1800],
    ["a dispatched specialist", "attempts", 700],
  ] as const)("cost %s few tokens in every conversation: names, descriptions and fields", (_, caller, most) => {
    const listed = listFor(caller).map(({ annotations: _hints, ...told }) => told);
    expect(JSON.stringify(listed).length / 4).toBeLessThan(most);
  });

  test("are offered only to their callers, the deciding ones to no attempt (C43)", () => {
    const namesFor = (caller: Caller) => listFor(caller).map(({ name }) => name);
    const [techLead, specialist] = [namesFor("techlead"), namesFor("attempts")];
    expect(techLead).not.toContain("maestro_request_scope");
    expect(specialist).toContain("maestro_request_scope");
    const deciding = ["maestro_run", "maestro_wait", "maestro_decide", "maestro_session_write"];
    expect(techLead).toEqual(expect.arrayContaining(deciding));
    expect(specialist.filter((name) => deciding.includes(name))).toEqual([]);
    expect(new Set([...techLead, ...specialist])).toEqual(new Set(toolTable.map(({ tool }) => tool.name)));
  });
});

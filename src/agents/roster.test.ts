import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MaestroError } from "../errors.ts";
import { loadRoster } from "./roster.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "maestro-roster-"));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

function put(fileName: string, text: string): string {
  const file = join(dir, fileName);
  writeFileSync(file, text);
  return file;
}

describe("loading the roster", () => {
  test("reads every field of an agent, and the tier from the table", () => {
    const file = put(
      "architect.md",
      "---\nname: architect\ndescription: Decides.\nkind: local\ndisplay_name: The Architect\ntools:\n  - read_file\nmodel: m\ntemperature: 0.2\nmax_turns: 7\ntimeout_mins: 3\n---\n\nThink.\n\n",
    );
    expect(loadRoster(dir)).toEqual({
      exists: true,
      problems: [],
      agents: [
        {
          name: "architect",
          description: "Decides.",
          tools: ["read_file"],
          model: "m",
          temperature: 0.2,
          max_turns: 7,
          timeout_mins: 3,
          tier: "read-only",
          file,
          body: "Think.",
        },
      ],
    });
  });

  test.each([
    ["a block list", "tools:\n  - read_file\n  - replace\n"],
    ["an inline list", "tools: [read_file, replace]\n"],
    ["a quoted list", "tools: ['read_file', \"replace\"]\n"],
  ])("reads %s, with LF and with CRLF (I116)", (_, tools) => {
    const text = `---\nname: helper\ndescription: Helps.\n${tools}---\nBody\n`;
    put("helper.md", text);
    put("windows.md", text.replace("helper", "windows").replaceAll("\n", "\r\n"));
    const { agents, problems } = loadRoster(dir);
    expect(problems).toEqual([]);
    expect(agents.map(({ tools, tier, body }) => ({ tools, tier, body }))).toEqual(
      Array(2).fill({ tools: ["read_file", "replace"], tier: "read-write", body: "Body" }),
    );
  });

  test("replaces old tool names with their current ones (C28)", () => {
    put("helper.md", "---\nname: helper\ndescription: d\ntools: [search_file_content, web_search]\n---\n");
    expect(loadRoster(dir).agents[0]?.tools).toEqual(["grep_search", "google_web_search"]);
  });

  test("an agent without a tools list has every tool", () => {
    put("helper.md", "---\nname: helper\ndescription: d\n---\n");
    const [agent] = loadRoster(dir).agents;
    expect(agent).toMatchObject({ tier: "full" });
    expect(agent).not.toHaveProperty("tools");
  });

  test("the table decides the tier of the twelve, whatever their files list", () => {
    put("architect.md", "---\nname: architect\ndescription: d\ntools: ['*']\n---\n");
    expect(loadRoster(dir).agents[0]?.tier).toBe("read-only");
  });

  test("stores the hyphen form of a name with underscores (C11)", () => {
    put("my_helper.md", "---\nname: my_helper\ndescription: d\n---\n");
    expect(loadRoster(dir).agents[0]?.name).toBe("my-helper");
  });

  test("is sorted by file name", () => {
    for (const name of ["b", "c", "a"]) put(`${name}.md`, `---\nname: ${name}\ndescription: d\n---\n`);
    expect(loadRoster(dir).agents.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  test("leaves out what Gemini CLI leaves out: folders, links, underscores and other extensions", () => {
    const target = put("notes.txt", "---\nname: x\ndescription: d\n---\n");
    put("_draft.md", "no front matter");
    mkdirSync(join(dir, "nested.md"));
    symlinkSync(target, join(dir, "link.md"));
    expect(loadRoster(dir)).toEqual({ exists: true, agents: [], problems: [] });
  });

  test("a missing folder is an empty roster that says so (F72)", () => {
    expect(loadRoster(join(dir, "none"))).toEqual({ exists: false, agents: [], problems: [] });
  });

  test("a file in place of the folder is an error with the reason", () => {
    const file = put("agents", "");
    expect(() => loadRoster(file)).toThrow(MaestroError);
    expect(() => loadRoster(file)).toThrow(/Cannot read the agents in .*ENOTDIR/);
  });
});

describe("an invalid agent file", () => {
  const head = "name: bad\ndescription: d\n";

  test.each([
    ["no front matter", "# Bad\n", /two --- lines/],
    ["unclosed front matter", `---\n${head}`, /two --- lines/],
    ["a byte order mark", `\uFEFF---\n${head}---\n`, /byte order mark/],
    ["front matter closed by dots", `---\n${head}...\n`, /bare --- lines/],
    ["broken YAML", "---\nname: [bad\n---\n", /^YAML, line \d+: /],
    ["a key twice", `---\n${head}name: bad\n---\n`, /the key name appears twice/],
    ["an alias to nothing", `---\n${head}model: *m\n---\n`, /alias/i],
    ["empty front matter", "---\n\n---\n", /the front matter must be an object/],
    ["a list as front matter", "---\n- a\n---\n", /the front matter must be an object/],
    ["no name", "---\ndescription: d\n---\n", /^name must be /],
    ["an illegal name", "---\nname: Bad One\ndescription: d\n---\n", /^name must be only a-z/],
    ["no description", "---\nname: bad\n---\n", /^description must be /],
    ["an empty description", "---\nname: bad\ndescription: ''\n---\n", /^description must be /],
    ["an unknown key", `---\n${head}color: red\n---\n`, /color must be left out/],
    ["the documented but unsupported mcpServers", `---\n${head}mcpServers: {}\n---\n`, /mcpServers must be left out/],
    ["a remote kind", `---\n${head}kind: remote\n---\n`, /^kind must be /],
    ["tools that are not a list", `---\n${head}tools: read_file\n---\n`, /^tools must be a list/],
    ["tools left empty", `---\n${head}tools:\n---\n`, /^tools must be a list/],
    ["a tool that is not a string", `---\n${head}tools: [read_file, 3]\n---\n`, /^tools\.1 must be /],
    ["a turn limit of zero", `---\n${head}max_turns: 0\n---\n`, /^max_turns must be /],
    ["a fraction of a minute", `---\n${head}timeout_mins: 1.5\n---\n`, /^timeout_mins must be /],
    ["a temperature in words", `---\n${head}temperature: low\n---\n`, /^temperature must be /],
    ["the name of another agent", "---\nname: coder\ndescription: d\n---\n", /name is "coder".*"bad"/],
  ])("with %s is a problem, and the others load", (_, text, reason) => {
    const file = put("bad.md", text);
    put("good.md", "---\nname: good\ndescription: d\n---\n");
    const { agents, problems } = loadRoster(dir);
    expect(agents.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toEqual([expect.objectContaining({ file, agent: "bad", reason: expect.stringMatching(reason) })]);
    expect(problems[0]?.reason).not.toContain("\n");
  });

  test("is reported with everything that is wrong, and the tools it lists", () => {
    put("bad.md", "---\nname: bad\ncolor: red\nmax_turns: many\ntools: [write_file]\n---\n");
    const [problem] = loadRoster(dir).problems;
    for (const key of ["description", "color", "max_turns"]) expect(problem?.reason).toContain(key);
    expect(problem?.tools).toEqual(["write_file"]);
  });

  test.each([
    ["misnamed", "---\nname: other\ndescription: d\ntools: [replace]\n---\n"],
    ["after a byte order mark", "\uFEFF---\nname: bad\ndescription: d\ntools: [replace]\n---\n"],
  ])("still reports the tools it lists when it is %s", (_, text) => {
    put("bad.md", text);
    expect(loadRoster(dir).problems[0]?.tools).toEqual(["replace"]);
  });

  test("is a problem when it is the same agent in another spelling; the first file loads (C11)", () => {
    const first = put("api-designer.md", "---\nname: api-designer\ndescription: d\ntools: [glob]\n---\n");
    const second = put("api_designer.md", "---\nname: api_designer\ndescription: d\ntools: [replace]\n---\n");
    const { agents, problems } = loadRoster(dir);
    expect(agents.map(({ file }) => file)).toEqual([first]);
    expect(problems).toEqual([
      { file: second, agent: "api-designer", reason: `${first} is the same agent`, tools: ["replace"] },
    ]);
  });
});

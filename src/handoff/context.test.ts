import { describe, expect, test } from "vitest";
import { checkHandoff } from "./handoff.ts";

const report =
  "## Task Report\n- Status: success\n- Files Created: none\n- Files Modified: none\n- Files Deleted: none\n\n";
const contextOf = (body: string) => checkHandoff(`${report}## Downstream Context\n${body}`).downstream_context;
const none = {
  key_interfaces_introduced: [],
  patterns_established: [],
  integration_points: [],
  assumptions: [],
  warnings: [],
};

describe("the five lists (J133, K155)", () => {
  const all = {
    key_interfaces_introduced: ["`User` in src/user.ts", "`findUser(id): Promise<User>`"],
    patterns_established: ["Repositories, one per table"],
    integration_points: ["POST /users"],
    assumptions: ["Node 20"],
    warnings: [],
  };
  test.each([
    [
      "nested lists",
      "- Key Interfaces Introduced:\n  - `User` in src/user.ts\n  - `findUser(id): Promise<User>`\n- Patterns Established: Repositories, one per table\n- Integration Points:\n  - POST /users\n- Assumptions: Node 20\n- Warnings: none",
    ],
    [
      "sub-headings",
      "### Key Interfaces Introduced\n- `User` in src/user.ts\n- `findUser(id): Promise<User>`\n\n### Patterns Established\nRepositories, one per table\n\n### Integration Points\n1. POST /users\n\n### Assumptions\n* Node 20\n\n### Warnings\nNone.",
    ],
    [
      "headings of the same level",
      "## Key Interfaces Introduced\n- `User` in src/user.ts\n- `findUser(id): Promise<User>`\n## Patterns Established\n- Repositories, one per table\n## Integration Points\n- POST /users\n## Assumptions\n- Node 20\n## Warnings\n- None",
    ],
    [
      "bold lines",
      "**Key Interfaces Introduced:**\n- `User` in src/user.ts\n- `findUser(id): Promise<User>`\n\n**Patterns Established:** Repositories, one per table\n\n**Integration Points:**\n\n- POST /users\n\n**Assumptions:** Node 20\n**Warnings:** _none_",
    ],
    [
      "a table",
      "| Field | Value |\n|---|---|\n| Key Interfaces Introduced | `User` in src/user.ts<br>`findUser(id): Promise<User>` |\n| Patterns Established | Repositories, one per table |\n| Integration Points | POST /users |\n| Assumptions | Node 20 |\n| Warnings | - |",
    ],
    [
      "YAML",
      'key_interfaces_introduced:\n  - `User` in src/user.ts\n  - `findUser(id): Promise<User>`\npatterns_established: ["Repositories, one per table"]\nintegration_points: [POST /users]\nassumptions:\n  - Node 20\nwarnings: []',
    ],
  ])("%s", (_, body) => {
    expect(checkHandoff(`${report}## Downstream Context\n\n${body}\n`)).toMatchObject({ valid: true });
    expect(contextOf(body)).toEqual(all);
  });

  test("a wrapped item is one item; a second paragraph is another", () => {
    expect(contextOf("### Warnings\nThe cache\nis cold.\n\nThe queue is not.").warnings).toEqual([
      "The cache is cold.",
      "The queue is not.",
    ]);
    expect(contextOf("- Warnings:\n  - The cache\n    is cold.").warnings).toEqual(["The cache is cold."]);
  });

  test("nested items are items", () => {
    expect(contextOf("- Warnings:\n  - a\n    - b\n  - c").warnings).toEqual(["a", "b", "c"]);
  });

  test("splits bracketed lists but not at commas; removes duplicates", () => {
    expect(contextOf("- Warnings: slow, but safe").warnings).toEqual(["slow, but safe"]);
    expect(contextOf("- Warnings: [slow, safe, slow]").warnings).toEqual(["slow", "safe"]);
    expect(contextOf('- Warnings: ["slow, but safe"]').warnings).toEqual(["slow, but safe"]);
  });

  test("text without a field name becomes an integration point", () => {
    expect(contextOf("The API listens on 8080.\nIt speaks JSON.\n\n- Use `User`.").integration_points).toEqual([
      "The API listens on 8080. It speaks JSON.",
      "Use `User`.",
    ]);
    expect(contextOf("### Next Steps\n- write tests").integration_points).toEqual(["write tests"]);
    expect(contextOf("- Warnings: hot\n- Ports: 8080")).toEqual({
      ...none,
      warnings: ["hot"],
      integration_points: ["Ports: 8080"],
    });
  });

  test("removes terminal escapes (T7)", () => {
    const body = '- Warnings: \u001b[31mred\u001b[0m\n- Assumptions: ["\\u001b]0;owned\\u0007x", "\\u009b31mred"]';
    expect(contextOf(body)).toEqual({ ...none, warnings: ["red"], assumptions: ["x", "red"] });
  });
});

describe("whether a Downstream Context is present (V247, C6)", () => {
  test.each([
    ["none"],
    ["None."],
    ["N/A"],
    ["- None"],
    ["[]"],
    ["- Warnings: none"],
    ["No warnings."],
    ["| Warnings | none |"],
  ])("%j is present and empty", (body) => {
    const check = checkHandoff(`${report}## Downstream Context\n${body}`);
    expect(check).toMatchObject({ valid: true, has_downstream_context: true, downstream_context: none });
  });

  test.each([
    ["## Downstream Context: none"],
    ["## Downstream Context (none)"],
    ["**Downstream Context:** None"],
    ["**Downstream Context**: N/A"],
    ["Downstream Context: none"],
    ["Downstream Context — none"],
  ])("%j is present and empty", (line) => {
    const check = checkHandoff(`${report}${line}\n`);
    expect(check).toMatchObject({ valid: true, has_downstream_context: true, downstream_context: none });
  });

  test.each([
    ["no section", ""],
    ["an empty section", "## Downstream Context\n"],
    ["names without values", "## Downstream Context\n- Key Interfaces Introduced:\n- Warnings:\n"],
    ["only fenced text", "## Downstream Context\n```\n- Warnings: none\n```\n"],
    ["only a comment", "## Downstream Context\n<!-- none -->\n"],
    ["a mention", "The Downstream Context is empty.\n"],
    ["another section right after it", "## Downstream Context\n## Appendix\ntext"],
  ])("%s counts as missing", (_, body) => {
    const check = checkHandoff(report + body);
    expect(check).toMatchObject({ valid: false, has_downstream_context: false, missing: ["downstream_context"] });
    expect(check.downstream_context).toEqual(none);
    expect(checkHandoff(report + body, { dependents: false })).toMatchObject({ valid: true, missing: [] });
  });
});

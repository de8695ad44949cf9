import { describe, expect, test } from "vitest";
import { checkHandoff } from "./handoff.ts";

const rest = "- Status: success\n- Files Modified: none\n- Files Deleted: none\n\n## Downstream Context\nnone\n";
const created = (field: string) => {
  const check = checkHandoff(`## Task Report\n${field}\n${rest}`);
  expect(check.files_modified).toEqual([]);
  expect(check.files_deleted).toEqual([]);
  expect(check.status).toBe("success");
  return check.missing.includes("files_created") ? null : check.files_created;
};

describe("lists of files, in any form (V249)", () => {
  const ab = ["src/a.ts", "src/b.ts"];
  test.each([
    ["- Files Created: src/a.ts, src/b.ts", ab],
    ["- Files Created: src/a.ts,src/b.ts", ab],
    ["- Files Created: src/a.ts; src/b.ts", ab],
    ["- Files Created: src/a.ts and src/b.ts", ab],
    ["- Files Created: src/a.ts, and src/b.ts.", ab],
    ["- Files Created: `src/a.ts`, `src/b.ts`", ab],
    ["- Files Created: `src/a.ts` and `src/b.ts`", ab],
    ["- **Files Created:** src/a.ts, src/b.ts", ab],
    ["- **Files Created**: `src/a.ts`, `src/b.ts`", ab],
    ["**Files Created** — src/a.ts, src/b.ts", ab],
    ["* Files Created — src/a.ts, src/b.ts", ab],
    ["files_created: [src/a.ts, src/b.ts]", ab],
    ['files_created: ["src/a.ts", "src/b.ts"]', ab],
    ["files_created: ['src/a.ts', 'src/b.ts']", ab],
    ['"files_created": ["src/a.ts", "src/b.ts"],', ab],
    ["filesCreated: src/a.ts, src/b.ts", ab],
    ["files_created:\n  - src/a.ts\n  - src/b.ts", ab],
    ["files_created:\n- src/a.ts\n- src/b.ts", ab],
    ['files_created: [\n  "src/a.ts",\n  "src/b.ts"\n]', ab],
    ["Created files: src/a.ts, src/b.ts", ab],
    ["New Files: src/a.ts, src/b.ts", ab],
    ["File(s) created: src/a.ts, src/b.ts", ab],
    ["Files Created (2): src/a.ts, src/b.ts", ab],
    ["- Files Created:\n  - src/a.ts\n  - src/b.ts", ab],
    ["- Files Created:\n    * src/a.ts\n    * src/b.ts", ab],
    ["- Files Created:\n\t- src/a.ts\n\t- src/b.ts", ab],
    ["- Files Created:\n  1. src/a.ts\n  2. src/b.ts", ab],
    ["- Files Created:\n\n  - src/a.ts\n\n  - src/b.ts", ab],
    ["- Files Created:\n  - [x] src/a.ts\n  - [ ] src/b.ts", ab],
    ["- Files Created: 2 files\n  - src/a.ts\n  - src/b.ts", ab],
    ["- Files Created:\n  src/a.ts\n  src/b.ts", ab],
    ["- Files Created: src/a.ts,\n  src/b.ts", ab],
    ["Files Created:\nsrc/a.ts\nsrc/b.ts", ab],
    ["**Files Created:**\n- src/a.ts\n- src/b.ts", ab],
    ["**Files Created**\n\n- src/a.ts\n- src/b.ts", ab],
    ["### Files Created\n- src/a.ts\n- src/b.ts", ab],
    ["### Files Created\n\n- `src/a.ts`\n- `src/b.ts`\n", ab],
    ["### 📁 Files Created (2)\n\n1. src/a.ts\n2. src/b.ts\n", ab],
    ["### Files Created\nsrc/a.ts\nsrc/b.ts", ab],
    ["Files Created\n-------------\n- src/a.ts\n- src/b.ts", ab],
    ["| Files Created | src/a.ts, src/b.ts |", ab],
    ["| Field | Value |\n|---|---|\n| Files Created | `src/a.ts`<br>`src/b.ts` |", ab],
    ["| Field | Value |\n| :-- | --: |\n| **Files Created** | src/a.ts<br/>src/b.ts |", ab],
    ["### Files Created\n| File | Change |\n|------|--------|\n| src/a.ts | new |\n| src/b.ts | new, with tests |", ab],
    ["### Files Created\n\n| # | Path |\n|---|---|\n| 1 | `src/a.ts` |\n| 2 | `src/b.ts` |\n", ab],
    ["### Files Created\n| Files | Notes |\n|---|---|\n| src/a.ts | x |\n| src/b.ts | y |", ab],
    ["### Files Created\n| Status | Path |\n|---|---|\n| new | src/a.ts |\n| new | src/b.ts |", ab],
    ["Files Created:\n\n| File |\n|---|\n| src/a.ts |\n| src/b.ts |\n", ab],
    ["- Files Created: src/a.ts\n- Files Created: src/b.ts", ab],
    ["- Files Created: src/a.ts\n- Files Created: src/b.ts, src/a.ts", ab],
    ["- Files Created: src/a.ts, src/b.ts, src/a.ts, ./src/a.ts", ab],
    ["- Files Created: ./src/a.ts, .//src/b.ts".replace(".//", "././"), ab],
    ["- Files Created:\n  - src/a.ts - the model\n  - src/b.ts — the view", ab],
    ["- Files Created:\n  - src/a.ts: the model\n  - src/b.ts – the view", ab],
    ["- Files Created:\n  - src/a.ts (new)\n  - src/b.ts (new: the view)", ab],
    ["- Files Created:\n  - `src/a.ts` - the model, the view\n  - `src/b.ts`: and more", ab],
    ["- Files Created:\n  - src/a.ts — adds foo, bar and baz\n  - src/b.ts # later", ab],
    ["- Files Created:\n  - src/a.ts → moved\n  - src/b.ts => too", ab],
    ["- Files Created: src/a.ts (new, with tests), src/b.ts (new)", ab],
    ["- Files Created: src/a.ts - new, src/b.ts - new", ab],
    ["- Files Created:\n  - **src/a.ts**: the model\n  - **`src/b.ts`**", ab],
    ["- Files Created:\n  - [src/a.ts](src/a.ts)\n  - [b](src/b.ts) (new)", ab],
    ["- Files Created: [src/a.ts](src/a.ts), [`src/b.ts`](https://example.org/src/b.ts)", ab],
    ["- Files Created:\n  - src/a.ts:12\n  - src/b.ts:3-9", ab],
    ['- Files Created: "src/a.ts", "src/b.ts"', ab],
    ["- Files Created:\n  - src/a.ts\n    - exports Foo\n    - refactored\n  - src/b.ts", ab],
    ["- Files Created:\n  - src/a.ts — the long\n    description goes on\n  - src/b.ts", ab],
    ["### Files Changed\n- Created: src/a.ts, src/b.ts\n- Modified: none\n- Deleted: none\n### Objective", ab],
    [
      "### Files Changed\n- Created:\n  - src/a.ts\n  - src/b.ts\n- Modified: [none yet]\n- Deleted: [none yet]\n### Objective",
      ab,
    ],
    ["- Files Changed:\n  - Created: src/a.ts, src/b.ts\n  - Modified: none\n  - Deleted: none", ab],
    ["- Files:\n  - **Added**: src/a.ts, src/b.ts\n  - **Updated**: none\n  - **Removed**: none", ab],
    [
      "### Files Changed\n#### Created\n- src/a.ts\n- src/b.ts\n#### Modified\nNone\n#### Deleted\nNone\n### Objective",
      ab,
    ],
    [
      "### Files Changed\n| Action | File |\n|---|---|\n| Created | src/a.ts |\n| Created | src/b.ts |\n### Objective",
      ab,
    ],
    [
      "### Files Changed\n| File | Action |\n|---|---|\n| src/a.ts | Created |\n| src/b.ts | created |\n### Objective",
      ab,
    ],
  ])("%j", (field, paths) => {
    expect(created(field)).toEqual(paths);
  });
});

describe("one path", () => {
  test.each([
    ["Makefile", "Makefile"],
    [".env.example", ".env.example"],
    [".gitignore", ".gitignore"],
    ["`LICENSE`", "LICENSE"],
    ["src/__init__.py", "src/__init__.py"],
    ["__init__.py", "__init__.py"],
    ["docs/My File.md", "docs/My File.md"],
    ["docs/my file (1).txt", "docs/my file (1).txt"],
    ["docs/rock and roll.md", "docs/rock and roll.md"],
    ["src/app/(group)/[id]/page.tsx", "src/app/(group)/[id]/page.tsx"],
    ["src/größe/文件.ts", "src/größe/文件.ts"],
    ["C:\\work\\src\\a.ts", "C:\\work\\src\\a.ts"],
    ["src\\a.ts (new)", "src\\a.ts"],
    [".\\src\\a.ts", "src\\a.ts"],
    ["/abs/a.ts", "/abs/a.ts"],
    ["no/changes", "no/changes"],
    ["none.ts", "none.ts"],
    ["../../etc/passwd", "../../etc/passwd"],
    ["`a,b.ts`", "a,b.ts"],
    ["`docs/a - b.md` — text", "docs/a - b.md"],
    ["**Dockerfile** (new)", "Dockerfile"],
    ["Dockerfile (new)", "Dockerfile"],
    ["[a.ts](<docs/my file.ts>)", "docs/my file.ts"],
    ["src/**/*.ts", "src/**/*.ts"],
    ["- src/a.ts", "src/a.ts"],
    ["📄 src/a.ts", "src/a.ts"],
    ["✅ `src/a.ts`", "src/a.ts"],
    ["➕ Makefile", "Makefile"],
    ["src/a.ts\u001b[31m", "src/a.ts"],
    ["\u001b]8;;http://evil\u0007src/a.ts\u001b]8;;\u0007", "src/a.ts"],
    ["src/\u0000a.ts", "src/a.ts"],
    ['["src/\\u001b[31ma.ts"]', "src/a.ts"],
    ['["src/a\\n.ts"]', "src/a.ts"],
  ])("%j is %j", (value, path) => {
    expect(created(`- Files Created: ${value}`)).toEqual([path]);
    expect(created(`- Files Created:\n  - ${value}`)).toEqual([path]);
    expect(created(`### Files Created\n${value}\n### Objective`)).toEqual([path]);
  });
});

describe("an explicit none (V249)", () => {
  test.each([
    ["none"],
    ["None"],
    ["NONE."],
    ["N/A"],
    ["n/a"],
    ["n.a."],
    ["None (N/A)"],
    ["-"],
    ["—"],
    ["(none)"],
    ["[none]"],
    ["[none yet]"],
    ["[]"],
    ["_none_"],
    ["*None*"],
    ["**None**"],
    ["`none`"],
    ["no files"],
    ["No files."],
    ["No files created"],
    ["No files were created."],
    ["no new files"],
    ["nothing"],
    ["null"],
    ["0"],
    ["0 files"],
    ["None — all changes are in existing code"],
    ["None (nothing new was needed)"],
    ["None. Nothing to add."],
  ])("%j", (value) => {
    expect(created(`- Files Created: ${value}`)).toEqual([]);
    expect(created(`- Files Created:\n  - ${value}`)).toEqual([]);
    expect(created(`### Files Created\n\n${value}\n\n### Objective`)).toEqual([]);
    expect(created(`| Files Created | ${value} |`)).toEqual([]);
    expect(created(`**Files Created:** ${value}\nValidation Command: npm test`)).toEqual([]);
    expect(created(`**Files Created:** ${value}\nThat is all.`)).toEqual([]);
  });

  test("applies once to all three fields", () => {
    const text = "## Task Report\n- Status: success\n- Files Changed: none\n## Downstream Context\nnone";
    expect(checkHandoff(text)).toMatchObject({ valid: true, files_created: [], files_modified: [], files_deleted: [] });
  });

  test("'none' next to files is not a file", () => {
    expect(created("- Files Created: none\n  - src/a.ts")).toEqual(["src/a.ts"]);
  });
});

describe("not declared (V249)", () => {
  test.each([
    [""],
    ["- Files Created:"],
    ["- Files Created:\n- Objective: x"],
    ["### Files Created\n\n### Objective\nx"],
    ["- Files Created: [list of files]"],
    ["- Files Created: <paths>"],
    ["- Files Created: {{files_created}}"],
    ["- Files Created: ..."],
    ["- Files Created: …"],
    ["- Files Created: TBD"],
    ["- Files Created: 3"],
    ["- Files Created: 3 files"],
    ["- Files Created: the user service and its tests"],
    ["- I created: src/a.ts"],
    ["- Created: src/a.ts"],
    ["- Files: src/a.ts"],
    ["- Files Changed: src/a.ts"],
    ["> - Files Created: src/a.ts"],
    ["```\n- Files Created: src/a.ts\n```"],
  ])("%j", (field) => {
    expect(created(field)).toBeNull();
  });

  test("prose after a list is not a path", () => {
    expect(created("### Files Created\n- src/a.ts\n\nThat's all, thanks!\n### Objective")).toEqual(["src/a.ts"]);
    expect(created("**Files Created:**\n- src/a.ts\n\nThat's all, thanks!")).toEqual(["src/a.ts"]);
    expect(created("- Files Created: src/a.ts\n- Tests: 12\n- Makefile: unchanged")).toEqual(["src/a.ts"]);
  });
});

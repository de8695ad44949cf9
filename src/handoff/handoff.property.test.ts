import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkHandoff } from "./handoff.ts";
import { handoffFormats } from "./output/formats.ts";

/** Text made of the fragments that the reader reacts to. */
const pieces = [
  "## Task Report",
  "## Downstream Context",
  "- Status: success",
  "- Status: success | partial",
  "Files Created:",
  "- **Files Modified:** `a.ts`, b.ts (new)",
  "### Files Changed",
  "| File | Change |",
  "|---|---|",
  "| a.ts | created |",
  "- Warnings: none",
  "```",
  "~~~~",
  "    ```",
  "> ",
  "<!--",
  "-->",
  "---",
  "===",
  "- [x] ",
  "\t",
  " ",
  "\r",
  "\uFEFF",
  "\u001b[31m",
  "\u009d",
  '{"response":"',
  '{"type":"message","role":"assistant","content":"x","delta":true}',
  '{"type":"result"}',
  "}",
  "[",
  '"',
  "Subagent 'x' finished.",
];
const soup = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8 })), { maxLength: 40 })
  .chain((parts) =>
    fc
      .array(fc.constantFrom("\n", "\n\n", " ", ""), { minLength: parts.length, maxLength: parts.length })
      .map((joints) => parts.map((part, i) => part + (joints[i] ?? "")).join("")),
  );

const path = fc.stringMatching(/^[a-z]{1,8}(\/[a-zA-Z0-9_-]{1,8}){0,3}\.[a-z]{1,4}$/);
const paths = fc.uniqueArray(path, { maxLength: 5 });
const status = fc.constantFrom("success", "partial", "failure");
const sentence = fc.stringMatching(/^[A-Z][a-z]{2,9}( [a-z]{3,9}){1,6}$/);

interface Facts {
  status: string;
  created: string[];
  modified: string[];
  deleted: string[];
  warnings: string[];
}
const facts: fc.Arbitrary<Facts> = fc.record({
  status,
  created: paths,
  modified: paths,
  deleted: paths,
  warnings: fc.uniqueArray(sentence, { maxLength: 3 }),
});

type Style = (name: string, values: string[]) => string;
const styles: Style[] = [
  (name, values) => `- ${name}: ${values.join(", ") || "none"}\n`,
  (name, values) => `- **${name}:** ${values.map((value) => `\`${value}\``).join(", ") || "N/A"}\n`,
  (name, values) => `### ${name}\n${values.map((value) => `- ${value}\n`).join("") || "None.\n"}\n`,
  (name, values) => `**${name}**\n\n${values.map((value, i) => `${i + 1}. ${value}\n`).join("") || "- (none)\n"}\n`,
  (name, values) => `| ${name} | ${values.join("<br>") || "-"} |\n`,
  (name, values) => `${name.toLowerCase().replaceAll(" ", "_")}: ${JSON.stringify(values)}\n`,
];
const style = fc.constantFrom(...styles);

function write({ status, created, modified, deleted, warnings }: Facts, form: Style): string {
  // One sentence per line, because commas do not separate warnings.
  const list = form === styles[0] || form === styles[1] ? styles[2] : form;
  return `## Task Report\n- Status: ${status}\n${form("Files Created", created)}${form("Files Modified", modified)}${form("Files Deleted", deleted)}\n## Downstream Context\n${list?.("Warnings", warnings)}`;
}
const report = fc.tuple(facts, style).map(([told, form]) => ({ told, text: write(told, form) }));

describe("never throws, whatever the input (F18)", () => {
  test.each([...handoffFormats, undefined])("text as %s", (format) => {
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: "binary", maxLength: 200 })), fc.boolean(), (source, dependents) => {
        const check = checkHandoff(source, { format, dependents });
        expect(check.valid).toBe(check.missing.length === 0 && check.parse_error === null && check.error_type === null);
        expect(JSON.stringify(check)).not.toMatch(/\\u00(?:0[0-8bcef]|1|7f|8|9)/);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([...handoffFormats, undefined])("bytes as %s", (format) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        checkHandoff(bytes, { format });
      }),
    );
  });

  test.each(["gemini-json", "stream-json"] as const)("any JSON as %s", (format) => {
    const keys = fc.constantFrom(
      "response",
      "error",
      "stats",
      "models",
      "tokens",
      "prompt",
      "type",
      "code",
      "message",
      "toString",
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "medium" },
        fc.constantFrom("message", "result", "assistant", null, 429, -1, true),
        fc.string(),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(keys, tie("value"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), (values) => {
        const source = values.map((one) => JSON.stringify(one)).join("\n");
        expect(checkHandoff(source, { format }).valid).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a report in any format", () => {
  test("is read as its author meant it (V246, V247, V248, V249)", () => {
    fc.assert(
      fc.property(report, ({ told, text }) => {
        expect(checkHandoff(text)).toMatchObject({
          valid: true,
          status: told.status,
          files_created: told.created,
          files_modified: told.modified,
          files_deleted: told.deleted,
          downstream_context: { warnings: told.warnings, integration_points: [] },
        });
      }),
      { numRuns: 500 },
    );
  });

  test("does not count inside a fence, a quote or a comment", () => {
    const wraps = fc.constantFrom(
      (text: string) => `\`\`\`\n${text}\n\`\`\``,
      (text: string) => `~~~~ markdown\n${text}\n~~~~`,
      (text: string) => `Hello\n\`\`\`md\n${text}`,
      (text: string) => text.replaceAll(/^/gm, "> "),
      (text: string) => `<!--\n${text}\n-->`,
      (text: string) => text.replaceAll(/^/gm, "    "),
    );
    fc.assert(
      fc.property(report, wraps, ({ text }, wrap) => {
        expect(checkHandoff(wrap(text))).toMatchObject({
          valid: false,
          has_task_report: false,
          status: null,
          files_created: [],
        });
      }),
    );
  });

  test("reads the same with CRLF, a byte order mark, colours and text around it", () => {
    fc.assert(
      fc.property(report, sentence, ({ text }, words) => {
        const expected = checkHandoff(text);
        expect(checkHandoff(text.replaceAll("\n", "\r\n"))).toEqual(expected);
        expect(checkHandoff(`\uFEFF${text}`)).toEqual(expected);
        expect(checkHandoff(new TextEncoder().encode(`\uFEFF${text}`))).toEqual(expected);
        expect(checkHandoff(`${words}.\n\n${text}`)).toEqual(expected);
        expect(checkHandoff(`${text}\n\n# ${words}\n\n${words}.\n`)).toEqual(expected);
        expect(checkHandoff(text.replaceAll(/^/gm, "\u001b[32m").replaceAll(/$/gm, "\u001b[0m"))).toEqual(expected);
      }),
    );
  });

  test("is replaced by a later report", () => {
    fc.assert(
      fc.property(report, report, sentence, (first, second, words) => {
        const expected = checkHandoff(second.text);
        expect(checkHandoff(`${first.text}\n${second.text}`)).toEqual(expected);
        expect(checkHandoff(`${first.text}\n\`\`\`\n${words}\n\`\`\`\n${words}.${second.text}`)).toEqual(expected);
      }),
    );
  });

  test("reads the same inside Gemini's JSON and stream, with noise around it, except for the tokens", () => {
    const noise = fc.constantFrom(
      "",
      "Loaded cached credentials.\n",
      "[WARN] {x}\n{y}\n",
      '{"level":"info"}\n',
      '{"a":\n',
    );
    const size = fc.constantFrom(3, 50, 10_000);
    fc.assert(
      fc.property(
        fc.oneof(
          report,
          soup.map((text) => ({ text })),
        ),
        noise,
        size,
        ({ text }, before, length) => {
          fc.pre(text.trim() !== "");
          const expected = checkHandoff(text, { format: "text" });
          fc.pre(expected.parse_error === null);
          const json = JSON.stringify({ session_id: "s", response: text, stats: {} }, null, length % 3);
          expect(checkHandoff(before + json, { format: "gemini-json" })).toEqual(expected);
          expect(checkHandoff(before + json)).toEqual(expected);

          const events: unknown[] = [{ type: "init" }];
          for (let at = 0; at < text.length; at += length) {
            events.push({ type: "message", role: "assistant", content: text.slice(at, at + length), delta: true });
          }
          const stream = [...events, { type: "result", status: "success" }]
            .map((event) => JSON.stringify(event))
            .join("\n");
          expect(checkHandoff(before + stream)).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("is never valid as truncated JSON", () => {
    fc.assert(
      fc.property(report, fc.nat(), ({ text }, at) => {
        const json = JSON.stringify({ session_id: "s", response: text }, null, 2);
        const cut = json.slice(0, at % json.length);
        expect(checkHandoff(cut, { format: "gemini-json" })).toMatchObject({
          valid: false,
          parse_error: cut === "" ? "empty_output" : "truncated_json",
        });
      }),
    );
  });
});

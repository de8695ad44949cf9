// Hand-offs: compares our Markdown reader with two CommonMark libraries. The libraries only find blocks; our own table judges the titles for all.

import { readHandoff } from "../../../src/handoff/handoff.ts";
import { titleOf } from "../../../src/handoff/markdown/titles.ts";
import { hasRivals, reportLoading, reportRounds, rival } from "./rivals.ts";

const fields = "- Status: success\n- Files Created: src/a.ts\n- Files Modified: none\n- Files Deleted: none\n";
const report = `## Task Report\n${fields}`;

/** Texts that agents write, and whether each contains a Task Report. */
const cases: [what: string, text: string, isReport: boolean][] = [
  ["a heading", `Done.\n\n${report}`, true],
  ["a setext heading", `Task Report\n===========\n${fields}`, true],
  ["closing hashes", `## Task Report ##\n${fields}`, true],
  ["bold in a heading", `## **Task Report**\n${fields}`, true],
  ["no space behind the hashes", `##Task Report\n\n${fields}`, true],
  ["a bold line", `**Task Report**\n\n${fields}`, true],
  ["a bold line right above its fields", `Done.\n\n**Task Report:**\n${fields}`, true],
  ["a plain line with a colon", `Done.\n\nTask Report:\n${fields}`, true],
  ["behind the sentence of an earlier answer", `Done.${report}`, true],
  ["behind the closing fence of an earlier answer", `\`\`\`\ncode\n\`\`\`${report}`, true],
  ["below a list", `- one\n- two\n${report}`, true],
  ["below a fence that was closed deeper in a list", `- run:\n    \`\`\`sh\n    ls\n    \`\`\`\n\n${report}`, true],
  ["in a fence", `The form:\n\n\`\`\`markdown\n${report}\`\`\`\n`, false],
  ["in a fence that is never closed", `\`\`\`markdown\n${report}`, false],
  ["in a quotation", `> ## Task Report\n> - Status: success\n`, false],
  ["in a comment", `<!--\n${report}-->\n`, false],
  ["in preformatted HTML", `<pre>\n${report}</pre>\n`, false],
  ["in an indented block", `The form:\n\n    ## Task Report\n    - Status: success\n`, false],
  ["in a list item", `- ## Task Report\n`, false],
  ["a mention", "I will write a Task Report\n", false],
];

interface Block {
  type: string;
  depth?: number;
  text: string;
}

const finds = (blocks: readonly Block[]) =>
  blocks.some(({ type, depth, text }) => type === "heading" && titleOf(text, depth ?? 1) === "report");

interface Marked {
  lexer(text: string): { type: string; depth?: number; text?: string }[];
}

interface Node {
  type: string;
  depth?: number;
  value?: string;
  children?: Node[];
}

const textOf = ({ value = "", children = [] }: Node): string => value + children.map(textOf).join("");

export async function measureMarkdown(): Promise<void> {
  const readers: Record<string, (text: string) => boolean> = {
    ours: (text) => readHandoff(text).check.has_task_report,
  };
  if (hasRivals) {
    const { lexer } = await rival<Marked>("marked");
    const { fromMarkdown } = await rival<{ fromMarkdown(text: string): Node }>("mdast-util-from-markdown");
    readers.marked = (text) =>
      finds(lexer(text).map(({ type, depth = 1, text: inner = "" }) => ({ type, depth, text: inner })));
    readers.micromark = (text) =>
      finds(
        (fromMarkdown(text).children ?? []).map((node) => ({
          type: node.type,
          depth: node.depth ?? 1,
          text: textOf(node),
        })),
      );
  }
  for (const [name, read] of Object.entries(readers)) {
    const wrong = cases.filter(([, text, isReport]) => read(text) !== isReport);
    console.log(`  ${name}: ${cases.length - wrong.length} of ${cases.length} texts as expected`);
    for (const [what, , isReport] of wrong)
      console.log(`    ${what}: ${isReport ? "not found" : "taken for a report"}`);
  }
  const work = `I changed \`src/a.ts\` and **src/b.ts**, see [the guide](docs/guide.md).\n\n- one\n- two\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\n`;
  const texts: [what: string, text: string, rounds: number][] = [
    ["an answer of 3 kB", work.repeat(20) + report, 21],
    ["an answer of 150 kB", work.repeat(1000) + report, 3],
    ["5 kB of open brackets", "[".repeat(5_000) + report, 3],
    ["5 kB of quotation marks", `${">".repeat(5_000)}\n${report}`, 3],
    ["5 kB of emphasis", `${"*a **b ".repeat(700)}\n${report}`, 3],
  ];
  for (const [what, text, rounds] of texts) {
    const failures = new Set<string>();
    const ways = Object.entries(readers).map(([name, read]) => [
      `${what}: ${name}`,
      () => {
        const failure = attempt(read, text);
        if (failure !== "") failures.add(`${name}: ${failure}`);
      },
    ]);
    reportRounds(Object.fromEntries(ways), rounds);
    for (const failure of failures) console.log(`    ${failure}`);
  }
  await reportLoading({
    ours: 'import { readHandoff } from "./src/handoff/handoff.ts"; readHandoff("x")',
    ...(hasRivals ? { marked: 'import { lexer } from "marked"; lexer("x")' } : {}),
    ...(hasRivals ? { micromark: 'import { fromMarkdown } from "mdast-util-from-markdown"; fromMarkdown("x")' } : {}),
  });
}

/** The message of an error, such as a stack overflow on deep nesting. */
function attempt(read: (text: string) => boolean, text: string): string {
  try {
    read(text);
    return "";
  } catch (error) {
    return String(error);
  }
}

// The live table: compares our display width with string-width, and our redraw with log-update.

import { frameText } from "../../../src/cli/terminal.ts";
import { displayWidth } from "../../../src/views/text/width.ts";
import { report } from "../measure.ts";
import { hasRivals, reportLoading, reportRounds, rival } from "./rivals.ts";

type Width = (text: string) => number;

/** A text, and the columns it takes in terminals by Unicode's East Asian Width and emoji presentation. */
const cases: [text: string, columns: number][] = [
  ["plain text", 10],
  ["\u001b[31mred\u001b[39m", 3],
  ["漢字かな", 8],
  ["한국어", 6],
  ["ｆｕｌｌ", 8],
  ["ﾊﾝｶｸ", 4],
  ["e\u0301", 1],
  ["naïve", 5],
  ["नमस्ते", 4],
  ["ไทย", 3],
  ["👍", 2],
  ["👍🏽", 2],
  ["👨‍👩‍👧‍👦", 2],
  ["🇩🇪", 2],
  ["❤️", 2],
  ["❤", 1],
  ["1️⃣", 2],
  ["✔ ○ ●", 5],
  ["→ … —", 5],
  ["a\u200bb", 2],
  ["a\u00adb", 2],
  ["\u202eabc", 3],
  ["ᄀ", 2],
  ["각", 2],
  ["𠀀", 2],
  ["", 0],
];

const row = (at: number) => `  ● ${at}  phase ${at} of the plan   coder   running   ${at} s   src/file-${at}.ts`;

export async function measureTerminal(): Promise<void> {
  const widths: Record<string, Width> = { ours: displayWidth };
  if (hasRivals) widths["string-width"] = (await rival<{ default: Width }>("string-width")).default;
  for (const [name, width] of Object.entries(widths)) {
    const wrong = cases.filter(([text, columns]) => width(text) !== columns);
    console.log(`  ${name}: ${cases.length - wrong.length} of ${cases.length} widths as expected`);
    for (const [text, columns] of wrong) console.log(`    ${JSON.stringify(text)}: ${width(text)}, not ${columns}`);
  }
  const lines = {
    ascii: Array.from({ length: 1000 }, (_, at) => row(at).replace("●", "*")),
    mixed: Array.from({ length: 1000 }, (_, at) => row(at)),
  };
  for (const [what, texts] of Object.entries(lines)) {
    const ways = Object.entries(widths).map(([name, width]) => [
      `1,000 ${what} lines: ${name}`,
      () => texts.map(width),
    ]);
    reportRounds(Object.fromEntries(ways), 31);
  }
  if (hasRivals) await measureRedraw();
  await reportLoading({
    "our width": 'import { displayWidth } from "./src/views/text/width.ts"; displayWidth("x")',
    ...(hasRivals ? { "string-width": 'import width from "string-width"; width("x")' } : {}),
    "our redraw": 'import { frameText } from "./src/cli/terminal.ts"; frameText(["x"], 0)',
    ...(hasRivals
      ? { "log-update": 'import { createLogUpdate } from "log-update"; createLogUpdate({ write() {} })("x")' }
      : {}),
  });
}

interface LogUpdate {
  createLogUpdate(stream: object): (text: string) => void;
}

/** 30 rows on a terminal of 100 columns; in each frame one row, or the clock of every row, changes. */
async function measureRedraw(): Promise<void> {
  const { createLogUpdate } = await rival<LogUpdate>("log-update");
  const frames = {
    "one row changes": (at: number) => Array.from({ length: 30 }, (_, line) => row(line === 3 ? at : line)),
    "every row changes": (at: number) => Array.from({ length: 30 }, (_, line) => row(line + at)),
  };
  for (const [what, frame] of Object.entries(frames)) {
    const written = { ours: 0, "log-update": 0 };
    const update = createLogUpdate({
      isTTY: true,
      columns: 100,
      rows: 40,
      write: (text: string) => {
        written["log-update"] += Buffer.byteLength(text);
        return true;
      },
    });
    const rounds = 200;
    let at = 0;
    let height = 0;
    reportRounds(
      {
        [`a frame of 30 rows, ${what}: ours`]: () => {
          at += 1;
          const lines = frame(at);
          written.ours += Buffer.byteLength(frameText(lines, height));
          height = lines.length;
        },
        [`a frame of 30 rows, ${what}: log-update`]: () => update(`${frame(at).join("\n")}\n`),
      },
      rounds,
    );
    for (const [name, bytes] of Object.entries(written)) report(`${what}: bytes a frame, ${name}`, bytes / rounds, "B");
  }
}

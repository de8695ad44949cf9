// `.env` files: our parser beside Node's util.parseEnv and the library that Gemini CLI reads the same files with.

import * as util from "node:util";
import { parseDotenv } from "../../../src/dotenv.ts";
import { parseEnv } from "../../../src/setting-layers.ts";
import { hasRivals, reportLoading, reportRounds, rival } from "./rivals.ts";

type Parse = (text: string) => Record<string, string | undefined>;

const cases: Record<string, string> = {
  plain: "A=1\nB=two words\n",
  "spaces around": "  A = 1  \n",
  export: "export A=1\n",
  "carriage returns": "A=1\r\nB=2\r\n",
  "byte order mark": "\uFEFFA=1\n",
  "comment behind a value": "A=1 # one\n",
  "# inside a value": "A=a#b\n",
  "quoted #": 'A="a # b"\n',
  "single quotes": "A='a \\n b'\n",
  "line break as \\n": 'A="a\\nb"\n',
  "tab as \\t": 'A="a\\tb"\n',
  "escaped quote": 'A="a\\"b"\n',
  "escaped backslash": 'A="a\\\\nb"\n',
  "over several lines": 'A="a\nb"\nC=1\n',
  backticks: "A=`a b`\n",
  "open quote": 'A="a\nB=2\n',
  "text behind a quote": 'A="a" b\n',
  empty: "A=\nB=2\n",
  "empty and a comment": "A= # none\nB=2\n",
  twice: "A=1\nA=2\n",
  "name with a dash": "A-B=1\nC=2\n",
  "name with a dot": "A.B=1\nC=2\n",
  "colon instead of =": "A: 1\nB=2\n",
  __proto__: "__proto__=1\nA=2\n",
  "variable reference": "A=1\nB=$A\n",
};

const shown = (parse: Parse, text: string) => JSON.stringify(Object.entries(parse(text)).sort());

export async function measureEnvFile(): Promise<void> {
  const native = (util as Partial<typeof util> & { parseEnv?: Parse }).parseEnv;
  const parsers: Record<string, Parse> = {
    "settings (ours)": parseEnv,
    "agents' files (ours)": (text) => Object.fromEntries(parseDotenv(text)),
  };
  if (native === undefined) console.log(`  Node ${process.versions.node} has no util.parseEnv`);
  else parsers["util.parseEnv"] = native;
  if (hasRivals) parsers.dotenv = (await rival<{ parse: Parse }>("dotenv")).parse;
  const reference = parsers.dotenv ?? parseEnv;
  for (const [name, parse] of Object.entries(parsers)) {
    const others = Object.entries(cases).filter(([, text]) => shown(parse, text) !== shown(reference, text));
    console.log(
      `  ${name} and ${parsers.dotenv ? "dotenv" : "our reader of settings"} differ in ${others.length} of ${Object.keys(cases).length} cases`,
    );
    for (const [what, text] of others) console.log(`    ${what}: ${shown(parse, text)}, not ${shown(reference, text)}`);
  }
  const usual = Array.from({ length: 20 }, (_, at) => `NAME_${at}="value ${at}" # comment\n`).join("");
  const hostile = `A="${"\\".repeat(100_000)}\n${"B='".repeat(30_000)}`;
  for (const [what, text, scale] of [
    ["20 lines, 100 times", usual, 100],
    ["190 kB of open quotes", hostile, 1],
  ] as const) {
    const ways = Object.entries(parsers).map(([name, parse]) => [
      `${what}: ${name}`,
      () => {
        for (let at = 0; at < scale; at++) parse(text);
      },
    ]);
    reportRounds(Object.fromEntries(ways), 21);
  }
  await reportLoading({
    "settings (ours)": 'import { parseEnv } from "./src/setting-layers.ts"; parseEnv("A=1")',
    ...(native === undefined ? {} : { "util.parseEnv": 'import { parseEnv } from "node:util"; parseEnv("A=1")' }),
    ...(hasRivals ? { dotenv: 'import { parse } from "dotenv"; parse("A=1")' } : {}),
  });
}

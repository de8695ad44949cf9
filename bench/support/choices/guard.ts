// The guard on its corpus: compares the whole judge, the quick path, and plain regular expressions over the command text.

import { readFileSync } from "node:fs";
import { judgeCommand } from "../../../src/guard/judge.ts";
import { quickVerdict } from "../../../src/guard/quick/quick.ts";
import { cpu, median, report } from "../measure.ts";

const ground = {
  projectRoot: "/work/project",
  home: "/home/dev",
  tmpdir: "/tmp",
  stateDir: "/work/project/.gemini",
  extensionRoot: "/home/dev/.gemini/extensions/maestro",
};

/** The rules of docs/guard.md, as far as regular expressions can express them. */
const patterns = [
  /(?:^|[^0-9&>])>(?!>|&|\s*\/dev\/null|\s*&)/,
  /<<-?\s*['"]?\w+/,
  /\btee\b(?!.*\s-a\b)/,
  /\b(?:sed|perl)\b.*\s-\w*i/,
  /\bdd\b.*\bof=|\btruncate\b/,
  /\brm\s+(?:-\w+\s+)*-\w*[rR]\w*\s+(?:-\w+\s+)*(?:\/|~|\$|\.\.|\.git\b|\.(?:\s|$)|\*)/,
  /\bgit\b.*\bpush\b.*(?:\s-f\b|--force|--mirror|\s\+\w)/,
  /\bgit\b.*\breset\b.*--hard/,
  /\bgit\b.*\b(?:checkout|restore)\b.*\s(?:\.|:\/|'\*')(?:\s|$)|\bgit\b.*\bclean\b.*-\w*f|\bgit\b.*\bstash\s+(?:drop|clear)/,
  /\b(?:pkill|killall)\b/,
  /\.env\b(?!\.(?:example|sample|template))|\.(?:pem|key|credentials)\b|\.git\/(?:hooks|config)|\.bashrc|\.ssh\//,
];

const load = (name: string): string[] =>
  readFileSync(`test/guard/${name}.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    // Skip cases that need a live session or call other tools.
    .filter((entry) => typeof entry.command === "string" && entry.session === undefined)
    .map(({ command }) => command);

export function measureGuard(): void {
  const corpus = { allow: load("allow"), deny: load("deny") };
  const all = [...corpus.allow, ...corpus.deny];
  const judges: Record<string, (command: string) => boolean> = {
    "the judge": (command) => judgeCommand(command, ground).verdict === "deny",
    "regular expressions": (command) => patterns.some((pattern) => pattern.test(command)),
  };
  for (const [name, denies] of Object.entries(judges)) {
    const refused = corpus.allow.filter(denies).length;
    const missed = corpus.deny.filter((command) => !denies(command)).length;
    console.log(
      `  ${name}: refuse ${refused} of ${corpus.allow.length} to allow, miss ${missed} of ${corpus.deny.length} to deny`,
    );
  }
  const quick = (commands: string[]) =>
    commands.filter((command) => quickVerdict(command, ground) !== undefined).length;
  console.log(
    `  the quick path answers ${quick(corpus.allow)} of ${corpus.allow.length} to allow, ${quick(corpus.deny)} of ${corpus.deny.length} to deny`,
  );
  const each = (judge: (command: string) => unknown) => () => {
    for (const command of all) judge(command);
  };
  const ways = {
    "the judge": judges["the judge"],
    "the quick path": (command: string) => quickVerdict(command, ground),
    "regular expressions": judges["regular expressions"],
  };
  for (const [name, judge] of Object.entries(ways)) {
    const taken = Array.from({ length: 5 }, () => cpu(each(judge as (command: string) => unknown)));
    report(`${name}: microseconds a command (median of 5)`, (median(taken) * 1000) / all.length, "us");
  }
}

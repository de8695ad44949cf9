// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deniedCommands, deniedPaths } from "../../test/support/calls.ts";
import { processorMs, TIMED } from "../../test/support/timed.ts";
import { judgeToolCall } from "../guard/judge.ts";
import { baselineRules } from "./baseline.ts";

const commandRules = baselineRules.flatMap(({ why, commandRegex }) =>
  commandRegex === undefined ? [] : [[why ?? "", new RegExp(`"command":"${commandRegex}`)] as const],
);
const pathRules = baselineRules.flatMap(({ why, argsPattern }) =>
  argsPattern === undefined ? [] : [[why ?? "", new RegExp(argsPattern)] as const],
);

const long = 1_000_000;
const commands: Record<string, string> = {
  "a long argument": `echo ${"a".repeat(long)}`,
  quotations: `echo ${'"a" '.repeat(long / 4)}`,
  "an open quotation": `cd x; echo '${"a".repeat(long)}`,
  "escaped quotes": `echo "${'\\"'.repeat(long / 2)}`,
  "many commands": "echo a; ".repeat(long / 8),
  "many lines": "echo a\n".repeat(long / 7),
  "blanks before a device": `echo ${" ".repeat(long)}>${" ".repeat(long)}/dev/null`,
  options: `rm ${"-r ".repeat(long / 3)}`,
  refspecs: `git push -f ${"main: ".repeat(long / 6)}`,
  "colons and pluses": `git push ${" +a:".repeat(long / 4)}`,
  "nearly hard": `git reset ${" --har".repeat(long / 6)}`,
};

describe("the patterns of the safety baseline", () => {
  // Matches the whole text, because the CLI matches every rule with every simple command.
  test.each(Object.entries(commands))("read a megabyte of %s at once and find nothing", TIMED, (_, command) => {
    const json = JSON.stringify({ command });
    const started = processorMs();
    expect(commandRules.filter(([, pattern]) => pattern.test(json))).toEqual([]);
    expect(processorMs() - started).toBeLessThan(1_500);
  });

  test.each(["/", "a/", "/.gemini", ".env.", "../"])("read a megabyte of %j as a path at once", TIMED, (piece) => {
    const json = JSON.stringify({ file_path: `${piece.repeat(long / piece.length)}x` });
    const started = processorMs();
    expect(pathRules.filter(([, pattern]) => pattern.test(json))).toEqual([]);
    expect(processorMs() - started).toBeLessThan(500);
  });

  test("match only the value of their own argument", () => {
    const elsewhere = {
      description: '"command":"rm -rf /"',
      content: '"file_path":".env"',
      command: "ls",
      file_path: "a",
    };
    const json = JSON.stringify(elsewhere);
    expect([...commandRules, ...pathRules].filter(([, pattern]) => pattern.test(json))).toEqual([]);
  });
});

describe("the guard", () => {
  const ground = {
    projectRoot: "/work/project",
    home: "/home/user",
    tmpdir: "/tmp",
    stateDir: "/work/project/.gemini",
    extensionRoot: "/home/user/.gemini/extensions/maestro",
  };
  const judge = (command: string) => judgeToolCall("run_shell_command", { command }, ground).verdict;
  const isDenied = (command: string) => {
    const json = JSON.stringify({ command });
    return commandRules.some(([, pattern]) => pattern.test(json));
  };

  test.each(Object.values(deniedCommands).flat())("denies %j too", (command) => {
    expect(judge(command)).toBe("deny");
  });

  test.each(Object.values(deniedPaths).flat())("denies a write to %j too", (file_path) => {
    expect(judgeToolCall("write_file", { file_path }, ground).verdict).toBe("deny");
  });

  const words = [
    ...["echo", "printf", "cat", "rm", "git", "push", "reset", "sudo", "cd", "a", "f.txt", "x=1", "then", "do", "[["],
    ...["-rf", "-r", "-f", "--force", "--hard", "-n", "--", "-C", "origin", "main", "+main", "HEAD:main", "main:x"],
    ...["/", "/*", "/usr", "~", "~/x", "$HOME", '"$HOME"', "'$HOME'", "${HOME}", "/tmp/x", "/dev/null", '"/dev/null"'],
    ...[
      '"a > b"',
      "'c > d'",
      '"e \\" > f"',
      "$'g\\' > h'",
      '"',
      "'",
      "\\",
      "#",
      "$x",
      "$(date)",
      "`date`",
      "{",
      "(",
      ")",
    ],
    ...["|", "||", "&&", "&", ";", "\n", "\nEOF\n", "]]", "}"],
  ];
  const redirections = [">", ">>", ">|", "&>", ">&2", "2>", "1>", "<", "<<EOF", "<<<", "<("];
  // At most one redirection, as far as quotes allow: of two, the last one counts, but the first still truncates its file.
  const isRedirectedTwice = />[\s\S]*>&2/;
  /** Such a cat reads the file and not the heredoc; real commands do not do that. */
  const namesFileToo = /\bcat\b[^;|&\n]*[\w$.~/"'][^;|&\n<]*<<|<<\S+\s+[^\s<>|&;]/;
  const commands = fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(" ", " ", " ", "")), { maxLength: 6 }),
      fc.constantFrom("", ...redirections.flatMap((redirection) => [redirection, ` ${redirection} `])),
      fc.array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(" ", " ", " ", "")), { maxLength: 6 }),
    )
    .map(([before, redirection, after]) => [...before.flat(), redirection, ...after.flat()].join(""));

  // A fixed seed: about one mixture in a million is odd in a way that only a parser detects.
  test("denies everything that the baseline denies, in any mixture of words", () => {
    let hits = 0;
    const starts = fc.constantFrom("", "echo ", "cat ", "rm -rf ", "git push -f ", "cd x && echo ", "x; cat ");
    fc.assert(
      fc.property(starts, commands, (start, rest) => {
        const command = start + rest;
        if (!isDenied(command) || isRedirectedTwice.test(command) || namesFileToo.test(command)) return;
        hits += 1;
        expect(judge(command), JSON.stringify(command)).toBe("deny");
      }),
      { seed: 2026, numRuns: 20_000 },
    );
    expect(hits).toBeGreaterThan(500);
  }, 60_000);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { root } from "../../test/support/project.ts";
import type { Ground } from "./ground.ts";
import { judgeCommand } from "./judge.ts";
import { quickVerdict } from "./quick.ts";

const ground: Ground = {
  projectRoot: "/work/project",
  home: "/home/dev",
  tmpdir: "/tmp",
  stateDir: "/work/project/.gemini",
  extensionRoot: "/home/dev/.gemini/extensions/maestro",
};

const casesOf = (name: string): string[] =>
  readFileSync(join(root, "test", "guard", `${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line).command ?? []);

describe("the quick look at a command", () => {
  it.each([
    "npm test",
    "npm run build --silent 2>&1 | tail -5",
    "npm test > /dev/null 2>&1",
    "cd packages/api && npm test",
    "git diff --stat | head -20",
    'git commit -m "fix: a > b; rm -rf / is only mentioned"',
    "git log --format='%h -> %s' | cat",
    "ls -la src > files.txt",
    "tsc --noEmit && eslint src",
    "node scripts/run.js > out.json",
    'grep -rn "TODO" src | wc -l',
    "echo hello",
    "CI=1 npm test",
    "python3 -m pytest -q tests/unit",
    "mkdir -p src/api && make test 2>/dev/null",
    'git diff > "out put.patch"',
  ])("is enough to allow %s", (command) => {
    expect(quickVerdict(command, ground)).toEqual({ verdict: "allow" });
  });

  it.each(["echo hi > f", "cat a > b", "npm test && printf 'x' >> src/a.ts", "echo a > f; rm -rf /"])(
    "is enough to deny %s",
    (command) => {
      expect(quickVerdict(command, ground)).toMatchObject({ verdict: "deny", rule: "shell-write" });
    },
  );

  it.each([
    "echo hi > .env",
    "cat a > b > c",
    "rm -rf /",
    "ls > .env",
    "ls > $HOME/x",
    "npm exec -- sed -i s/a/b/ f",
    "git push -f origin main",
    "git log --output=.env",
    "cd .git && ls > config",
    "cat <<EOF",
    "ls; rm -rf ~",
    "ls | sh",
    "node -e 1",
    "l''s; x=1",
    "ls & rm x",
    "ls >| f",
    "a2>f",
    "ls \\\n -la",
    "PATH=/tmp/x npm test",
    "python3 -m http.server",
    "",
  ])("leaves %s to the whole judge", (command) => {
    expect(quickVerdict(command, ground)).toBeUndefined();
  });

  const whole = (command: string) => judgeCommand(command, ground);

  it("says what the whole judge says wherever it says anything, for all of the corpus", () => {
    const known = [...casesOf("deny"), ...casesOf("allow")].filter(
      (command) => quickVerdict(command, ground) !== undefined,
    );
    for (const command of known) expect(quickVerdict(command, ground), command).toEqual(whole(command));
    expect(known.length).toBeGreaterThan(250);
  });

  it("says what the whole judge says for anything that is made of its parts", () => {
    const name = fc.constantFrom(
      ..."ls cat head tail grep rg cut tr wc npm pnpm yarn npx node python3 git cargo go tsc eslint date cd echo rm sh make mkdir pip bun CI=1 X=/tmp".split(
        " ",
      ),
    );
    const word = fc.oneof(
      fc.constantFrom(
        ..."-la -rf --output=.env -o .env / ~ . .. .git/config src/a.ts test run exec -e -c x=1 status diff log push --force main reset --hard -- -n 5 /dev/null a.key -m pytest tsc -f - sed -i".split(
          " ",
        ),
      ),
      fc.stringMatching(/^[\w./=@:,+%-]{1,8}$/),
      fc.stringMatching(/^[ -~]{0,8}$/).map((text) => `'${text.replaceAll("'", "")}'`),
      fc.stringMatching(/^[ -~]{0,8}$/).map((text) => `"${text.replaceAll('"', "")}"`),
    );
    const end = fc.constantFrom(
      "",
      " > out.log",
      " 2>&1",
      " > /dev/null",
      " >> .env",
      " > .git/config",
      ">f",
      " &> x",
      " 2>f",
      ">&2",
    );
    const simple = fc
      .tuple(name, fc.array(word, { maxLength: 4 }), end)
      .map(([first, rest, last]) => [first, ...rest].join(" ") + last);
    const glue = fc.constantFrom(" | ", " && ", "; ", ";", "|", " || ", " & ", "\n", "&&");
    const line = fc
      .tuple(simple, fc.array(fc.tuple(glue, simple), { maxLength: 3 }))
      .map(([first, rest]) => rest.reduce((text, [between, next]) => text + between + next, first));
    fc.assert(
      fc.property(line, (command) => {
        const quick = quickVerdict(command, ground);
        if (quick !== undefined) expect(quick).toEqual(whole(command));
      }),
      { numRuns: 10_000 },
    );
  }, 60_000);
});

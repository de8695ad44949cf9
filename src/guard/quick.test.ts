// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
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
    "cd packages/web\nnpm run build 2>&1 | tail -20\n\nls -la dist\n",
    "npm run dev > dev.log 2>&1 &",
    'npm test; echo "exit: $?"',
    "git --no-pager diff HEAD~1 -- src/*.ts",
    "find src -name '*.test.ts' -not -path '*/node_modules/*' | sort | uniq -c | head",
    "sed -n '10,20p' src/a.ts",
    "grep -on foo $FILES || true",
    "wc -l < src/a.ts",
    "[ -f package.json ] && cat package.json",
    "curl -s -X POST http://localhost:3000/tasks",
    "./gradlew test --info",
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
    "ls &&",
    "ls |\n",
    "$X -la",
    "git $X",
    "ls `rm x`",
    'ls "$(rm x)"',
    "ls ${X}",
    "printf -v X -- --output=.env; git log $X",
    "find . -delete",
    "find . -exec rm {} +",
    "sed -n 'w .env' a",
    "sed -i 10p a",
    "sed -n 10p -i a",
    "sort -uo .env a",
    "uniq a .env",
    "curl -so .env http://x",
    "curl -K a",
    "cat < in > out > more",
    "set -- a",
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
      ..."ls cat head tail grep rg cut tr wc npm pnpm yarn npx node python3 git cargo go tsc eslint date cd echo rm sh make mkdir pip bun CI=1 X=/tmp printf sort uniq sed find curl set exit wait true test [ jq diff chmod docker black ./gradlew gofmt nl paste xargs tee export".split(
        " ",
      ),
    );
    const word = fc.oneof(
      fc.constantFrom(
        ..."-la -rf --output=.env -o .env / ~ . .. .git/config src/a.ts test run exec -e -c x=1 status diff log push --force main reset --hard -- -n 5 /dev/null a.key -m pytest tsc -f - sed -i $X $HOME $1 $? *.ts ** ? ~/x HEAD~1 HEAD^ -exec -delete -fprint 10,20p w -uo -v -s -O -d --no-pager branch stash -D ] 2 ps cp".split(
          " ",
        ),
      ),
      fc.constantFrom('"$X"', '"a $? b"', '"$HOME/.bashrc"', "'$(x)'", '"$X$Y"', "$X/.env", "a$X"),
      fc.stringMatching(/^[\w./=@:,+%*?~^$-]{1,8}$/),
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
      " < in.txt",
      " </dev/null",
      " < a > b",
      " > $X",
      " 2>err.log",
    );
    const simple = fc
      .tuple(name, fc.array(word, { maxLength: 4 }), end)
      .map(([first, rest, last]) => [first, ...rest].join(" ") + last);
    const glue = fc.constantFrom(
      " | ",
      " && ",
      "; ",
      ";",
      "|",
      " || ",
      " & ",
      "\n",
      "&&",
      "\n\n",
      " &\n",
      " |\n",
      "&",
      " &&\n",
    );
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

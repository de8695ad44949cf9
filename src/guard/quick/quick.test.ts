// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { root } from "../../../test/support/project.ts";
import { judgeCommand } from "../judge.ts";
import type { Machine } from "../machine.ts";
import { areHarmless, plainCommands } from "./harmless.ts";
import { filtering, printing } from "./programs.ts";
import { quickVerdict } from "./quick.ts";

const machine: Machine = {
  projectRoot: "/work/project",
  home: "/home/dev",
  tmpdir: "/tmp",
  stateDir: "/work/project/.gemini",
  extensionRoot: "/home/dev/.gemini/extensions/maestro",
  hasSession: () => true,
};

const casesOf = (name: string): string[] =>
  readFileSync(join(root, "test", "guard", `${name}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line).command ?? []);

/** The commands of the corpus. */
const words = [...new Set([...casesOf("deny"), ...casesOf("allow")].flatMap((command) => command.split(/\s+/)))];

describe("the quick verdict", () => {
  test.each([
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
    "rm -rf dist coverage && npm run build",
    "cp src/a.ts src/b.ts && mv src/b.ts lib/",
    "touch src/empty.ts",
    "npm test 2>&1 | tee -a build.log",
    "timeout 60 npm test",
    "git checkout -b feature/x && git push -u origin feature/x",
    "git reset --soft HEAD~1",
    "ps aux | awk '{print $2}' | sed 's/a/b/g'",
    "docker compose up -d && docker ps",
    "terraform plan > plan.txt",
    "curl -s -H 'Accept: text/plain' http://localhost:3000",
    'git commit -m "timeout=5 by default"',
    "git checkout -- src/a.ts",
    "git restore --staged src/a.ts",
    "git switch main",
    "git branch -a",
    "git stash pop",
    "kill -9 12345",
  ])("allows %s", (command) => {
    expect(quickVerdict(command, machine)).toEqual({ verdict: "allow" });
  });

  test.each([
    "echo hi > f",
    "cat a > b",
    "npm test && printf 'x' >> src/a.ts",
    "echo a > f; rm -rf /",
    "cat > src/a.ts <<'EOF'\nconst a = `${b}`;\nEOF",
    "cat <<EOF > src/a.ts\none\ntwo\nEOF\n",
  ])("denies %s", (command) => {
    expect(quickVerdict(command, machine)).toMatchObject({ verdict: "deny", rule: "shell-write" });
    expect(quickVerdict(command, machine)).toEqual(judgeCommand(command, machine));
  });

  test.each([
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
    "ls & rm -rf /",
    "ls >| f",
    "a2>f",
    "ls \\\n -la",
    "PATH=/tmp/x npm test",
    "python3 -m http.server",
    "",
    'date "+Deploy started" > out.txt',
    "rm -rf .git",
    "rm -rf ../x",
    "rm -rf dist/*",
    "rm -rf $X",
    "rm dist --no-preserve-root",
    "cd / && rm -rf usr",
    "echo hi 2>notes.md >&2",
    "sed s/a/b/ a 2>o 1>&2",
    "echo hi >f >&2",
    '"CI=1" echo x > f',
    "echo 'all: ; rm -rf /' | make -f -",
    "make --eval='x: ; rm -rf /'",
    "make -sf /dev/stdin",
    "CI=1 cd .git && ls > config",
    "CI=1 cd a/../../.. && rm -rf etc",
    "cp a .env",
    "cp .env.example config/",
    "cp secrets/server.key config",
    "mv src /tmp/x",
    "tee out.txt",
    "tee -a .env",
    "timeout 5 rm -rf /",
    "timeout -k 5 10 ls",
    "git checkout .",
    "git checkout -f main",
    "git checkout -- :/",
    "git checkout src/..",
    "git restore .",
    "git switch -f main",
    "git branch -D main",
    "git stash drop",
    "git stash clear",
    "git worktree remove -f x",
    "git reflog expire --expire=now",
    "kill -9 -1",
    "kill 1",
    "kill $PPID",
    "pkill node",
    "killall node",
    "git push -f origin main",
    "git push origin +main",
    "git push origin :main",
    "git push --mirror",
    "git reset --hard",
    "git clean -fdx",
    "git stash -a",
    "git stash push --all",
    "git rebase -x 'rm -rf /' main",
    "git -c core.pager=x log",
    "git config user.name x",
    "awk '{print > \"f\"}' a",
    "awk 'BEGIN{system(\"x\")}'",
    "awk -i inplace '{print}' f",
    "sed 's/a/b/w .env' f",
    "sed 's/a/b/e' f",
    "docker cp app:/x .env",
    "cat > a <<'EOF'\nx\nEOF\nrm -rf /",
    "cat > .env <<'EOF'\nx\nEOF",
    "cat > a <<EOF\n$(rm -rf /)\nEOF",
    "cat > a <<'EOF'\nx\nEOF ",
  ])("leaves %s to the full judge", (command) => {
    expect(quickVerdict(command, machine)).toBeUndefined();
  });

  test.each(["/", "/home/dev", "/home/other", "/root", "/usr", "/etc/nginx"])(
    "does not allow a removal when the project is %s",
    (projectRoot) => {
      const place = { ...machine, projectRoot, stateDir: `${projectRoot}/.gemini` };
      expect(quickVerdict("rm -rf src", place)).toBeUndefined();
      expect(judgeCommand("rm -rf src", place)).toMatchObject({ verdict: "deny" });
    },
  );

  test.each([
    ["npm test", true],
    ["CI=1 timeout 60 npm run build 2>&1 | tail -5", true],
    ["npm test > /dev/null 2>&1", true],
    ["cd src && git diff --stat", true],
    ["git diff > out.log", false],
    ["npm test 2> errors.log", false],
    ["rm -rf dist", false],
    ["cp a b", false],
    ["cat > a <<'EOF'\nx\nEOF", false],
    ["for f in *; do ls $f; done", false],
    ["", false],
    [`echo ${"x".repeat(2000)}`, false],
  ])("needs neither rules nor places for %s: %s", (command, expected) => {
    expect(areHarmless(plainCommands(command))).toBe(expected);
  });

  const free: Machine = { ...machine, areWritesFree: true };
  const whole = (command: string) => judgeCommand(command, machine);

  test("equals the full judge's verdict for the whole corpus", () => {
    const known = [...casesOf("deny"), ...casesOf("allow")].filter(
      (command) => quickVerdict(command, machine) !== undefined,
    );
    for (const command of known) expect(quickVerdict(command, machine), command).toEqual(whole(command));
    expect(known.length).toBeGreaterThan(900);
    const harmless = known.filter((command) => areHarmless(plainCommands(command)));
    for (const command of harmless) expect(whole(command), command).toEqual({ verdict: "allow" });
    expect(harmless.length).toBeGreaterThan(500);
  });

  test.each([
    ["after another command", (command: string) => `npm test && ${command}`],
    ["before another command", (command: string) => `${command}; ls`],
    ["before a pipe", (command: string) => `${command} | tail -5`],
    ["after a pipe", (command: string) => `cat a.txt | ${command}`],
    ["with a limit", (command: string) => `timeout 5 ${command}`],
    ["with a variable", (command: string) => `CI=1 ${command}`],
    ["into a file", (command: string) => `${command} > out.txt`],
    ["in another directory", (command: string) => `cd src && ${command}`],
  ])("equals the full judge's verdict for the whole corpus %s", (_, changed) => {
    for (const command of [...casesOf("deny"), ...casesOf("allow")].map(changed)) {
      const quick = quickVerdict(command, machine);
      if (quick !== undefined) expect(quick, command).toEqual(whole(command));
      if (areHarmless(plainCommands(command))) expect(whole(command), command).toEqual({ verdict: "allow" });
    }
  });

  test("equals the full judge's verdict for random combinations of its parts", () => {
    const name = fc.oneof(
      fc.constantFrom(...printing.split(" "), ...filtering.split(" ")),
      fc.constantFrom("git push", "git reset", "docker", "rm", "timeout 5"),
      fc.constantFrom(
        ..."checkout restore switch branch stash worktree reflog clean gc".split(" ").map((verb) => `git ${verb}`),
        ..."kill pkill killall ps pgrep".split(" "),
      ),
      fc.constantFrom(
        ..."date awk sed tee rm cp mv touch timeout poetry pdm uv bundle deno dotnet docker podman kubectl ls cat head tail grep rg cut tr wc npm pnpm yarn npx node python3 git cargo go tsc eslint date cd echo rm sh make mkdir pip bun CI=1 X=/tmp printf sort uniq sed find curl set exit wait true test [ jq diff chmod docker black ./gradlew gofmt nl paste xargs tee export".split(
          " ",
        ),
      ),
    );
    const word = fc.oneof(
      fc.constantFrom(
        ..."-la -rf --output=.env -o .env / ~ . .. .git/config src/a.ts test run exec -e -c x=1 status diff log push --force main reset --hard -- -n 5 /dev/null a.key -m pytest tsc -f - sed -i $X $HOME $1 $? *.ts ** ? ~/x HEAD~1 HEAD^ -exec -delete -fprint 10,20p w -uo -v -s -O -d --no-pager branch stash -D ] 2 ps cp . ./ :/ src/.. -fd -b drop clear remove delete expire -9 -1 1 1234 %1 node -u".split(
          " ",
        ),
      ),
      fc.constantFrom(
        '"+Deploy started"',
        "'{print > \"f\"}'",
        "'s/a/b/w f'",
        '"$X"',
        '"a $? b"',
        '"$HOME/.bashrc"',
        "'$(x)'",
        '"$X$Y"',
        "$X/.env",
        "a$X",
      ),
      fc.constantFrom(...words),
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
      " 2>f >&2",
      " 1>f >&2",
      " 2>f 1>&2",
      " >&2 >f",
      " 2>&1 >f",
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
        for (const ground of [machine, free]) {
          const quick = quickVerdict(command, ground);
          if (quick !== undefined) expect(quick).toEqual(judgeCommand(command, ground));
          if (areHarmless(plainCommands(command))) expect(judgeCommand(command, ground)).toEqual({ verdict: "allow" });
        }
      }),
      { numRuns: 20_000 },
    );
  }, 60_000);
});

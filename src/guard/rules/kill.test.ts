// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { machine, quickest, rewrite, ruleOf } from "../../../test/support/guard.ts";
import { judgeCommand } from "../judge.ts";

const kills = [
  "pkill node",
  "pkill -9 -f node",
  "pkill -f .",
  "pkill -f ''",
  'pkill -f "$UNSET"',
  "pkill 'n[aeiou]de'",
  "pkill -u $USER",
  "pkill -v vite",
  "pkill -P 1",
  "pkill -f gemini",
  "pkill -f mcp.js",
  "pkill -f /home/dev/project",
  "pkill -f 'n.*o.*d.*e'",
  "killall node",
  "killall -q python3.11",
  "killall -u dev",
  "killall -r 'no.*'",
  "kill -9 -1",
  "kill -- -1",
  "kill -s KILL -1",
  "kill -9 1",
  "kill $(pgrep node)",
  "kill -9 $(pidof node)",
  "pgrep node | xargs kill",
  "pgrep -u dev | xargs -r kill -9",
  "pgrep node | while read -r p; do kill $p; done",
  "for p in $(pgrep node); do kill $p; done",
  "ps aux | grep node | while read -r user pid rest; do kill $pid; done",
  "ps aux | grep node | grep -v grep | awk '{print $2}' | xargs kill -9",
  "ps aux | awk '/[n]ode/ {print $2}' | xargs kill",
  "ps -ef | awk '{print $2}' | xargs kill",
  "ps aux | grep node | awk '{print \"kill \" $2}' | sh",
  "ps aux | awk '/node/ {system(\"kill \" $2)}'",
  "kill $(ps -C node -o pid=)",
  "lsof -t -c node | xargs kill",
  "fuser -k .",
  "fuser -km /",
  "taskkill /F /IM node.exe",
  "tmux kill-server",
  'node -e "process.kill(-1)"',
];

describe("kill-process", () => {
  test.each(kills)("denies %j", (command) => {
    expect(ruleOf(command)).toBe("kill-process");
  });

  test("still denies them when they are quoted, wrapped and nested (T2)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...kills), rewrite, (command, rewritten) => {
        expect(ruleOf(rewritten(command)), rewritten(command)).toBe("kill-process");
      }),
      { numRuns: 1000 },
    );
  });

  test("denies killing the parent of the shell, whichever variable holds its id", () => {
    expect(["kill $PPID", "p=$PPID; kill -9 $p", "pkill -P $PPID"].map(ruleOf)).toEqual(Array(3).fill("kill-process"));
  });

  test("says what to do instead (S239)", () => {
    expect(judgeCommand("pkill node", machine)).toMatchObject({
      reason: expect.stringMatching(/kill \$!.*pkill -f "/),
    });
  });

  test.each([
    `pkill -f '${"(.+)+".repeat(40)}x'`,
    `pkill -f '${".*a".repeat(80)}'`,
    `pkill -f '(a|a)*${"?".repeat(50)}b'`,
  ])("answers in time whatever the pattern: %s", (command) => {
    expect(quickest(100, () => judgeCommand(command, machine))).toBeLessThan(100);
  });
});

test.each([
  "kill 12345",
  "kill -9 12345 12346",
  "kill %1",
  "kill $!",
  "npm start & PID=$!; kill $PID",
  "kill -TERM -- -$PGID",
  "kill -0 -1",
  "kill -HUP 4321",
  "trap 'kill 0' EXIT",
  'kill "$(cat server.pid)"',
  "kill $(jobs -p)",
  "lsof -ti:3000 | xargs kill -9",
  "lsof -i :3000 | grep LISTEN | awk '{print $2}' | xargs kill",
  "fuser -k 3000/tcp",
  'pkill -f "vite --port 5173"',
  'pkill -f "node dist/server.js"',
  'pkill -f "vite --port $PORT"',
  "pkill -P $$",
  "pkill -F server.pid",
  "pkill -0 node",
  "pkill vite",
  "killall my-server",
  'kill $(pgrep -f "vite --port 3000")',
  "kill $(pgrep -P $$)",
  "ps aux | grep 'node dist/server.js' | grep -v grep | awk '{print $2}' | xargs kill",
  "ps -o pid= --ppid $PID | xargs kill",
  "ps aux | grep node",
  "pgrep -fl node",
  "tmux -L test kill-server",
  "docker exec app pkill node",
])("%j is allowed: it kills its own process, or a specific one", (command) => {
  expect(ruleOf(command)).toBe("allow");
});

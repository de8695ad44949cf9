// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { machine, rewrite, ruleOf } from "../../../../test/support/guard.ts";
import { judgeCommand } from "../../judge.ts";

const discards = [
  "git checkout -- .",
  "git checkout .",
  "git checkout HEAD -- .",
  "git checkout main -- .",
  "git checkout -- './*'",
  "git checkout -- '**/*'",
  "git checkout -- ':(top,glob)**'",
  "git checkout -- ':!package-lock.json'",
  "git checkout -- src/..",
  'git checkout -- "$(git rev-parse --show-toplevel)"',
  "git checkout -f",
  "git checkout -f main",
  "git checkout -qf -",
  "git checkout --theirs .",
  "git checkout -- $(git diff --name-only)",
  "git -C src checkout .",
  "git --work-tree=/home/dev/project --git-dir=/home/dev/project/.git checkout .",
  "git restore .",
  "git restore :/",
  "git restore -SW .",
  "git restore --source=HEAD~1 --staged --worktree -- .",
  "git switch -f main",
  "git switch --discard-changes main",
  "git clean -f",
  "git clean -fd",
  "git clean -fdx -e .env",
  "git clean -fd :/",
  "git -c clean.requireForce=false clean -d",
  "git stash drop",
  "git stash drop stash@{2}",
  "git stash clear",
  "git branch -D main",
  "git branch -df master",
  "git branch -D $(git branch --show-current)",
  "git read-tree -u --reset HEAD",
  "git checkout-index -fa",
  "git update-ref -d refs/heads/main",
  "git update-ref -d refs/stash",
  "git reflog expire --expire=now --all",
  "git reflog delete stash@{0}",
  "git worktree remove --force /home/dev/.cache/maestro/p/1",
  "git submodule foreach git checkout .",
  "git -c alias.x='checkout .' x",
  "git config alias.nuke 'clean -fd'",
];

describe("discard-work", () => {
  test.each(discards)("denies %j", (command) => {
    expect(ruleOf(command)).toBe("discard-work");
  });

  test("still denies them when they are quoted, wrapped and nested (T2)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...discards), rewrite, (command, rewritten) => {
        expect(ruleOf(rewritten(command)), rewritten(command)).toBe("discard-work");
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["git checkout .", /git restore <file>/],
    ["git clean -fd", /rm <file>/],
    ["git stash drop", /report/],
    ["git branch -D main", /git branch -D <branch>/],
  ])("denies %j with what to do instead (S239)", (command, expected) => {
    expect(judgeCommand(command, machine)).toMatchObject({ reason: expect.stringMatching(expected) });
  });
});

test.each([
  "git checkout -- src/a.ts",
  "git checkout src/a.ts",
  "git checkout -- '*.snap'",
  "git checkout -- .eslintrc.json",
  "git checkout -f -- src/a.ts",
  "git checkout .github/workflows/ci.yml",
  "git checkout main",
  "git checkout -",
  "git restore src/a.ts",
  "git restore --staged .",
  "git switch -C feature origin/main",
  "git clean -fdxn",
  "git clean -fd dist",
  "git clean -f '*.orig'",
  "git stash pop",
  "git stash push -m drop",
  "git branch -D feature/main",
  "git branch -d main",
  "git branch -rD origin/main",
  "git worktree remove --force ../wt",
  "git update-ref -d refs/heads/tmp",
  "git reflog expire --expire=90.days --all",
  "git gc --prune=now",
  "git checkout -p src/a.ts",
  "cd /tmp/clone && git checkout . && git clean -fdx",
])("%j is allowed, because it is specific", (command) => {
  expect(ruleOf(command)).toBe("allow");
});

describe("a clone in the temporary directory", () => {
  test.each([
    "ln -s /home/dev/project /tmp/p; cd /tmp/p; git checkout .",
    "cd /tmp/clone && GIT_WORK_TREE=/home/dev/project git checkout .",
    "cd /tmp/clone && git --work-tree=/home/dev/project checkout .",
    "cd /tmp/worktree && git stash clear",
  ])("does not excuse %j, which reaches the project", (command) => {
    expect(ruleOf(command)).toBe("discard-work");
  });

  test("is protected when it is the project itself", () => {
    const there = { ...machine, projectRoot: "/tmp/project", stateDir: "/tmp/project/.gemini" };
    expect(judgeCommand("git checkout .", there)).toMatchObject({ rule: "discard-work" });
  });
});

test.each(["git gc --prune=now", "git prune", "git update-ref -d refs/maestro/s/p/1"])(
  "%j is denied while a session is active",
  (command) => {
    const rules = [true, false].map((hasSession) =>
      judgeCommand(command, { ...machine, hasSession: () => hasSession }),
    );
    expect(rules).toMatchObject([{ rule: "discard-work" }, { verdict: "allow" }]);
  },
);

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rewrite, ruleOf } from "../../../../test/support/guard.ts";

test.each(["git push --force origin main", "git push -f origin master", "git push origin +main", "git push --force"])(
  "%j is denied (Y287)",
  (command) => {
    expect(ruleOf(command)).toBe("force-push");
  },
);

test("git reset --hard is denied (Y288)", () => {
  expect(ruleOf("git reset --hard")).toBe("hard-reset");
});

const pushes = [
  "git push --force",
  "git push -f",
  "git push --force origin main",
  "git push -f origin master",
  "git push origin main --force",
  "git push origin +main",
  "git push origin +HEAD:main",
  "git push origin HEAD:main --force",
  "git push -f origin HEAD",
  "git push -fu origin main",
  "git push -uf origin main",
  "git push --mirror",
  "git push --mirror origin",
  "git push --force-with-lease origin main",
  "git push --force-with-lease=main origin main",
  "git push --force --all",
  "git push origin --delete main",
  "git push origin :main",
  "git push -f origin refs/heads/main",
  "git push -f origin feature:refs/heads/main",
  'git push origin "+refs/heads/*:refs/heads/*"',
  "git push -f origin $BRANCH",
  'git push -f origin "$(git branch --show-current)"',
  "git -C x push -f",
  "git -c x=y push --force",
  "git --git-dir=.git push -f origin main",
  "/usr/bin/git push --force origin main",
  "command git push -f origin main",
  "sudo git push -f",
  "git -c alias.p='push --force' p origin main",
  "git -c alias.p='!git push -f' p",
  "g=git; $g push -f origin main",
  "bash -c 'git push -f origin main'",
  "git add . && git commit -m x && git push -f",
  "B=main; git push -f origin $B",
  "git push \"--force\" origin 'main'",
  'git push --fo""rce origin main',
  "git checkout main && git push -f",
  "git push -q -f origin main",
  "git push --no-verify -f origin main",
  "$GIT push --force origin main",
  "git config alias.pf 'push --force'",
  "git push origin main -f",
  "git push origin main:main --force",
  "git push --force-with-lease",
  "git push -f -- origin main",
  "git push --force https://github.com/x/y main",
  "GIT_SSH_COMMAND=x git push -f origin main",
  "git  push   --force   origin   main",
  "git push \\\n--force origin main",
  "git push -f origin HEAD:refs/heads/main",
  "git push origin +master:master",
  "git push origin +feature:main",
  "git push origin feature +main",
  "git push --force origin feature main",
  "git push origin -f HEAD:main",
  "git push origin +refs/heads/main",
  "git push -f origin :",
  "git push --delete origin master",
  "git push -d origin main",
  'git push -f origin "$B"',
  "git push -f origin HEAD:$B",
  "git push -f origin main && echo ok",
  "(git push -f)",
  "git push --force; git status",
  "timeout 30 git push -f",
  "xargs git push -f origin <<< main",
  "git push --force --tags origin main",
  "git push --all -f",
  "git -C /x -c a.b=c push --force origin main",
  "git --no-pager push -f origin main",
  "git --work-tree x --git-dir y push -f origin main",
  "F=--force; git push $F origin main",
  "F=-f; git push $F",
  "git config alias.yolo 'push -f origin main'",
  "python3 -c \"import os; os.system('git push -f origin main')\"",
  'eval "git push --force origin main"',
  'sh -c "git push -f origin $BRANCH"',
  "git push origin '+main'",
  "git push --fo\\rce origin main",
  "git switch - && git push -f",
  "git checkout x.ts && git push -f",
  "git checkout HEAD~1 && git push -f",
  "git branch -M main && git push -f",
  "git push --force origin HEAD:main",
  "git push origin HEAD:refs/heads/main -f",
  "git push origin main:main -f",
  "git push -f origin main:refs/heads/main",
  'git push origin "+refs/heads/main:refs/heads/main"',
  "git push origin HEAD:main --force-with-lease=main",
  "git push -f origin @",
  "git push --prune --force origin 'refs/heads/*'",
  "git -c push.default=current push -f",
];

const resets = [
  "git reset --hard",
  "git reset --hard HEAD~1",
  "git reset HEAD~1 --hard",
  "git reset --hard origin/main",
  "git -C d reset --hard",
  "git -c x=y reset --har",
  "git reset -q --hard",
  "git fetch && git reset --hard origin/main",
  "sudo git reset --hard",
  'git reset "--hard"',
  "git reset --ha\\rd",
  "git submodule foreach git reset --hard",
  "bash -c 'git reset --hard'",
  "x=--hard; git reset $x",
  "git -c alias.r='reset --hard' r",
  "eval git reset --hard",
  "git reset --hard HEAD",
  "git reset --hard @{u}",
  "git reset --hard abc123",
  'git reset --hard "$SHA"',
  "git clean -nd && git reset --hard",
  "git -C .. reset --hard",
  "git --git-dir=x reset --hard",
  "command git reset --hard",
  "env git reset --hard",
  "git reset $'--hard'",
  'git reset --"hard"',
  "M=hard; git reset --$M",
  "git reset {--hard,HEAD~1}",
  "$(echo git) reset --hard",
  "echo 'git reset --hard' | sh",
  "find . -name .git -execdir git reset --hard \\;",
  "git stash; git reset --hard",
  "git rebase --abort || git reset --hard",
  "cd sub && git reset --hard",
  "git reset --hard; npm ci",
  "git reset HEAD --hard",
  "GIT reset --hard",
  "echo x >$(git reset --hard)",
  "echo x >file$(git reset --hard)",
  "echo $((`git reset --hard` + 1))",
  "echo <(git reset --hard)",
  "cat >(git reset --hard)",
  "echo foo < <(git reset --hard)",
  "echo ok | xargs git reset --hard",
  "parallel git reset --hard ::: ok",
  "echo ok | xargs bash -c 'git reset --hard'",
];

describe("force-push", () => {
  test.each(pushes)("denies %j", (command) => {
    expect(ruleOf(command)).toBe("force-push");
  });

  test("still denies them when they are quoted, wrapped and nested (T2)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...pushes), rewrite, (command, rewritten) => {
        expect(ruleOf(rewritten(command)), rewritten(command)).toBe("force-push");
      }),
      { numRuns: 1000 },
    );
  });
});

describe("hard-reset", () => {
  test.each(resets)("denies %j", (command) => {
    expect(ruleOf(command)).toBe("hard-reset");
  });

  test("still denies them when they are quoted, wrapped and nested (T2)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...resets), rewrite, (command, rewritten) => {
        expect(ruleOf(rewritten(command)), rewritten(command)).toBe("hard-reset");
      }),
      { numRuns: 1000 },
    );
  });
});

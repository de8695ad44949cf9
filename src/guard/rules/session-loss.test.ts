// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { machine, rewrite } from "../../../test/support/guard.ts";
import { judgeCommand } from "../judge.ts";
import type { Machine } from "../machine.ts";
import { quickVerdict } from "../quick/quick.ts";

const live: Machine = { ...machine, hasSession: () => true };
const judged = (command: string, place: Machine) => judgeCommand(command, place).verdict;

/** STATE stands for the path of the state directory below the project. */
const losses = [
  "mv STATE x",
  "mv -t /tmp STATE",
  "mv STATE/parallel /tmp",
  "mv STATE/* /tmp/",
  "cd STATE && mv parallel /tmp",
  "git mv STATE x",
  "ln -sfn /tmp/x STATE",
  "ln -sfn /tmp/x STATE/parallel",
  "cp -rT /tmp/x STATE",
  "cp -r /tmp/x/. STATE/",
  "rm -rf STATE/parallel",
  "rm -rf STATE/parallel/batch-1",
  "rm -rf STATE/plans",
  "rm STATE/plans/*.md",
  "ln -s STATE g && rm -rf g/parallel",
  "find . -name '*.jsonl' -delete",
  "find . -type f -iname '*.JSONL' -exec rm {} +",
  "find . -name '*.jsonl' -print0 | xargs -0 rm -f",
  'find . -name "*.jsonl" | while read -r f; do rm "$f"; done',
  "find . -path '*/state/*' -delete",
  "find . -regex '.*jsonl' -delete",
  "find . -type d -name parallel -exec rm -rf {} +",
  "find . -path ./node_modules -prune -o -name '*.jsonl' -exec rm {} +",
  "fd -H -e jsonl -x rm",
  "rsync -a --delete e/ STATE/parallel",
  "rsync -a --remove-source-files STATE/plans /tmp/x/",
  "tar --remove-files -cf /tmp/x.tar STATE/parallel",
  "tar -C STATE -cf /tmp/x.tar --remove-files parallel",
  "zip -rm /tmp/x.zip STATE/parallel",
  "rename s/a/b/ STATE",
  "python3 -c \"import os; os.rename('STATE', 'x')\"",
  "node -e \"require('fs').rmSync('STATE/parallel', {recursive: true})\"",
];

describe("the files of an active session", () => {
  test.each([".gemini", ".maestro", "work/maestro"])("are protected in %s", (directory) => {
    const place = { ...live, stateDir: `${machine.projectRoot}/${directory}` };
    const passed = losses
      .map((one) => one.replaceAll("STATE", directory))
      .filter((one) => judged(one, place) === "allow");
    expect(passed).toEqual([]);
  });

  test("are protected when the command is quoted, wrapped and nested (T2)", () => {
    fc.assert(
      fc.property(fc.constantFrom(...losses), rewrite, (command, rewritten) => {
        const line = rewritten(command.replaceAll("STATE", ".gemini"));
        expect(judged(line, live), line).toBe("deny");
      }),
      { numRuns: 1000 },
    );
  });

  test.each(["mv .gemini x", "ln -sfn /tmp/x .gemini", "rm -rf .gemini/parallel", "find . -name '*.jsonl' -delete"])(
    "are not protected without a session: %s",
    (command) => {
      expect(judged(command, { ...machine, hasSession: () => false })).toBe("allow");
    },
  );

  test("are named in a denial that says what to do instead (S239)", () => {
    expect(judgeCommand("mv .gemini x", live)).toMatchObject({
      rule: "sensitive-file",
      reason: expect.stringContaining("maestro archive"),
    });
  });

  test("get no quick verdict when the state directory has an ordinary name", () => {
    const place = { ...live, stateDir: `${machine.projectRoot}/work/maestro` };
    const commands = ["rm -rf work/maestro/parallel", "mv work old", "mv work/maestro/plans old", "rm -rf work"];
    expect(commands.map((command) => quickVerdict(command, place))).toEqual(commands.map(() => undefined));
    expect(commands.map((command) => judged(command, place))).toEqual(commands.map(() => "deny"));
  });
});

test.each([
  "rm .gemini/plans/draft.md",
  "mv /tmp/design.md .gemini/plans/",
  "cp -r .gemini /tmp/backup",
  "rm -rf dist coverage",
  "rm -rf packages/*/dist",
  "find . -name '*.log' -delete",
  "find src -name '*.jsonl' -delete",
  "find . -maxdepth 1 -name '*.jsonl' -delete",
  "find . -name '*.jsonl' -not -path './.gemini/*' -delete",
  "find . -path ./.gemini -prune -o -name '*.jsonl' -exec rm {} +",
  "find . -name '*.jsonl' | xargs wc -l",
  "find . -type d -empty -delete",
  "fd -e jsonl -x rm",
  "ln -s ../shared/node_modules .",
  "ln -sfn releases/v2 current",
  "rsync -a --delete dist/ /tmp/deploy/",
  "tar czf /tmp/state.tgz .gemini",
])("%j is allowed in an active session", (command) => {
  expect(judged(command, live)).toBe("allow");
});

import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The longest files start first: a long file that starts last keeps one core idle at the end. Before them the ones that start git a thousand
 * times: starting a process takes longer the more memory the test process has, and it grows from file to file.
 */
const longest = [
  /src\/git\//,
  /e2e\/orchestration/,
  /scenarios\/isolation-crash/,
  /test\/runtimes\//,
  /scenarios\/crash/,
  /e2e\/extension/,
  /browser\//,
  /scenarios\/isolation-verbs/,
  /scenarios\/engine-crash/,
  /e2e\/agent-environment/,
  /scenarios\/(?:engine|isolation)/,
  /e2e\//,
  /bring-in\.test/,
  /scenarios\//,
  /src\/engine\//,
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((pattern) => pattern.test(moduleId));
      return at === -1 ? longest.length : at;
    };
    return files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

/** These files change what other files would see: the limits of git processes, global names, the program search path. */
const alone = ["src/git/**/run.test.ts", "test/extension.test.ts", "test/e2e/policies.test.ts"];

/** Tests with real agent programs: `npm run test:runtimes` runs those of every program, the gate those of Gemini CLI and of one more. */
const real = (process.env.TEST_RUNTIMES ?? "").split(",");
const missing = ["claude", "codex", "qwen", "opencode", "copilot", "goose", "pi"]
  .filter((name) => !real.includes(name))
  .map((name) => `test/runtimes/${name}.test.ts`);
// These need several programs at once.
if (!real.includes("all")) missing.push("test/runtimes/several.test.ts", "test/runtimes/acp-example.test.ts");

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 30_000,
    // One worker more than the two cores of the smallest machine: a good part of a scenario is waiting for processes and the disk.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // The developer's own shell must not change what the tests see.
    env: { NO_COLOR: "1", NODE_EXTRA_CA_CERTS: "" },
    projects: [
      // All other files clean up after themselves, so that they can share a process: starting one for each file takes longer than most of them run.
      {
        extends: true,
        test: {
          name: "shared",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...alone, ...missing],
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: alone } },
    ],
  },
});

import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest begins first: on two cores a long file at the end keeps one of them waiting. */
const longest = [/crash\.test/, /scenarios\/(?:engine|isolation)/, /e2e\//, /scenarios\//, /src\/(?:git|engine)\//];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((pattern) => pattern.test(moduleId));
      return at === -1 ? longest.length : at;
    };
    return files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

/** Where every test clears up after itself, files share a process: to start one for each takes longer than most of them run. */
const shared = [
  "src/*.test.ts",
  ..."agents cli disk extension guard handoff hooks mcp plan prompt runtimes secrets session store views"
    .split(" ")
    .map((folder) => `src/${folder}/**/*.test.ts`),
];

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 30_000,
    // Two cores: more workers only make timing tests unreliable.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // The developer's own shell must not change what the tests see.
    env: { NO_COLOR: "1", NODE_EXTRA_CA_CERTS: "" },
    projects: [
      { extends: true, test: { name: "shared", include: shared, isolate: false } },
      { extends: true, test: { name: "whole", include: ["src/**/*.test.ts", "test/**/*.test.ts"], exclude: shared } },
    ],
  },
});

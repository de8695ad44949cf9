import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 30_000,
    // Two cores: more workers only make timing tests unreliable.
    maxWorkers: 2,
    // The developer's own shell must not change what the tests see.
    env: { NO_COLOR: "1", NODE_EXTRA_CA_CERTS: "" },
  },
});

// Builds, once per run, the small programs that the tests start as processes of their own.

import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default async function setup(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ["test/support/programs/*.ts"],
    outdir: "node_modules/.cache/maestro-test",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    define: { MAESTRO_VERSION: '"test"' },
    logLevel: "error",
  });
}

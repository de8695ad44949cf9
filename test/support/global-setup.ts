// Once per run: builds the small programs that the tests start as processes of their own, and makes room for the sessions they copy.

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

export default async function setup(): Promise<() => void> {
  const { outputFiles } = await build({
    write: false,
    absWorkingDir: root,
    entryPoints: ["test/support/programs/*.ts"],
    outdir: "node_modules/.cache/maestro-test",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    define: { MAESTRO_VERSION: '"test"' },
    logLevel: "error",
  });
  // By a new name first: another run of the tests may be about to start one of them.
  for (const { path, contents } of outputFiles) {
    const draft = `${path}.${process.pid}`;
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(draft, contents);
    renameSync(draft, path);
  }
  const templates = mkdtempSync(join(tmpdir(), "maestro-templates-"));
  process.env.VITEST_TEMPLATES = templates;
  return () => rmSync(templates, { recursive: true });
}

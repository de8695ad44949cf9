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
    outExtension: { ".js": ".cjs" },
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    // Such a program starts in four fifths of the time of a module.
    format: "cjs",
    banner: {
      js: 'const __moduleUrl = require("node:url").pathToFileURL(__filename).href;',
    },
    define: { MAESTRO_VERSION: '"test"', "import.meta.url": "__moduleUrl" },
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

// Builds dist/ from src/: one file per front door, with everything in it, so that an installed extension needs no npm install.
// `node tools/build.js --check` builds in memory and says whether dist/ is what the sources give.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const check = process.argv.includes("--check");

const result = await build({
  absWorkingDir: root,
  entryPoints: { maestro: "src/cli/main.ts", warden: "src/warden/main.ts", player: "src/player/main.ts" },
  outdir: "dist",
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  // Every command reads the whole bundle before it does anything.
  minify: true,
  legalComments: "none",
  charset: "utf8",
  define: { MAESTRO_VERSION: JSON.stringify(version) },
  banner: {
    // commander is CommonJS and asks for builtins with require().
    js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
  },
  write: !check,
});

if (check) {
  const stale = result.outputFiles.filter(({ path, text }) => !existsSync(path) || readFileSync(path, "utf8") !== text);
  for (const { path } of stale) {
    console.error(`${path.slice(root.length)} is not what the sources give: run "npm run build" and commit it`);
  }
  process.exitCode = stale.length === 0 ? 0 : 1;
}

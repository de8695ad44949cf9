// Builds dist/ from src/: the entry points with all their dependencies bundled, so that an installed extension needs no npm install. Also
// writes THIRD_PARTY_NOTICES. `node tools/build.js --check` builds in memory and lists the files that are out of date.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { noticesOf } from "./notices.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @typedef {import("esbuild").Plugin} Plugin */
/** @typedef {import("esbuild").BuildOptions & { write: false, metafile: true }} Options */

const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

/** @satisfies {Options} */
const common = {
  absWorkingDir: root,
  outdir: "dist",
  bundle: true,
  platform: "node",
  target: "node20",
  // Minified because every command reads the whole bundle before it runs.
  minify: true,
  legalComments: "none",
  charset: "utf8",
  define: { MAESTRO_VERSION: JSON.stringify(version) },
  write: false,
  metafile: true,
};

/**
 * Puts the YAML library into a separate file, for the few texts that our own fast reader does not handle.
 * @type {Plugin}
 */
const lateYaml = {
  name: "late-yaml",
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/yaml\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const call = '(import.meta.url)("yaml")';
      if (!source.includes(call)) throw new Error(`${path} has changed: the import of the YAML library was not found`);
      return { contents: source.replace(call, '(import.meta.url)("./yaml.cjs")'), loader: "ts" };
    });
  },
};
/**
 * CommonJS starts faster, and can be loaded synchronously.
 * @type {Options}
 */
const small = {
  ...common,
  entryPoints: { warden: "src/warden/main.ts", yaml: "yaml" },
  format: "cjs",
  outExtension: { ".js": ".cjs" },
};

/** @type {Options} */
const programs = {
  ...common,
  entryPoints: { player: "src/player/main.ts" },
  format: "esm",
  banner: {
    // commander is CommonJS and loads builtins with require().
    js: '#!/usr/bin/env node\nimport { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
  },
  plugins: [lateYaml],
};

/**
 * A verb imports its code when it is called (src/cli/verbs). Verbs that share most of their code share a chunk: one for each verb would be
 * ninety small files, and a verb would have to open twenty of them. A verb without a group gets its own chunk.
 * @type {Record<string, string[]>}
 */
const verbGroups = {
  check: ["check/agents", "check/doctor", "check/handoff", "check/install-policies", "check/validate"],
  engine: [
    ...["run/dispatch", "run/rehearse", "run/resume", "run/run", "run/verify"],
    ...["session/archive", "session/complete", "session/decisions", "work/apply", "work/diff", "work/revert"],
  ],
  session: ["session/session", "session/state", "session/status"],
  show: ["run/watch", "work/logs", "work/report"],
};
/** @type {Plugin} */
const verbChunks = {
  name: "verb-chunks",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.\/[\w-]+\/[\w-]+\.ts$/ }, ({ kind, path, importer }) => {
      if (kind !== "dynamic-import" || !importer.includes("/src/cli/verbs/")) return undefined;
      const group = Object.keys(verbGroups).find((name) => verbGroups[name]?.includes(path.slice(3, -3)));
      return group === undefined ? undefined : { path: group, namespace: "verbs" };
    });
    onLoad({ filter: /./, namespace: "verbs" }, ({ path }) => ({
      contents: (verbGroups[path] ?? []).map((file) => `export * from "./${file}.ts";`).join("\n"),
      resolveDir: `${root}src/cli`,
    }));
  },
};

/** @type {Options} */
const commandLine = {
  ...programs,
  entryPoints: { maestro: "src/cli/start.ts" },
  splitting: true,
  chunkNames: "maestro-[name]-[hash]",
  plugins: [verbChunks, ...(programs.plugins ?? [])],
};

/**
 * The MCP tools load crash recovery, and git with it, only when a decision needs it.
 * @type {Options}
 */
const tools = {
  ...programs,
  entryPoints: { "mcp-tools": "src/mcp/toolbox.ts" },
  splitting: true,
  chunkNames: "mcp-[name]-[hash]",
};

/**
 * The MCP server answers its client before it needs a tool, so the tools are a separate file that is loaded afterwards. The server itself is
 * a separate file too, so that mcp.js can turn on the compile cache before Node reads it.
 * @type {Plugin}
 */
const serverParts = {
  name: "server-parts",
  setup({ onResolve }) {
    /** @type {Record<string, string>} */
    const files = { "./toolbox.ts": "./mcp-tools.js", "./main.ts": "./mcp-server.js" };
    onResolve({ filter: /^\.\/(?:toolbox|main)\.ts$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: files[path] ?? path, external: true } : undefined,
    );
  },
};

/**
 * While loading, the SDK creates a schema for every protocol type, and a registry of them that we never use: a third of the start time.
 * Without the registry, and with schema calls marked as pure, esbuild drops the unused schemas.
 * @type {Plugin}
 */
const usedSchemas = {
  name: "used-schemas",
  setup({ onResolve, onLoad }) {
    onLoad({ filter: /@modelcontextprotocol\/server\/dist\/src-[\w-]+\.mjs$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const registry = /^for \(const .*\bregister\(key, .*$/gm;
      if (source.match(registry)?.length !== 2)
        throw new Error(`${path} has changed: its registry of schemas was not found`);
      // A parser for HTTP headers, which only network servers use.
      const parser = "__toESM(require_content_type(), 1)";
      if (!source.includes(parser)) throw new Error(`${path} has changed: its parser of content types was not found`);
      const isPure = "__toESM(/* @__PURE__ */ require_content_type(), 1)";
      return { contents: source.replace(registry, "").replace(parser, isPure) };
    });
    // Only network servers need authentication.
    onResolve({ filter: /^\.\/auth-[\w-]+\.mjs$/ }, ({ path, resolveDir }) => ({
      path: `${resolveDir}/${path.slice(2)}`,
      sideEffects: false,
    }));
    onLoad({ filter: /@modelcontextprotocol\/core\/dist\/schemas-[\w-]+\.mjs$/ }, async ({ path }) => {
      // Strip comments first, because they contain code too.
      const { code } = await transform(readFileSync(path, "utf8"), { legalComments: "none" });
      return { contents: code.replace(/(?<![\w.$])((?:z|[A-Z]\w*Schema)\.)(?=\w+\()/g, "/* @__PURE__ */ $1") };
    });
  },
};

/** @type {Options} */
const server = {
  ...common,
  // With one byte per character V8 reads the file twice as fast.
  charset: "ascii",
  entryPoints: { mcp: "src/mcp/start.ts", "mcp-server": "src/mcp/main.ts" },
  format: "esm",
  banner: { js: "#!/usr/bin/env node" },
  alias: { "@modelcontextprotocol/server/_shims": "./src/mcp/shims.ts" },
  plugins: [serverParts, usedSchemas, lateYaml],
};

/**
 * Loads builtins that slow down the start of a hook only when one of their functions is called; unused functions are left out.
 * @type {Plugin}
 */
const lateBuiltins = {
  name: "late-builtins",
  setup({ onResolve, onLoad }) {
    const filter = /^node:(crypto|os|child_process|util|url)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: "late", sideEffects: false }));
    onLoad({ filter, namespace: "late" }, ({ path }) => {
      const builtin = createRequire(import.meta.url)(path);
      const functions = Object.keys(builtin).filter(
        (name) => typeof builtin[name] === "function" && !/^[A-Z]/.test(name),
      );
      const id = JSON.stringify(path.replace("node:", ""));
      return {
        contents: functions.map((name) => `export const ${name}=(...args)=>require(${id}).${name}(...args)`).join(";"),
      };
    });
  },
};

/**
 * A hook starts for every tool call and every request to the model, and V8 scans every function of a file before it runs the first line:
 * 100 kB cost a tenth of Node's start time. So large code that is seldom needed is in separate files beside hook.cjs.
 */
const parts = ["adopting", "delegation", "guard", "make-checkpoint", "recording", "session-events", "status"];
/** @type {Plugin} */
const hookParts = {
  name: "hook-parts",
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^\\./(${parts.join("|")})\\.ts$`) }, ({ kind, path }) =>
      kind === "require-call" ? { path: `./hook-${path.slice(2, -3)}.cjs`, external: true } : undefined,
    );
  },
};

/** @type {Options} */
const hook = {
  ...common,
  entryPoints: {
    hook: "src/hooks/main.ts",
    ...Object.fromEntries(parts.map((name) => [`hook-${name}`, `src/hooks/${name}.ts`])),
  },
  // With one byte per character V8 reads the file faster.
  charset: "ascii",
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  external: ["crypto", "os", "child_process", "util", "url"],
  // CommonJS has no import.meta.url; the file name serves the same purpose.
  define: { ...common.define, "import.meta.url": "__filename" },
  plugins: [hookParts, lateBuiltins, lateYaml],
};

/**
 * Each of our modules requires its builtins again, ten times and more in a hook file. This keeps the first result of each.
 * @param {string} text
 */
function askOnce(text) {
  /** @type {Map<string, string>} */
  const known = new Map();
  return text.replace(/([\w$]+)=require\("(node:\w+)"\)/g, (asked, name, builtin) => {
    if (known.has(builtin)) return `${name}=${known.get(builtin)}`;
    known.set(builtin, name);
    return asked;
  });
}

const results = await Promise.all([programs, commandLine, tools, server, hook, small].map((options) => build(options)));
const bundles = results
  .flatMap(({ outputFiles }) => outputFiles)
  .map(({ path, text }) => ({ path, text: /\/hook[\w-]*\.cjs$/.test(path) ? askOnce(text) : text }));
const notices = {
  path: `${root}THIRD_PARTY_NOTICES`,
  text: noticesOf(
    root,
    results.map(({ metafile }) => metafile),
    bundles.map(({ text }) => text),
  ),
};
const built = [...bundles, notices];

/** Chunk names contain a hash of their content, so chunks of an earlier build remain and have to be deleted. */
const left = readdirSync(`${root}dist`)
  .map((name) => `${root}dist/${name}`)
  .filter((path) => !built.some((file) => file.path === path));

if (process.argv.includes("--check")) {
  const stale = built.filter(({ path, text }) => !existsSync(path) || readFileSync(path, "utf8") !== text);
  for (const path of [...stale.map((file) => file.path), ...left]) {
    console.error(`${path.slice(root.length)} is out of date: run "npm run build" and commit it`);
  }
  process.exitCode = stale.length + left.length === 0 ? 0 : 1;
} else {
  for (const { path, text } of built) writeFileSync(path, text);
  for (const path of left) rmSync(path);
}

// Builds dist/ from src/: the entry points with all their dependencies bundled, so that an installed extension needs no npm install. Also
// writes THIRD_PARTY_NOTICES. `node tools/build.js --check` builds in memory and lists the files that are out of date.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { noticesOf } from "./notices.js";
import { packed } from "./packs.js";
import { pageOf, pageOptions } from "./page.js";

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
  entryPoints: { acp: "src/acp/main.ts", player: "src/player/main.ts" },
  format: "esm",
  banner: { js: "#!/usr/bin/env node" },
  plugins: [lateYaml],
};

/**
 * A verb imports its code when it is called (src/cli/verbs). Verbs that share most of their code share a chunk: one for each verb would be
 * ninety small files, and a verb would have to open twenty of them. A verb without a group gets its own chunk.
 * @type {Record<string, string[]>}
 */
const verbGroups = {
  check: ["check/agents", "check/doctor", "check/handoff", "check/install-policies", "check/validate", "setup/setup"],
  engine: [
    ...["run/dispatch", "run/rehearse", "run/resume", "run/run", "run/verify"],
    ...[
      "session/archive",
      "session/complete",
      "session/decisions",
      "session/reviews",
      "work/apply",
      "work/diff",
      "work/revert",
    ],
    // `validate` loads it only for a baseline.
    "../engine/baseline/plan-baseline",
  ],
  session: ["session/session", "session/state", "session/status"],
  show: ["run/watch", "work/logs", "work/report"],
};
/** @type {Plugin} */
const verbChunks = {
  name: "verb-chunks",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.\/[\w/.-]+\.ts$/ }, ({ kind, path, resolveDir }) => {
      if (kind !== "dynamic-import") return undefined;
      const file = relative(`${root}src/cli`, join(resolveDir, path)).replace(/\.ts$/, "");
      const group = Object.keys(verbGroups).find((name) => verbGroups[name]?.includes(file));
      return group === undefined ? undefined : { path: group, namespace: "verbs" };
    });
    onLoad({ filter: /./, namespace: "verbs" }, ({ path }) => ({
      contents: (verbGroups[path] ?? []).map((file) => `export * from "./${file}.ts";`).join("\n"),
      resolveDir: `${root}src/cli`,
    }));
  },
};

/**
 * commander loads node:child_process for commands that are programs of their own; Maestro has none.
 * @type {Plugin}
 */
const commanderAlone = {
  name: "commander-alone",
  setup({ onLoad }) {
    onLoad({ filter: /\/commander\/lib\/command\.js$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const asked = "const childProcess = require('node:child_process');";
      if (!source.includes(asked)) throw new Error(`${path} has changed: it does not load node:child_process`);
      return { contents: source.replace(asked, "const childProcess = undefined;") };
    });
  },
};

/** @type {Options} */
const commandLine = {
  ...programs,
  entryPoints: { maestro: "src/cli/start.ts" },
  splitting: true,
  chunkNames: "maestro-[name]-[hash]",
  plugins: [verbChunks, commanderAlone, ...(programs.plugins ?? [])],
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
 * The MCP server needs the tools only when one is called, so they are a separate file. The server itself is
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
    const filter = /^node:(crypto|os|child_process|util|url|vm)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: "late", sideEffects: false }));
    onLoad({ filter, namespace: "late" }, ({ path }) => {
      const builtin = createRequire(import.meta.url)(path);
      const functions = Object.keys(builtin).filter(
        (name) => typeof builtin[name] === "function" && !/^[A-Z]/.test(name),
      );
      const id = JSON.stringify(path.replace("node:", ""));
      const late = functions.map((name) => `export const ${name}=(...args)=>require(${id}).${name}(...args)`);
      const classes =
        path === "node:vm" ? ['export function Script(...args){return new(require("vm").Script)(...args)}'] : [];
      return { contents: [...late, ...classes].join(";") };
    });
  },
};

/**
 * A hook starts for every tool call and every request to the model, and V8 scans every function of a file before it runs the first line:
 * 100 kB cost a tenth of Node's start time. So large code that is seldom needed is in separate files beside hook.cjs.
 */
const parts = [
  "adopting",
  "delegation",
  "guard",
  "guard-setting",
  "make-checkpoint",
  "recording",
  "session-events",
  "status",
  "tool-call",
];
const WORK = "delegated-work";
/** @type {Plugin} */
const hookParts = {
  name: "hook-parts",
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^\\./(${[...parts, WORK].join("|")})\\.ts$`) }, ({ kind, path }) =>
      kind === "require-call" ? { path: `./hook-${path.slice(2, -3)}.cjs`, external: true } : undefined,
    );
  },
};

/** @type {Options} */
const hook = {
  ...common,
  entryPoints: {
    hook: "src/hooks/main.ts",
    "hook-keep-code": "src/disk/keep-code.ts",
    ...Object.fromEntries(parts.map((name) => [`hook-${name}`, `src/hooks/${name}.ts`])),
  },
  // With one byte per character V8 reads the file faster.
  charset: "ascii",
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  external: ["crypto", "os", "child_process", "util", "url", "vm"],
  // CommonJS has no import.meta.url; the file name serves the same purpose.
  define: { ...common.define, "import.meta.url": "__filename" },
  plugins: [hookParts, lateBuiltins, lateYaml],
};

/**
 * Runs git, which takes longer than loading any builtin.
 * @type {Options}
 */
const hookWork = {
  ...hook,
  entryPoints: { [`hook-${WORK}`]: `src/hooks/${WORK}.ts` },
  plugins: [hookParts, lateYaml],
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

/**
 * esbuild splits code into chunks only as ES modules, which Node 20 links in several asynchronous steps a file. As CommonJS the same chunks
 * load sooner. dist/package.json says that they are CommonJS. Builtins that most commands never use load at their first use.
 * @param {string} text
 */
async function asCommonJs(text) {
  const { code } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: common.target,
    minify: true,
    charset: "ascii",
    // import() becomes require() in a promise.
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "__moduleUrl" },
  });
  const url = 'const __moduleUrl=require("node:url").pathToFileURL(__filename).href;';
  const late = "const __late=(id)=>new Proxy({},{get:(_,name)=>require(id)[name]});";
  const deferred = code.replace(/=require\("(node:(?:child_process|crypto|readline|vm|zlib))"\)/g, '=__late("$1")');
  const head = (code.includes("__moduleUrl") ? url : "") + (deferred === code ? "" : late);
  return deferred.replace(/^(#!.*\n)?/, `$1${head}`);
}

/** The tools as the MCP server lists them: it answers from dist/mcp-list.json without loading the tools. */
async function listedTools() {
  const { outputFiles } = await build({
    ...common,
    stdin: { contents: 'export { listFor } from "./src/mcp/offered.ts";', resolveDir: root },
    format: "cjs",
    define: { ...common.define, "import.meta.url": JSON.stringify(import.meta.url) },
  });
  const made = { exports: /** @type {{ listFor: (caller: string) => object[] }} */ ({ listFor: () => [] }) };
  new Function("module", "exports", "require", outputFiles[0]?.text ?? "")(
    made,
    made.exports,
    createRequire(import.meta.url),
  );
  const { listFor } = made.exports;
  return JSON.stringify({ techlead: listFor("techlead"), attempts: listFor("attempts") });
}

const page = await build({ ...common, ...pageOptions });
const results = await Promise.all(
  [programs, commandLine, tools, server, hook, hookWork, small].map((options) => build(options)),
);
const separate = await Promise.all(
  results
    .flatMap(({ outputFiles }) => outputFiles)
    .map(async ({ path, text }) => {
      if (path.endsWith(".js")) return { path, text: await asCommonJs(text) };
      return { path, text: /\/hook[\w-]*\.cjs$/.test(path) ? askOnce(text) : text };
    }),
);
const isCommand = (/** @type {{ path: string }} */ { path }) => /\/maestro[\w-]*\.js$/.test(path);
const bundles = [
  ...separate.filter((file) => !isCommand(file)),
  ...packed(separate.filter(isCommand), {
    first: /^maestro-main-/,
    name: "maestro",
    common: 5,
    rare: /^maestro-(?:worker|workers|exchange|open-remote)-/,
  }),
];
/** The package itself is of ES modules. */
const kind = { path: `${root}dist/package.json`, text: '{ "type": "commonjs" }\n' };
const html = { path: `${root}dist/dashboard.html`, text: pageOf(root, page.outputFiles) };
const notices = {
  path: `${root}THIRD_PARTY_NOTICES`,
  text: noticesOf(
    root,
    [...results, page].map(({ metafile }) => metafile),
    [...bundles, html].map(({ text }) => text),
  ),
};
const list = { path: `${root}dist/mcp-list.json`, text: `${await listedTools()}\n` };
const built = [...bundles, kind, html, list, notices];

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

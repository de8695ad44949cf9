// Compares the built MCP server with one that uses the published SDK unpatched: size, and CPU time of a conversation that ends after the first answer.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, report } from "../measure.ts";
import { bundler } from "./rivals.ts";

const ROUNDS = 31;

/** The options of tools/build.js for the server, without its plugins for the SDK. */
async function plainServer(withShims: boolean): Promise<string> {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const { outputFiles } = await bundler().build({
    absWorkingDir: process.cwd(),
    entryPoints: ["src/mcp/main.ts"],
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    charset: "ascii",
    legalComments: "none",
    define: { MAESTRO_VERSION: JSON.stringify(version), "import.meta.url": "__moduleUrl" },
    banner: { js: 'const __moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
    supported: { "dynamic-import": false },
    external: ["./toolbox.ts"],
    ...(withShims ? { alias: { "@modelcontextprotocol/server/_shims": "./src/mcp/shims.ts" } } : {}),
    write: false,
  });
  return (outputFiles[0]?.text ?? "").replaceAll('"./toolbox.ts"', '"./mcp-tools.js"');
}

/** A conversation that ends right after the first answer. */
const conversation = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
});

/** CPU time of the whole process, printed by itself at its end; it depends little on other work on the machine. */
function processorTime(preload: string, program: string): number {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", preload, program], {
    input: `${conversation}\n`,
    encoding: "utf8",
  });
  if (status !== 0 || !stdout.includes('"id":1')) throw new Error(`${program}: ${stderr}`);
  return Number(/(\d+)$/.exec(stderr)?.[1]) / 1000;
}

export async function measureSdkPatches(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "maestro-bench-sdk-"));
  const preload = join(root, "tell.mjs");
  writeFileSync(
    preload,
    'import { writeSync } from "node:fs"; process.on("exit", () => { const { user, system } = process.cpuUsage(); writeSync(2, String(user + system)); });',
  );
  const empty = join(root, "empty.mjs");
  writeFileSync(empty, "process.stdout.write('\"id\":1')");
  const texts = {
    "as built": readFileSync("dist/mcp-server.js", "utf8"),
    "without its JSON Schema validator only": await plainServer(true),
    "as published": await plainServer(false),
  };
  const servers = Object.entries(texts).map(([name, text], at) => {
    const dist = join(root, String(at), "dist");
    cpSync("dist", dist, { recursive: true });
    writeFileSync(join(dist, "mcp-server.js"), text);
    return { name, text, program: join(dist, "mcp.js"), taken: [] as number[] };
  });
  for (let round = 0; round < ROUNDS; round++) {
    const bare = processorTime(preload, empty);
    for (const { program, taken } of servers) taken.push(processorTime(preload, program) - bare);
  }
  for (const { name, text, taken } of servers) {
    report(`SDK ${name}: bytes`, Buffer.byteLength(text) / 1000, "kB");
    report(`SDK ${name}: processor time above bare node (median)`, median(taken), "ms");
  }
  rmSync(root, { recursive: true });
}

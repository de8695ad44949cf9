// Loads the libraries that our own code is compared with. They are not dependencies: they are installed outside the repository.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cpu, median, report } from "../measure.ts";

const packages = "string-width@8.3.0 log-update@7.2.0 marked@18.2.0 mdast-util-from-markdown@2.1.0 dotenv@18.0.10";
const directory = process.env.MAESTRO_BENCH_RIVALS ?? "";

export const hasRivals = directory !== "";
export const howToInstall = `Libraries are not measured. To install and name them:
    mkdir -p /tmp/rivals && npm install --prefix /tmp/rivals ${packages}
    MAESTRO_BENCH_RIVALS=/tmp/rivals npm run bench choices`;

/** Imports a library by name; only when `hasRivals`. */
export async function rival<T>(name: string): Promise<T> {
  const bundle = await bundleOf(`export * from ${JSON.stringify(name)}; export * as all from ${JSON.stringify(name)};`);
  const folder = mkdtempSync(join(tmpdir(), "maestro-bench-rival-"));
  const file = join(folder, "rival.mjs");
  writeFileSync(file, bundle);
  try {
    return (await import(pathToFileURL(file).href)).all;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Bundler {
  build(options: object): Promise<{ outputFiles: { text: string; path: string }[] }>;
}

export function bundler(): Bundler {
  return createRequire(join(process.cwd(), "package.json"))("esbuild");
}

async function bundleOf(contents: string): Promise<string> {
  const { outputFiles } = await bundler().build({
    stdin: { contents, resolveDir: contents.includes("./src/") ? process.cwd() : directory, loader: "ts" },
    nodePaths: [join(process.cwd(), "node_modules")],
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

/** Code that makes a process print its own CPU time, which depends little on other work on the machine. */
const telling =
  ';import { writeSync as tell } from "node:fs"; const { user, system } = process.cpuUsage(); tell(1, String(user + system));';

/** Reports the bundle size, and the extra CPU time of a process that loads and calls the code. `programs`: module source texts by name. */
export async function reportLoading(programs: Record<string, string>, rounds = 31): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "maestro-bench-loading-"));
  const bare = { file: join(folder, "bare.mjs"), text: await bundleOf(telling) };
  const loaded = await Promise.all(
    Object.entries(programs).map(async ([name, program], at) => ({
      name,
      file: join(folder, `${at}.mjs`),
      text: await bundleOf(program + telling),
      taken: [] as number[],
    })),
  );
  for (const { file, text } of [bare, ...loaded]) writeFileSync(file, text);
  for (let round = 0; round < rounds; round++) {
    const least = processorTime(bare.file);
    for (const { file, taken } of loaded) taken.push(processorTime(file) - least);
  }
  for (const { name, text, taken } of loaded) {
    report(`${name}: bytes in a bundle`, (text.length - bare.text.length) / 1000, "kB");
    report(`${name}: processor time of loading it (median)`, median(taken), "ms");
  }
  rmSync(folder, { recursive: true });
}

function processorTime(file: string): number {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  return Number(stdout) / 1000;
}

/** Reports the median milliseconds of alternative implementations, in interleaved rounds; `measure` is CPU time unless one starts processes. */
export function reportRounds(ways: Record<string, () => unknown>, rounds: number, measure = cpu): void {
  const times = Object.entries(ways).map(([name, work]) => ({ name, work, taken: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { work, taken } of times) taken.push(measure(() => void work()));
  }
  for (const { name, taken } of times) {
    report(`${name} (median)`, median(taken), "ms");
    // On a busy machine the best round is more meaningful, because it did not wait for a CPU.
    if (measure !== cpu) report(`${name} (best)`, Math.min(...taken), "ms");
  }
}

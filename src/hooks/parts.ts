// Loads the parts of the hook that lie beside hook.cjs (tools/build.js), with the code that an earlier hook has compiled of them: compiling the
// whole judge takes half as long as starting Node.

import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { cacheDirectory } from "../disk/cache-directory.ts";
import { compileKept, type Missing } from "../disk/compiled-code.ts";

type Ask = (id: string) => unknown;
type Run = (exports: object, ask: Ask, module: { exports: object }, filename: string, directory: string) => void;

const loaded = new Map<string, object>();
const missing: Missing[] = [];
let kept: { directory: string | undefined } | undefined;

/** The part in `hook-<name>.cjs`; `directory` and `ask` are those of the program. */
export function loadPart(name: string, directory: string, ask: Ask): object {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  kept ??= { directory: keptIn(directory) };
  if (kept.directory === undefined) return ask(`./hook-${name}.cjs`) as object;
  const filename = `${directory}/hook-${name}.cjs`;
  const body = `(function(exports,require,module,__filename,__dirname){${readFileSync(filename, "utf8")}\n})`;
  const run = compileKept(body, filename, kept.directory, missing).runInThisContext() as Run;
  const module = { exports: {} };
  run(module.exports, (id) => askFor(id, directory, ask), module, filename, directory);
  loaded.set(name, module.exports);
  return module.exports;
}

/** A part may ask for other parts. */
function askFor(id: string, directory: string, ask: Ask): unknown {
  return id.startsWith("./hook-") ? loadPart(id.slice("./hook-".length, -".cjs".length), directory, ask) : ask(id);
}

/** Undefined where no code may be kept; coverage counts what is compiled. */
function keptIn(directory: string): string | undefined {
  if (process.env.NODE_DISABLE_COMPILE_CACHE !== undefined || process.env.NODE_V8_COVERAGE !== undefined)
    return undefined;
  try {
    return cacheDirectory(`${dirname(directory)}/`);
  } catch {
    // An installation that cannot be written is usual, and not worth a line.
    return undefined;
  }
}

/** Keeps the compiled code of the parts that no earlier hook has loaded. Called when the hook has answered. */
export function keepParts(directory: string, ask: Ask): void {
  if (missing.length === 0 || kept?.directory === undefined) return;
  const { keepMissing } = ask("./hook-keep-code.cjs") as typeof import("../disk/keep-code.ts");
  keepMissing(missing, kept.directory, directory);
}

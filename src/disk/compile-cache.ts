// Turns on a compile cache for the program that calls it: Node's own from 22.8 on, ours before. Must never throw, and must run before the large modules load.

import nodeModule, { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDirectory } from "./cache-directory.ts";
import { compileKept, type Missing } from "./compiled-code.ts";
import { keepMissing } from "./keep-code.ts";

/** By then a server, which a signal ends later, has compiled what a start needs. */
const SAVE_AFTER_MS = 3000;

/** From Node 22.8 and 22.10 on. */
interface NodeCache {
  enableCompileCache?: (directory: string) => unknown;
  flushCompileCache?: () => void;
}

/** NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE are honoured by Node itself. */
export function useCompileCache(program: string): void {
  const { enableCompileCache, flushCompileCache } = nodeModule as NodeCache;
  // Coverage counts what is compiled.
  const { NODE_DISABLE_COMPILE_CACHE: isOff, NODE_V8_COVERAGE: coverage } = process.env;
  if (enableCompileCache === undefined && (isOff !== undefined || coverage !== undefined)) return;
  try {
    const directory = cacheDirectory(fileURLToPath(new URL("..", program)));
    if (directory === undefined) return;
    if (enableCompileCache === undefined) keepCompiledCode(directory, fileURLToPath(program));
    else enableCompileCache(directory);
    // Node writes it when the process ends by itself, which a server does not.
    if (flushCompileCache !== undefined) setTimeout(flushCompileCache, SAVE_AFTER_MS).unref();
  } catch {
    // The program runs without a cache too: an installation that cannot be written is usual, and not worth a line.
  }
}

type Compile = (this: NodeModule, content: string, path: string) => unknown;

/** Compiles the files beside `program` with what is kept of them in `directory`, and keeps what is missing when the process ends. */
function keepCompiledCode(directory: string, program: string): void {
  const { prototype } = nodeModule as unknown as { prototype: { _compile?: Compile } };
  const compile = prototype._compile;
  if (compile === undefined) return;
  const programs = dirname(program);
  const missing: Missing[] = [];
  prototype._compile = function (content, path) {
    if (dirname(path) !== programs) return compile.call(this, content, path);
    // In a function, "#!" is not a comment.
    const body = nodeModule.wrap(content.startsWith("#!") ? `//${content}` : content);
    const run = compileKept(body, path, directory, missing).runInThisContext() as (...words: unknown[]) => unknown;
    return run.call(this.exports, this.exports, createRequire(path), this, path, programs);
  };
  const save = () => keepMissing(missing, directory, programs);
  process.once("exit", save);
  setTimeout(save, SAVE_AFTER_MS).unref();
}

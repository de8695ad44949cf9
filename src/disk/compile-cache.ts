// Turns on a compile cache for the program that calls it: Node's own from 22.8 on, ours before. Must never throw, and must run before the large modules load.

import { lstatSync, mkdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";
import { keepCompiledCode, SAVE_AFTER_MS } from "./compiled-code.ts";

/** From Node 22.8 and 22.10 on. */
interface NodeCache {
  enableCompileCache?: (directory: string) => unknown;
  flushCompileCache?: () => void;
}

/**
 * Cached code is run as it is, so the cache has the protection of the code itself: it lies in the installation, which the guard keeps agents
 * away from, and no environment variable moves it. NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE are honoured by Node itself.
 */
export function useCompileCache(program: string): void {
  const { enableCompileCache, flushCompileCache } = nodeModule as NodeCache;
  // Coverage counts what is compiled.
  const { NODE_DISABLE_COMPILE_CACHE: isOff, NODE_V8_COVERAGE: coverage } = process.env;
  if (enableCompileCache === undefined && (isOff !== undefined || coverage !== undefined)) return;
  try {
    const installation = fileURLToPath(new URL("..", program));
    const cwd = `${process.cwd()}/`;
    // An agent may write to the project, so an installation in the project, or one that is the project, gets no cache.
    if (installation.startsWith(cwd) || cwd.startsWith(installation)) return;
    const directory = `${installation}.compile-cache`;
    mkdirSync(directory, { mode: 0o700, recursive: true });
    if (!isClosed(directory)) return;
    if (enableCompileCache === undefined) keepCompiledCode(directory, fileURLToPath(program));
    else enableCompileCache(directory);
    // Node writes it when the process ends by itself, which a server does not.
    if (flushCompileCache !== undefined) setTimeout(flushCompileCache, SAVE_AFTER_MS).unref();
  } catch {
    // The program runs without a cache too: an installation that cannot be written is usual, and not worth a line.
  }
}

/** A directory of the user who runs this process, closed to all others; never a link. Windows does not tell, so there is no cache there. */
function isClosed(path: string): boolean {
  const { uid, mode } = lstatSync(path);
  return uid === process.geteuid?.() && (mode & 0o077) === 0;
}

// Reads the prices used to compute costs: the built-in ones, overridden by the user's own.

import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { resolveInside } from "../../disk/contained.ts";
import { MaestroError, reasonOf } from "../../errors.ts";
import { staysInside } from "../../setting-layers.ts";
import { listPrices, type Prices, parsePrices } from "../../views/report/prices.ts";

const MAX_BYTES = 1024 * 1024;

/** `file` is MAESTRO_PRICES; empty when the user has no own prices. A link inside the project may not lead out of it. */
export function readPrices(projectRoot: string, file: string): Prices {
  if (file === "") return listPrices;
  const path = staysInside(file) ? join(projectRoot, ...resolveInside(projectRoot, file)) : resolve(projectRoot, file);
  const prices = parsePrices(readJson(path));
  if ("error" in prices) throw new MaestroError("config", `MAESTRO_PRICES (${file}): ${prices.error}`);
  return prices;
}

function readJson(path: string): unknown {
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > MAX_BYTES)
      throw unreadable(path, `not a file, or larger than ${MAX_BYTES} bytes`);
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // The parser's own message would quote the content of the file, which may be any file.
    throw error instanceof SyntaxError ? unreadable(path, "not JSON") : unreadable(path, reasonOf(error));
  }
}

function unreadable(path: string, why: string): MaestroError {
  return new MaestroError("config", `Cannot read the prices in ${path}: ${why}`);
}

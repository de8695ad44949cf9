// The prices that costs are computed with: the built-in ones, and the user's own over them.

import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { resolveInside } from "../../disk/contained.ts";
import { MaestroError, reasonOf } from "../../errors.ts";
import { staysInside } from "../../setting-layers.ts";
import { listPrices, type Prices, parsePrices } from "../../views/report/prices.ts";

const MAX_BYTES = 1024 * 1024;

/** `file` is MAESTRO_PRICES; empty: there are none of the user's own. No link in the project may lead out of it. */
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
    if (!stat.isFile() || stat.size > MAX_BYTES) throw unreadable(path, "not a file of ordinary size");
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // The parser's own words would show what is in the file, whatever file it is.
    throw error instanceof SyntaxError ? unreadable(path, "not JSON") : unreadable(path, reasonOf(error));
  }
}

function unreadable(path: string, why: string): MaestroError {
  return new MaestroError("config", `Cannot read the prices in ${path}: ${why}`);
}

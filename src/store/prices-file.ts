// The prices that costs are computed with: the built-in ones, and the user's own over them.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { MaestroError, reasonOf } from "../errors.ts";
import { listPrices, type Prices, parsePrices } from "../views/prices.ts";

/** `file` is MAESTRO_PRICES; empty: there are none of the user's own. */
export function readPrices(projectRoot: string, file: string): Prices {
  if (file === "") return listPrices;
  const prices = parsePrices(readJson(resolve(projectRoot, file)));
  if ("error" in prices) throw new MaestroError("config", `MAESTRO_PRICES (${file}): ${prices.error}`);
  return prices;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new MaestroError("config", `Cannot read the prices in ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

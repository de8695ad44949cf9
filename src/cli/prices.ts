// Reads the model prices that the settings name, from which costs are computed.

import type { ResolvedSettings } from "../settings.ts";
import { readPrices } from "../store/files/prices-file.ts";
import type { Prices } from "../views/report/prices.ts";
import type { Io } from "./io.ts";

export function pricesOf(io: Io, { values }: ResolvedSettings): Prices {
  return readPrices(io.cwd, values.MAESTRO_PRICES);
}

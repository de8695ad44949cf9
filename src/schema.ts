// Schemas for data from outside. They use zod's functional API (zod/mini), so only the functions in use are bundled: a third of zod.

import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

z.config(en());

export * from "zod/mini";

/** Builds the schema on first use and caches it: building all schemas takes longer than a short command. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

// Schemas of what comes from outside: zod in its form of functions instead of methods, of which only what is used is read. That is a third of it.

import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

z.config(en());

export * from "zod/mini";

/** Made when it is asked for, and kept: all schemas together take longer than a short command. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

// dist/maestro.js: turns on the compile cache, then loads the command line. Static imports would be compiled before the cache is on.

import { useCompileCache } from "../disk/compile-cache.ts";

useCompileCache(import.meta.url);
void import("./main.ts");

#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{x as a,y as b}from"./mcp-chunk-APXQWTCQ.js";import"./mcp-chunk-35FK4DWN.js";export{b as excluded,a as openProject};

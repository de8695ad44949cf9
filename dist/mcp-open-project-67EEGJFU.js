#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{y as a,z as b}from"./mcp-chunk-PIG3LJVC.js";import"./mcp-chunk-DEGFHHRT.js";export{b as excluded,a as openProject};

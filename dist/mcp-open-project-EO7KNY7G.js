#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{y as a,z as b}from"./mcp-chunk-JATW7TCE.js";import"./mcp-chunk-EDGBYK5V.js";export{b as excluded,a as openProject};

#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{y as a,z as b}from"./mcp-chunk-HDLXN6XO.js";import"./mcp-chunk-KIZCXT7T.js";export{b as excluded,a as openProject};

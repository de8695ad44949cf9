#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import"./maestro-chunk-AYBAA2VS.js";import{lstatSync as c,mkdirSync as s}from"node:fs";import*as a from"node:module";import{fileURLToPath as m}from"node:url";function n(t){let{enableCompileCache:o}=a;if(o!==void 0)try{let e=m(new URL("..",t)),r=`${process.cwd()}/`;if(e.startsWith(r)||r.startsWith(e))return;let i=`${e}.compile-cache`;s(i,{mode:448,recursive:!0}),d(i)&&o(i)}catch{}}function d(t){let{uid:o,mode:e}=c(t);return o===process.geteuid?.()&&(e&63)===0}n(import.meta.url);await import("./maestro-main-QH5JR255.js");

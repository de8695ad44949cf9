#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{j as o}from"./maestro-chunk-DGYFOHN6.js";import{dirname as i,join as s,resolve as a}from"node:path";import{fileURLToPath as d}from"node:url";var l=a(i(d(import.meta.url)),"..");function f(n){return s(n[o]?.trim()||l,"agents")}import{existsSync as g}from"node:fs";var p="progress.jsonl",v="active-session.md",y="delegations";function E(n){return g(`${n}/state/${p}`)}function I(n,e){let r=t=>`\\u00${t.charCodeAt(0).toString(16)}`;n.out(`${JSON.stringify(e,null,2).replace(/[\u007f-\u009f]/g,r)}
`)}export{l as a,f as b,p as c,v as d,y as e,E as f,I as g};

#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{j as e,y as r}from"./maestro-chunk-7DH5GYMB.js";import{dirname as i,join as t,resolve as s}from"node:path";import{fileURLToPath as a}from"node:url";var d=s(i(a(import.meta.url)),"..");function u(n){return t(n[e]?.trim()||d,"agents")}import{existsSync as l}from"node:fs";var g="progress.jsonl",x="active-session.md",y="delegations";function S(n){return l(`${n}/state/${g}`)}function I(n,o){n.out(`${r(JSON.stringify(o,null,2))}
`)}function R(n,o){n.out(`${r(JSON.stringify(o))}
`)}export{d as a,u as b,g as c,x as d,y as e,S as f,I as g,R as h};

#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{mkdirSync as w,readFileSync as h,writeFileSync as A}from"node:fs";import{dirname as k}from"node:path";var P=/(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]?/g,$=/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;function d(e){return e.replace(P,"").replace(/\r\n?/g,`
`).replace($,"")}var E=new RegExp("\\p{Default_Ignorable_Code_Point}|[\\u2028\\u2029\\ufff9-\\ufffb]|\\p{Noncharacter_Code_Point}","gu"),R=new RegExp("\\p{Extended_Pictographic}[\\u{1f3fb}-\\u{1f3ff}\\ufe0f]?\\u200d(?=\\p{Extended_Pictographic})","gu");var x=new RegExp("[\\u007f-\\u009f]|\\p{Default_Ignorable_Code_Point}|[\\u2028\\u2029\\ufff9-\\ufffb]|\\p{Noncharacter_Code_Point}","gu");function g(e){let t=e.fail?S(e):y(e),s=f(e.estimate?.input_tokens)??p(e.promptBytes),n=f(e.estimate?.output_tokens)??p(t.length),i={models:{rehearsal:{tokens:{input:s,prompt:s,candidates:n,total:s+n,cached:0,thoughts:0,tool:0}}}};return JSON.stringify({session_id:`rehearsal-${e.phase.id}`,response:t,stats:i},null,2)}function y({agent:e,phase:t}){return`## Task Report
- Status: success
- Objective Achieved: ${u(t.title)}
${a("Files Created",t.files_created)}
${a("Files Modified",t.files_modified)}
${a("Files Deleted",t.files_deleted)}
- Validation: pass
- Summary: Rehearsed by ${e}: ${u(t.title)}

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: the files of phase ${t.id}
- Assumptions: none
- Warnings: this was a rehearsal, no model was called
`}function S({agent:e,phase:t}){return`## Task Report
- Status: failure
- Objective Achieved: no
- Files Created: none
- Files Modified: none
- Files Deleted: none
- Validation: fail
- Summary: Rehearsed failure of ${e} in "${u(t.title)}": 1 of 12 checks does not pass (expected 201, received 500)

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: this was a rehearsal, nothing is wrong
`}function u(e){return d(e).replace(/[^\p{L}\p{N} .,:;'()/+&-]+/gu," ").replace(/\s+/g," ").trim().slice(0,120).trim()||"untitled"}function a(e,t){let s=t.filter(n=>!/[*?{}]|\/$/.test(n));return s.length===0?`- ${e}: none`:[`- ${e}:`,...s.map(n=>`  - ${n.includes("`")?`"${n}"`:`\`${n}\``}`)].join(`
`)}function f(e){return e===void 0||!(e>=0)?void 0:Math.round(e)}function p(e){return Math.ceil(e/4)}var[v,b=""]=process.argv.slice(2),{MAESTRO_PHASE:_="",MAESTRO_ATTEMPT:C="1"}=process.env,o=JSON.parse(h(b,"utf8")),r=o.phases.find(e=>e.id===_);if(r===void 0)throw new Error(`no phase ${_} in ${b}`);var c=C==="1"&&o.failing?.phase===r.id?o.failing.where:null;if(v==="validation")await m(o.validation_ms),console.log(c==="validation"?"1 of 12 checks failed (simulated, to show a retry)":"ok (simulated)"),process.exitCode=c==="validation"?1:0;else{let e=h(0).length,t=[...r.files_created,...r.files_modified].filter(i=>!/[*?{}]|\/$/.test(i)),s=["reading the task",...t.map(i=>`writing ${i}`),"checking the result"];for(let i of s)console.error(i),await m(r.ms/s.length);for(let i of t)w(k(i),{recursive:!0}),A(i,`rehearsed by ${r.agent}
`,{flag:"a"});let{agent:n,estimate:l}=r;console.log(g({agent:n,phase:r,promptBytes:e,estimate:l,fail:c==="report"}))}function m(e){return new Promise(t=>setTimeout(t,e))}

#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{mkdirSync as _,readFileSync as h,writeFileSync as k}from"node:fs";import{dirname as v}from"node:path";var y=/(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]?/g,w=/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;function d(e){return e.replace(y,"").replace(/\r\n?/g,`
`).replace(w,"")}function m(e){let t=e.fail?S(e):P(e),i=f(e.estimate?.input_tokens)??p(e.promptBytes),n=f(e.estimate?.output_tokens)??p(t.length),s={models:{rehearsal:{tokens:{input:i,prompt:i,candidates:n,total:i+n,cached:0,thoughts:0,tool:0}}}};return JSON.stringify({session_id:`rehearsal-${e.phase.id}`,response:t,stats:s},null,2)}function P({agent:e,phase:t}){return`## Task Report
- Status: success
- Objective Achieved: ${l(t.title)}
${a("Files Created",t.files_created)}
${a("Files Modified",t.files_modified)}
${a("Files Deleted",t.files_deleted)}
- Validation: pass
- Summary: Rehearsed by ${e}: ${l(t.title)}

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
- Summary: Rehearsed failure of ${e} in "${l(t.title)}": 1 of 12 checks does not pass (expected 201, received 500)

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: this was a rehearsal, nothing is wrong
`}function l(e){return d(e).replace(/[^\p{L}\p{N} .,:;'()/+&-]+/gu," ").replace(/\s+/g," ").trim().slice(0,120).trim()||"untitled"}function a(e,t){let i=t.filter(n=>!/[*?{}]|\/$/.test(n));return i.length===0?`- ${e}: none`:[`- ${e}:`,...i.map(n=>`  - ${n.includes("`")?`"${n}"`:`\`${n}\``}`)].join(`
`)}function f(e){return e===void 0||!(e>=0)?void 0:Math.round(e)}function p(e){return Math.ceil(e/4)}var[A,$=""]=process.argv.slice(2),{MAESTRO_PHASE:b="",MAESTRO_ATTEMPT:R="1"}=process.env,o=JSON.parse(h($,"utf8")),r=o.phases.find(e=>e.id===b);if(r===void 0)throw new Error(`no phase ${b} in ${$}`);var c=R==="1"&&o.failing?.phase===r.id?o.failing.where:null;if(A==="validation")await g(o.validation_ms),console.log(c==="validation"?"1 of 12 checks does not pass (played, so that you see a retry)":"ok (played)"),process.exitCode=c==="validation"?1:0;else{let e=h(0).length,t=[...r.files_created,...r.files_modified].filter(s=>!/[*?{}]|\/$/.test(s)),i=["reading the task",...t.map(s=>`writing ${s}`),"checking the result"];for(let s of i)console.error(s),await g(r.ms/i.length);for(let s of t)_(v(s),{recursive:!0}),k(s,`rehearsed by ${r.agent}
`,{flag:"a"});let{agent:n,estimate:u}=r;console.log(m({agent:n,phase:r,promptBytes:e,estimate:u,fail:c==="report"}))}function g(e){return new Promise(t=>setTimeout(t,e))}

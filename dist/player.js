#!/usr/bin/env node
var s=require("node:fs"),$=require("node:path"),_=/(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]?/g,w=/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;function b(e){return e.replace(_,"").replace(/\r\n?/g,`
`).replace(w,"")}var F=String.raw`\p{Default_Ignorable_Code_Point}|[\u2028\u2029\ufff9-\ufffb]|\p{Noncharacter_Code_Point}`,C=String.raw`\p{Extended_Pictographic}`;function y(e){let t=e.fail?k(e):S(e),i=f(e.estimate?.input_tokens)??p(e.promptBytes),n=f(e.estimate?.output_tokens)??p(t.length),o={models:{rehearsal:{tokens:{input:i,prompt:i,candidates:n,total:i+n,cached:0,thoughts:0,tool:0}}}};return JSON.stringify({session_id:`rehearsal-${e.phase.id}`,response:t,stats:o},null,2)}function S({agent:e,phase:t}){return`## Task Report
- Status: success
- Objective Achieved: ${l(t.title)}
${u("Files Created",t.files_created)}
${u("Files Modified",t.files_modified)}
${u("Files Deleted",t.files_deleted)}
- Validation: pass
- Summary: Rehearsed by ${e}: ${l(t.title)}

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: the files of phase ${t.id}
- Assumptions: none
- Warnings: this was a rehearsal, no model was called
`}function k({agent:e,phase:t}){return`## Task Report
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
`}function l(e){return b(e).replace(/[^\p{L}\p{N} .,:;'()/+&-]+/gu," ").replace(/\s+/g," ").trim().slice(0,120).trim()||"untitled"}function u(e,t){let i=t.filter(n=>!/[*?{}]|\/$/.test(n));return i.length===0?`- ${e}: none`:[`- ${e}:`,...i.map(n=>`  - ${n.includes("`")?`"${n}"`:`\`${n}\``}`)].join(`
`)}function f(e){return e===void 0||!(e>=0)?void 0:Math.round(e)}function p(e){return Math.ceil(e/4)}var[P,h=""]=process.argv.slice(2),{MAESTRO_PHASE:g="",MAESTRO_ATTEMPT:A="1"}=process.env,r=JSON.parse((0,s.readFileSync)(h,"utf8")),d=r.phases.find(e=>e.id===g);if(d===void 0)throw new Error(`no phase ${g} in ${h}`);var c=A==="1"&&r.failing?.phase===d.id?r.failing.where:null;E(d);async function E(e){if(P==="validation")await m(r.validation_ms),console.log(c==="validation"?"1 of 12 checks failed (simulated, to show a retry)":"ok (simulated)"),process.exitCode=c==="validation"?1:0;else{let t=(0,s.readFileSync)(0).length,i=[...e.files_created,...e.files_modified].filter(a=>!/[*?{}]|\/$/.test(a)),n=["reading the task",...i.map(a=>`writing ${a}`),"checking the result"];for(let a of n)console.error(a),await m(e.ms/n.length);for(let a of i)(0,s.mkdirSync)((0,$.dirname)(a),{recursive:!0}),(0,s.writeFileSync)(a,`rehearsed by ${e.agent}
`,{flag:"a"});let{agent:o,estimate:v}=e;console.log(y({agent:o,phase:e,promptBytes:t,estimate:v,fail:c==="report"}))}}function m(e){return new Promise(t=>setTimeout(t,e))}

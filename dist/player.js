#!/usr/bin/env node
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);
import{mkdirSync,readFileSync,writeFileSync}from"node:fs";import{dirname}from"node:path";var escapeSequences=/(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]?/g,controls=/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;function stripControls(text){return text.replace(escapeSequences,"").replace(/\r\n?/g,`
`).replace(controls,"")}function rehearsedAnswer(rehearsal){let response=rehearsal.fail?failure(rehearsal):success(rehearsal),prompt=tokens(rehearsal.estimate?.input_tokens)??tokensOf(rehearsal.promptBytes),candidates=tokens(rehearsal.estimate?.output_tokens)??tokensOf(response.length),stats={models:{rehearsal:{tokens:{input:prompt,prompt,candidates,total:prompt+candidates,cached:0,thoughts:0,tool:0}}}};return JSON.stringify({session_id:`rehearsal-${rehearsal.phase.id}`,response,stats},null,2)}function success({agent,phase:phase2}){return`## Task Report
- Status: success
- Objective Achieved: ${titleOf(phase2.title)}
${fileLines("Files Created",phase2.files_created)}
${fileLines("Files Modified",phase2.files_modified)}
${fileLines("Files Deleted",phase2.files_deleted)}
- Validation: pass
- Summary: Rehearsed by ${agent}: ${titleOf(phase2.title)}

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: the files of phase ${phase2.id}
- Assumptions: none
- Warnings: this was a rehearsal, no model was called
`}function failure({agent,phase:phase2}){return`## Task Report
- Status: failure
- Objective Achieved: no
- Files Created: none
- Files Modified: none
- Files Deleted: none
- Validation: fail
- Summary: Rehearsed failure of ${agent} in "${titleOf(phase2.title)}": 1 of 12 checks does not pass (expected 201, received 500)

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: this was a rehearsal, nothing is wrong
`}function titleOf(title){return stripControls(title).replace(/[^\p{L}\p{N} .,:;'()/+&-]+/gu," ").replace(/\s+/g," ").trim().slice(0,120).trim()||"untitled"}function fileLines(name,declared){let paths=declared.filter(path=>!/[*?{}]|\/$/.test(path));return paths.length===0?`- ${name}: none`:[`- ${name}:`,...paths.map(path=>`  - ${path.includes("`")?`"${path}"`:`\`${path}\``}`)].join(`
`)}function tokens(estimate){return estimate===void 0||!(estimate>=0)?void 0:Math.round(estimate)}function tokensOf(bytes){return Math.ceil(bytes/4)}var[part,scriptFile=""]=process.argv.slice(2),{MAESTRO_PHASE="",MAESTRO_ATTEMPT="1"}=process.env,script=JSON.parse(readFileSync(scriptFile,"utf8")),phase=script.phases.find(one=>one.id===MAESTRO_PHASE);if(phase===void 0)throw new Error(`no phase ${MAESTRO_PHASE} in ${scriptFile}`);var fails=MAESTRO_ATTEMPT==="1"&&script.failing.phase===phase.id?script.failing.where:null;if(part==="validation")await pause(script.validation_ms),console.log(fails==="validation"?"1 of 12 checks does not pass (played, so that you see a retry)":"ok (played)"),process.exitCode=fails==="validation"?1:0;else{let promptBytes=readFileSync(0).length,files=[...phase.files_created,...phase.files_modified].filter(path=>!/[*?{}]|\/$/.test(path)),steps=["reading the task",...files.map(path=>`writing ${path}`),"checking the result"];for(let step of steps)console.error(step),await pause(phase.ms/steps.length);for(let path of files)mkdirSync(dirname(path),{recursive:!0}),writeFileSync(path,`rehearsed by ${phase.agent}
`,{flag:"a"});let{agent,estimate}=phase;console.log(rehearsedAnswer({agent,phase,promptBytes,estimate,fail:fails==="report"}))}function pause(milliseconds){return new Promise(resolve=>setTimeout(resolve,milliseconds))}

// Simulates an agent or a validation command in a rehearsal: takes some time, prints progress, writes the files that the plan declares
// (into the temporary copy it was started in), and answers like an agent. No model, no cost.
// argv: "agent" or "validation", and the script file. MAESTRO_PHASE and MAESTRO_ATTEMPT select the entry of the script.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { rehearsedAnswer } from "../runtimes/rehearsal/answer.ts";
import type { Script } from "../runtimes/rehearsal/script.ts";

const [part, scriptFile = ""] = process.argv.slice(2);
const { MAESTRO_PHASE = "", MAESTRO_ATTEMPT = "1" } = process.env;
const script: Script = JSON.parse(readFileSync(scriptFile, "utf8"));
const phase = script.phases.find((one) => one.id === MAESTRO_PHASE);
if (phase === undefined) throw new Error(`no phase ${MAESTRO_PHASE} in ${scriptFile}`);
const fails = MAESTRO_ATTEMPT === "1" && script.failing?.phase === phase.id ? script.failing.where : null;

void play(phase);

async function play(phase: Script["phases"][number]): Promise<void> {
  if (part === "validation") {
    await pause(script.validation_ms);
    console.log(fails === "validation" ? "1 of 12 checks failed (simulated, to show a retry)" : "ok (simulated)");
    process.exitCode = fails === "validation" ? 1 : 0;
  } else {
    const promptBytes = readFileSync(0).length;
    const files = [...phase.files_created, ...phase.files_modified].filter((path) => !/[*?{}]|\/$/.test(path));
    const steps = ["reading the task", ...files.map((path) => `writing ${path}`), "checking the result"];
    for (const step of steps) {
      console.error(step);
      await pause(phase.ms / steps.length);
    }
    for (const path of files) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `rehearsed by ${phase.agent}\n`, { flag: "a" });
    }
    const { agent, estimate } = phase;
    console.log(rehearsedAnswer({ agent, phase, promptBytes, estimate, fail: fails === "report" }));
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

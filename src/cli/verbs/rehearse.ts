// maestro rehearse: runs a plan with agents that are played, not called.

import { budget, json, maxConcurrent } from "../options.ts";
import type { Verb } from "../verb.ts";

export const rehearse: Verb = {
  usage: "rehearse <plan>",
  summary: "rehearse a plan without a model: order, prompts, forecast",
  options: [
    { flags: "--mode <mode>", meaning: "execution mode", choices: ["parallel", "sequential"] },
    maxConcurrent,
    { flags: "--model <model>", meaning: "model to forecast the cost with" },
    budget,
    { flags: "--seconds <n>", meaning: "seconds that the longest chain of phases takes on screen", default: "8" },
    { flags: "--html [file]", meaning: "write the rehearsal as one HTML file (default: in a new temporary directory)" },
    json,
  ],
  examples: [
    "maestro rehearse plan.md",
    "maestro rehearse plan.md --html",
    "maestro rehearse plan.md --model gemini-2.5-pro --json",
  ],
  run: async () => (await import("../run/rehearse.ts")).rehearse,
};

// maestro doctor: checks the installation and repairs what can be repaired.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const doctor: Verb = {
  usage: "doctor",
  summary: "check this machine, the extension, the settings and the session",
  options: [
    json,
    {
      flags: "--fix",
      meaning:
        "move broken session files aside, rebuild the session from what can be read, and remove what dead runs left behind",
    },
  ],
  examples: ["maestro doctor", "maestro doctor --fix"],
  isDecision: ({ fix }) => fix === true,
  run: async (all) => {
    const { doctor } = await import("../check/doctor.ts");
    return (io, options) => doctor(io, options, all());
  },
};

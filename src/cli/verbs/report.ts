// maestro report: prints the final summary of a session.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const report: Verb = {
  usage: "report [session]",
  summary: "show a session's results, duration and cost (default: the active or the latest session)",
  options: [
    json,
    {
      flags: "--html [file]",
      meaning: "write the report as one HTML file: timeline, graph, evidence, replay; it needs no network",
    },
  ],
  examples: ["maestro report", "maestro report 2026-02-14-task-api --json", "maestro report --html report.html"],
  run: async () => (await import("../work/report.ts")).report,
};

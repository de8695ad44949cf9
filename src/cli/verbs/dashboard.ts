// maestro dashboard: serves a page of the project's sessions on this machine.

import type { Verb } from "../verb.ts";

export const dashboard: Verb = {
  usage: "dashboard",
  summary: "serve a page of the project's sessions on 127.0.0.1",
  options: [
    { flags: "--port <n>", meaning: "port to listen on; 0: any free one", default: "0" },
    { flags: "--open", meaning: "open the page in the browser; it asks for the code" },
    { flags: "--control", meaning: "let the page change the run: retry, skip, approve, reject, reopen, stop, abort" },
    { flags: "--idle <time>", meaning: "stop when no page was open for this long", default: "30m" },
    { flags: "--json", meaning: "print {url, port, pid} on one line" },
    { flags: "--with-parent", meaning: "stop when standard input is closed", isHidden: true },
  ],
  examples: ["maestro dashboard", "maestro dashboard --control --open", "maestro dashboard --port 8123 --idle 2h"],
  run: async () => (await import("../run/dashboard.ts")).dashboard,
};

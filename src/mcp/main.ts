// The process of the MCP server: standard input and output, signals and exit. The only file in this folder that uses `process` for them.

import { readFileSync } from "node:fs";
import { signalCodes } from "../exit-codes.ts";
import { attemptIn } from "./attempt-identity.ts";
import type { Caller, Listed } from "./offered.ts";
import { serve } from "./server.ts";
import type { Toolbox } from "./toolbox.ts";
import { withoutEmpty } from "./wire/environment.ts";
import { LineTransport } from "./wire/transport.ts";

declare const MAESTRO_VERSION: string;

const env = withoutEmpty(process.env);
const lists = JSON.parse(readFileSync(new URL("mcp-list.json", import.meta.url), "utf8")) as Record<Caller, Listed[]>;
let made: Promise<Toolbox> | undefined;
let toolbox: Toolbox | undefined;

async function makeToolbox(): Promise<Toolbox> {
  // A separate bundle, so that a conversation that calls no tool does not load their code.
  const module = await import("./toolbox.ts");
  toolbox = new module.Toolbox({ cwd: () => process.cwd(), env, now: () => new Date(), complain });
  return toolbox;
}

/** Writes one line per unexpected error to standard error, which the client shows to the user. */
function complain(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: "error", message, stack })}\n`);
}

process.on("exit", () => toolbox?.close());
for (const [signal, code] of Object.entries(signalCodes)) process.once(signal, () => process.exit(code));
process.on("uncaughtException", complain);
// Without standard error, nothing can be reported any more.
process.stderr.on("error", () => process.exit(1));

const transport = new LineTransport(process.stdin, process.stdout);
transport.onclose = () => process.exit();
transport.oninputend = () => toolbox?.interrupt();
void serve(transport, {
  version: MAESTRO_VERSION,
  tools: lists[attemptIn(env) === null ? "techlead" : "attempts"],
  toolbox: () => {
    made ??= makeToolbox();
    return made;
  },
  complain,
});

// The MCP server as a process: standard input and output, signals, the way out. The only file here that knows it.

import { signalCodes } from "../exit-codes.ts";
import { serve } from "./server.ts";
import type { Toolbox } from "./toolbox.ts";
import { LineTransport } from "./transport.ts";

declare const MAESTRO_VERSION: string;

let made: Promise<Toolbox> | undefined;
let toolbox: Toolbox | undefined;

async function makeToolbox(): Promise<Toolbox> {
  // A bundle of its own: what is not needed for the first answer is not even read before it.
  const module = await import("./toolbox.ts");
  toolbox = new module.Toolbox({ cwd: () => process.cwd(), env: process.env, now: () => new Date(), complain });
  return toolbox;
}

/** The client shows what stands on standard error to people: a line for each thing that ought not to happen. */
function complain(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: "error", message, stack })}\n`);
}

process.on("exit", () => toolbox?.close());
for (const [signal, code] of Object.entries(signalCodes)) process.once(signal, () => process.exit(code));
process.on("uncaughtException", complain);
// Nobody is left to complain to.
process.stderr.on("error", () => process.exit(1));

const transport = new LineTransport(process.stdin, process.stdout);
transport.onclose = () => process.exit();
await serve(transport, {
  version: MAESTRO_VERSION,
  toolbox: () => {
    made ??= makeToolbox();
    return made;
  },
  complain,
});

// --dashboard of a run: serves the page in a process of its own while the run lasts.

import { fileURLToPath } from "node:url";
import { startBeside } from "../../dashboard/beside-run.ts";
import { MaestroError } from "../../errors.ts";
import type { Io } from "../io.ts";

/** This program, in dist/. */
const program = fileURLToPath(new URL("./maestro.js", import.meta.url));

/** A run without the dashboard is better than none: the dashboard itself says why it did not start. */
export async function withDashboard<T>(io: Io, run: () => Promise<T>): Promise<T> {
  const { url, close } = await startBeside([program, "dashboard", "--json", "--with-parent"], io.cwd, io.env);
  if (url !== undefined) io.err(`Dashboard: ${url}\n`);
  try {
    return await run();
  } finally {
    await close();
  }
}

/** The code of the address would be written to the log file of the detached engine. */
export function refuseDetached(flags: { dashboard?: boolean; detach?: boolean }): void {
  if (!flags.dashboard || !flags.detach) return;
  throw new MaestroError("usage", "--dashboard cannot be used with --detach", {
    hint: 'Start the run with --detach, then "maestro dashboard".',
  });
}

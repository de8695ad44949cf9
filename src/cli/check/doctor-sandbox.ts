// What `maestro doctor` knows about the sandbox: whether this machine can make one, and what is within reach of an agent inside all the same.

import { findSandbox, type SandboxProgram } from "../../engine/sandbox/sandbox.ts";
import { SOCKETS_IN_REACH } from "../run/sandbox.ts";
import type { Finding } from "./finding.ts";

/** `isWanted`: MAESTRO_SANDBOX is set, so that what is missing stops runs. */
export function checkSandbox(env: Parameters<typeof findSandbox>[0], isWanted: boolean): Finding {
  return describeSandbox(findSandbox(env), isWanted);
}

export function describeSandbox(found: SandboxProgram, isWanted: boolean): Finding {
  const check = "sandbox";
  const level = isWanted ? "warn" : "ok";
  if (found.kind === "missing") {
    return {
      check,
      level,
      message: `--sandbox is not possible: ${found.reason}`,
      ...(isWanted ? { hint: found.hint } : {}),
    };
  }
  const works = `--sandbox works, with ${found.program}`;
  if (found.scope === null) return { check, level, message: `${works}; ${SOCKETS_IN_REACH}` };
  return { check, level: "ok", message: `${works}; abstract Unix sockets are out of reach of agents` };
}

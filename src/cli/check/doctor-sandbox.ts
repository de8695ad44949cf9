// The sandbox part of `maestro doctor`: whether this machine supports one, and what an agent inside it can still reach.

import { findSandbox, type SandboxProgram } from "../../engine/sandbox/sandbox.ts";
import { SOCKETS_IN_REACH } from "../run/sandbox.ts";
import type { Finding } from "./finding.ts";

/** `isWanted`: MAESTRO_SANDBOX is set, so a missing sandbox makes runs fail. */
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
      message: `--sandbox does not work: ${found.reason}`,
      ...(isWanted ? { hint: found.hint } : {}),
    };
  }
  const works = `--sandbox works, with ${found.program}`;
  if (found.scope === null) return { check, level, message: `${works}; ${SOCKETS_IN_REACH}` };
  return { check, level: "ok", message: `${works}; agents cannot reach abstract Unix sockets` };
}

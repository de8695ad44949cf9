// The two texts that head the prompt of every agent: protocols/ of an extension.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MaestroError, reasonOf } from "../errors.ts";

export interface Protocols {
  base: string;
  safety: string;
}

/** An extension that the user names need not have protocols: without the folder, those of the running program apply. */
export function readProtocols(extensionRoot: string, programRoot: string): Protocols {
  const named = join(extensionRoot, "protocols");
  const folder = existsSync(named) ? named : join(programRoot, "protocols");
  return {
    base: readProtocol(join(folder, "agent-base-protocol.md")),
    safety: readProtocol(join(folder, "filesystem-safety-protocol.md")),
  };
}

function readProtocol(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new MaestroError("environment", `Cannot read the protocol ${file}: ${reasonOf(error)}`, {
      hint: "Every agent needs both protocols: restore the file, or reinstall the extension.",
      cause: error,
    });
  }
}

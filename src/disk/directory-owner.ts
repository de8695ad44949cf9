// Decides whether a directory of the state tree can be trusted. Its files make agents run, so another user must not be able to write
// to it: an untrusted directory can be read, but nothing is written or run there.

import { type Stats, statSync } from "node:fs";
import { MaestroError } from "../errors.ts";
import type { Directory } from "./contained.ts";

const OTHERS_WRITE = 0o002;

export interface Whose {
  /** The user that this process acts for. */
  user: number;
  /** The owner of the project, read only when it matters. */
  project: () => number | undefined;
}

/**
 * Why a directory cannot be trusted; undefined when it can. Root is trusted, and may work for the owner of a project (in a container).
 * Group write permission is accepted: systems that give every user a private group create all directories that way.
 */
export function whyForeign({ uid, mode }: Pick<Stats, "uid" | "mode">, whose: Whose): "owner" | "writable" | undefined {
  const isOurs = uid === whose.user || uid === 0 || (whose.user === 0 && uid === whose.project());
  if (!isOurs) return "owner";
  return (mode & OTHERS_WRITE) === 0 ? undefined : "writable";
}

/** Uses the status of the open directory, so it does not access the disk. Always undefined on Windows, which has no such owners. */
export function ownershipFault({ stat, shown }: Directory, projectRoot: string): MaestroError | undefined {
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  const project = () => statSync(projectRoot, { throwIfNoEntry: false })?.uid;
  const why = whyForeign(stat, { user, project });
  if (why === undefined) return undefined;
  const name = shown === "" ? "." : shown;
  const mode = (stat.mode & 0o7777).toString(8).padStart(4, "0");
  const facts = `owner ${stat.uid}, mode ${mode}`;
  if (why === "writable") {
    return new MaestroError("environment", `Every user can write to the state directory ${name} (${facts})`, {
      hint: `Check its content, then run "chmod o-w ${name}".`,
    });
  }
  return new MaestroError(
    "environment",
    `The state directory ${name} belongs to another user (${facts}, you are ${user})`,
    {
      hint: "If you trust what is in it, take ownership with chown; otherwise move it away, or set MAESTRO_STATE_DIR to a directory of your own.",
    },
  );
}

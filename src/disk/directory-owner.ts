// Whose a directory of the state tree is. What stands in it makes agents run, so another user must not be able to write it: such a
// directory can be read, but nothing is written or run there.

import { type Stats, statSync } from "node:fs";
import { MaestroError } from "../errors.ts";
import type { Directory } from "./contained.ts";

const OTHERS_WRITE = 0o002;

export interface Whose {
  /** The user that this process acts for. */
  user: number;
  /** The owner of the project; asked for only when it matters. */
  project: () => number | undefined;
}

/**
 * Why a directory is not to be trusted; undefined when it is. Root is trusted, and works for the owner of a project, as in a container.
 * The group may write: where every user has a group of their own, all directories are made so.
 */
export function whyForeign({ uid, mode }: Pick<Stats, "uid" | "mode">, whose: Whose): "owner" | "writable" | undefined {
  const isOurs = uid === whose.user || uid === 0 || (whose.user === 0 && uid === whose.project());
  if (!isOurs) return "owner";
  return (mode & OTHERS_WRITE) === 0 ? undefined : "writable";
}

/** Asked with what is known of an open directory: costs no look at the disk. Not on Windows, where there are no such owners. */
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
      hint: `Look at what is in it, then run "chmod o-w ${name}".`,
    });
  }
  return new MaestroError(
    "environment",
    `The state directory ${name} belongs to another user (${facts}, you are ${user})`,
    {
      hint: "If you trust what is in it, make it yours with chown; otherwise move it away, or set MAESTRO_STATE_DIR to a directory of your own.",
    },
  );
}

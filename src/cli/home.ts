// The home directory of the user, below which Maestro installs what the user asked for.

import { userInfo } from "node:os";
import { isAbsolute } from "node:path";
import type { Io } from "./io.ts";

/** An empty or relative HOME counts as not set: files for the user must not end up in the project. */
export function homeOf({ HOME }: Io["env"]): string {
  return absolute(HOME) ?? userInfo().homedir;
}

/** A directory that a variable names; undefined when it is not set or relative, as the XDG specification requires. */
export function absolute(value: string | undefined): string | undefined {
  const path = value?.trim() ?? "";
  return isAbsolute(path) ? path : undefined;
}

// Where worktrees live: the user's cache directory, outside of every project.

import { homedir } from "node:os";
import { posix, win32 } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** An absolute path. A relative value is ignored, because it would name another directory in every working directory. */
export function cacheRoot(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const { join, isAbsolute } = platform === "win32" ? win32 : posix;
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const given = absolute(env.XDG_CACHE_HOME);
  if (given !== undefined) return join(given, "maestro");
  const home = absolute(platform === "win32" ? env.USERPROFILE : env.HOME) ?? homedir();
  if (platform === "win32")
    return join(absolute(env.LOCALAPPDATA) ?? join(home, "AppData", "Local"), "maestro", "cache");
  return platform === "darwin" ? join(home, "Library", "Caches", "maestro") : join(home, ".cache", "maestro");
}

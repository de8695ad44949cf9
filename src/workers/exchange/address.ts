// The address of an exchange, and what git needs to reach it: a path, or ssh with the user's own keys. Nothing else is reached from here.

import { isAbsolute, resolve } from "node:path";
import { MaestroError } from "../../errors.ts";
import type { Environment } from "../../setting-layers.ts";
import { stripControls } from "../../text.ts";

export interface Exchange {
  /** A path or an ssh address, as git takes it. */
  url: string;
  /** Variables for git. */
  env: Record<string, string>;
}

const MAX_URL_CHARS = 2000;

/** Without a terminal nobody answers a question of ssh. */
const SSH = "ssh -oBatchMode=yes -oConnectTimeout=15";

/** `cwd`: what a relative path is relative to. */
export function exchangeAt(given: string, env: Environment, cwd: string): Exchange {
  const url = given.trim();
  const kind = kindOf(url);
  if (kind === "unknown" || url.length > MAX_URL_CHARS || stripControls(url) !== url) {
    throw new MaestroError("usage", `The exchange must be a path or an ssh address (got: ${shown(url)})`, {
      hint: "For example: /srv/maestro.git, ssh://host/srv/maestro.git or host:maestro.git",
    });
  }
  if (/^ssh:\/\/[^/@]*:[^/@]*@/.test(url)) {
    throw new MaestroError("usage", "The address of the exchange must not contain a password", {
      hint: "Use a key: ssh-copy-id, or an entry in ~/.ssh/config.",
    });
  }
  const kept = ["HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "GIT_SSH_VARIANT"].flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    url: kind === "path" && !isAbsolute(url) ? resolve(cwd, url) : url,
    env: {
      ...Object.fromEntries(kept),
      GIT_ALLOW_PROTOCOL: kind === "path" ? "file" : "ssh",
      GIT_SSH_COMMAND: env.GIT_SSH_COMMAND ?? SSH,
    },
  };
}

function kindOf(url: string): "path" | "ssh" | "unknown" {
  if (/^ssh:\/\/(?!-)[^/]+\/./.test(url)) return "ssh";
  if (url.startsWith("file:///")) return "path";
  if (url.includes("://") || url === "" || url.startsWith("-")) return "unknown";
  // As git reads it: a colon before the first slash separates host and path.
  return /^(?!-)[^/:]+:(?!-)./.test(url) ? "ssh" : "path";
}

/** A user's mistake may have a password in it. */
function shown(url: string): string {
  return stripControls(url).replace(/\/\/[^/@]*@/, "//***@").slice(0, 80);
}

// What git needs to reach an exchange: its address, and the user's own means of signing in. Nothing but the exchange is reached with it.

import type { Environment } from "../../setting-layers.ts";

export interface Exchange {
  /** As `exchangeAddress` has checked it. */
  url: string;
  /** Variables for git. */
  env: Readonly<Record<string, string>>;
}

/** No question of ssh can be answered. */
const SSH = "ssh -oBatchMode=yes -oConnectTimeout=15";
const kept = [
  "HOME",
  "USER",
  "LOGNAME",
  "SSH_AUTH_SOCK",
  "GIT_SSH_VARIANT",
  "GIT_SSL_CAINFO",
  "HTTPS_PROXY",
  "NO_PROXY",
];

export function exchangeAt(url: string, env: Environment): Exchange {
  const own = kept.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const protocol = url.startsWith("/") || url.startsWith("file:") ? "file" : url.startsWith("https:") ? "https" : "ssh";
  return {
    url,
    env: { ...Object.fromEntries(own), GIT_ALLOW_PROTOCOL: protocol, GIT_SSH_COMMAND: env.GIT_SSH_COMMAND ?? SSH },
  };
}

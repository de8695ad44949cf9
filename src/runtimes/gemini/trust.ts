// Whether the user has trusted a project in Gemini CLI, by the CLI's own rules (0.61): the longest rule that contains the directory
// decides.

import { dirname, isAbsolute, relative, resolve, sep } from "node:path";

/** `unknown` when the user was never asked or has not answered. */
export type Trust = "trusted" | "distrusted" | "unknown";

interface TrustQuestion {
  /** The parsed trustedFolders.json; anything but an object has no rules. */
  rules: unknown;
  /** The value of GEMINI_CLI_TRUST_WORKSPACE that the user exported. */
  exported: string | undefined;
  directory: string;
  /** Resolves a path to its real path; returns the path itself when it does not exist. */
  real: (path: string) => string;
  platform: NodeJS.Platform;
}

/** A disabled trust prompt (`security.folderTrust.enabled` is false) says nothing about this project. */
export function trustOf({ rules, exported, directory, real, platform }: TrustQuestion): Trust {
  if (exported === "true") return "trusted";
  if (exported === "false") return "distrusted";
  const ignoresCase = platform === "darwin" || platform === "win32";
  const normal = (path: string) => (ignoresCase ? resolve(path).toLowerCase() : resolve(path));
  const place = normal(real(directory));
  let longest = -1;
  let trust: Trust = "unknown";
  for (const [given, level] of Object.entries(isRecord(rules) ? rules : {})) {
    const rule = normal(given);
    const around = level === "TRUST_PARENT" ? dirname(rule) : rule;
    if (typeof level !== "string" || rule.length <= longest || !contains(normal(real(around)), place)) continue;
    if (!["TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST"].includes(level)) continue;
    longest = rule.length;
    trust = level === "DO_NOT_TRUST" ? "distrusted" : "trusted";
  }
  return trust;
}

function contains(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

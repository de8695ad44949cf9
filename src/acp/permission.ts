// Answers an agent's requests by the tier it plays: which tool calls are allowed, and which option of the request says so. Pure.

import { isAbsolute, relative, resolve, sep } from "node:path";
import { mayWrite, type Tier } from "../agents/tiers.ts";

/** What a request asks for: the protocol's kinds; `undefined` when the agent names none. */
export interface AskedCall {
  kind: string | undefined;
  /** The files that the call touches, as far as the agent reports them. */
  paths: readonly string[];
}

export interface PermissionChoice {
  optionId: string;
  kind: string;
}

const reading = new Set(["read", "search", "think", "fetch"]);
const writing = new Set(["edit", "delete", "move"]);

function hasShell(tier: Tier): boolean {
  return tier === "read-shell" || tier === "full";
}

/** Null when the call is allowed; otherwise why not. */
export function refusalOf({ kind, paths }: AskedCall, tier: Tier, root: string): string | null {
  if (kind !== undefined && reading.has(kind)) return null;
  if (kind === "execute") return hasShell(tier) ? null : `an agent of the tier ${tier} must not run commands`;
  if (kind !== undefined && writing.has(kind)) {
    if (!mayWrite(tier)) return `an agent of the tier ${tier} must not change files`;
    const outside = paths.find((path) => insideOf(root, path) === null);
    return outside === undefined ? null : `${outside} is outside the agent's directory`;
  }
  return tier === "full" && kind !== "switch_mode" ? null : `an agent of the tier ${tier} has no such tool`;
}

/** The path below `root`; null when it is outside, is the root itself, or belongs to git. Links are not followed. */
export function insideOf(root: string, path: string): string | null {
  const way = relative(root, resolve(root, path));
  if (way === "" || isAbsolute(way)) return null;
  const names = way.split(sep);
  return names[0] === ".." || names.some((name) => name.toLowerCase() === ".git") ? null : way;
}

/** The id of the option with that answer; null when there is none. An answer for always is used only when no other option fits. */
export function optionFor(options: readonly PermissionChoice[], isAllowed: boolean): string | null {
  const wanted = isAllowed ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const found = wanted.flatMap((kind) => options.find((option) => option.kind === kind) ?? []);
  return found[0]?.optionId ?? null;
}

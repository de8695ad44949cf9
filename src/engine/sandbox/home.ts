// Mounts what a program needs from the user's home, by what its runtime describes: copies of its settings and credentials, and the
// directories that it reads. Conversations are left out, and so is every other program's login.

import { delimiter, isAbsolute, join } from "node:path";
import type { HomePlace } from "../../runtimes/runtime.ts";
import type { Environment } from "../../setting-layers.ts";
import {
  containsAny,
  entriesOf,
  isAbsent,
  isReadable,
  keep,
  lead,
  type Mounts,
  put,
  putEmpty,
  realOf,
  statOf,
} from "./mounts.ts";

/** Databases, logs and what was said before: large, private, or in use by another process. */
const leftOut = /^history|\.(?:db|sqlite\d?|log|jsonl|lock|sock)(?:-\w+)?$/;
const MAX_FILE_BYTES = 8 * 1024 * 1024;

interface Described {
  home: string | undefined;
  places: readonly HomePlace[];
  env: Environment;
}

/** `vital`: directories that must not become visible because a variable names a path around them. */
export function keepHome(mounts: Mounts, { home, places, env }: Described, vital: readonly string[]): void {
  const root = home !== undefined && isAbsolute(home) ? (realOf(home) ?? home) : undefined;
  if (root !== undefined) for (const place of places) mountPlace(mounts, place, pathOf(place, root, env), vital);
  keepCertificates(mounts, env, vital);
}

/** Files and directories with certificates that variables name. */
export function keepCertificates(mounts: Mounts, env: Environment, vital: readonly string[]): void {
  for (const name of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]) {
    const path = env[name] ?? "";
    if (statOf(path)?.isFile()) keep(mounts, path);
  }
  for (const path of (env.SSL_CERT_DIR ?? "").split(delimiter)) {
    const real = isAbsolute(path) ? realOf(path) : undefined;
    if (real !== undefined && !containsAny(real, vital)) keep(mounts, path);
  }
}

const bases: readonly [prefix: string, variable: string][] = [
  [".config/", "XDG_CONFIG_HOME"],
  [".local/share/", "XDG_DATA_HOME"],
  [".local/state/", "XDG_STATE_HOME"],
];

function pathOf({ path, variable }: HomePlace, home: string, env: Environment): string {
  const named = variable === undefined ? undefined : env[variable];
  if (named !== undefined && isAbsolute(named)) return named;
  const [prefix = "", base = ""] = bases.find(([start]) => path.startsWith(start)) ?? [];
  const moved = env[base];
  return moved !== undefined && isAbsolute(moved) ? join(moved, path.slice(prefix.length)) : join(home, path);
}

function mountPlace(mounts: Mounts, { reads = [] }: HomePlace, wanted: string, vital: readonly string[]): void {
  const real = lead(mounts, wanted);
  if (real !== undefined && statOf(real)?.isFile()) {
    if (isReadable(real)) put(mounts, { kind: "copy", path: real, from: real });
    return;
  }
  if (real === undefined || containsAny(real, vital)) {
    if (isAbsent(mounts, wanted)) put(mounts, { kind: "empty", path: wanted, writable: true });
    return;
  }
  putEmpty(mounts, real, true);
  for (const { name } of entriesOf(real)) {
    const path = join(real, name);
    const from = realOf(path);
    const stat = from === undefined ? undefined : statOf(from);
    if (from === undefined || stat === undefined) continue;
    const isCopied = stat.isFile() && stat.size <= MAX_FILE_BYTES && !leftOut.test(name) && isReadable(from);
    if (isCopied) put(mounts, { kind: "copy", path, from });
    else if (stat.isDirectory() && reads.includes(name) && !containsAny(from, vital)) keep(mounts, path);
  }
}

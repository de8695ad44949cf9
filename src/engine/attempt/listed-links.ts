// Outside git: finds changed symbolic links that point out of the project. Links are read, never followed.

import { readlinkSync } from "node:fs";
import { withDirectory } from "../../disk/contained.ts";
import { errno, MaestroError } from "../../errors.ts";
import { type LinkOutside, leadsOut } from "../../git/objects/links.ts";
import type { FileChange } from "../../session/events.ts";
import type { Listing } from "./listing.ts";

const FILE_TYPE = 0o170000n;
const LINK = 0o120000n;

export function listedLinks(root: string, changes: readonly FileChange[], { files }: Listing): LinkOutside[] {
  const targetAt = (path: string) =>
    ((files.get(path)?.mode ?? 0n) & FILE_TYPE) === LINK ? readLink(root, path) : undefined;
  return changes.flatMap(({ path, kind }) => {
    const target = kind === "deleted" ? undefined : targetAt(path);
    return target !== undefined && leadsOut({ name: path, target }, "", targetAt) ? [{ path, target }] : [];
  });
}

/** Undefined when the path is no longer a link. */
function readLink(root: string, path: string): string | undefined {
  const components = path.split("/");
  const name = components.pop() ?? "";
  try {
    return withDirectory(root, components, { create: false }, (parent) => readlinkSync(parent.at(name)));
  } catch (error) {
    if (errno(error) !== undefined || error instanceof MaestroError) return undefined;
    throw error;
  }
}

// Keeps compiled code of this program on disk, for compiled-code.ts. Hooks load it only when they have code to keep.

import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyOf, type Missing } from "./compiled-code.ts";

/** A draft has its name after some milliseconds. */
const DRAFT_MS = 60_000;

/** Keeps the code of these scripts of `programs`, and removes what is out of date. Never throws: the next start tries again. */
export function keepMissing(missing: Missing[], directory: string, programs: string): void {
  if (missing.length === 0) return;
  try {
    for (const kept of missing.splice(0)) saveCode(kept);
    removeOld(directory, programs);
  } catch {
    // A full disk, or a file that another process has removed: this program ends as it would have ended.
  }
}

function saveCode({ path, script }: Missing): void {
  const draft = `${path}.${process.pid}`;
  try {
    const code = script.createCachedData();
    // On the disk before it has its name.
    writeFileSync(draft, Buffer.concat([code, code]), { flag: "wx", mode: 0o600, flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Removes code of files that this build does not have, and drafts of killed processes. Code of another version of Node stays. */
function removeOld(directory: string, programs: string): void {
  const current = new Set(readdirSync(programs).map((name) => keyOf(join(programs, name))));
  const own = readdirSync(directory).filter((name) => name.includes(`@${process.version}-${process.arch}-`));
  for (const name of own) {
    const path = join(directory, name);
    const isDraft = /\.\d+$/.test(name);
    // One that is being written is new.
    const isOld = isDraft ? statSync(path).mtimeMs < Date.now() - DRAFT_MS : !current.has(name);
    if (isOld) rmSync(path, { force: true });
  }
}

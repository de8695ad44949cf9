// Keeps compiled code of this program on disk for versions of Node that cannot (before 22.8): the code that one start compiled is read by the next.

import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";

/** By then a server, which a signal ends later, has compiled what a start needs. */
export const SAVE_AFTER_MS = 3000;

/** A draft has its name after some milliseconds. */
const DRAFT_MS = 60_000;

interface Kept {
  path: string;
  script: Script;
}

type Compile = (this: NodeModule, content: string, path: string) => unknown;

/** Compiles the files beside `program` with what is kept of them in `directory`, and keeps what is missing when the process ends. */
export function keepCompiledCode(directory: string, program: string): void {
  const { prototype } = nodeModule as unknown as { prototype: { _compile?: Compile } };
  const compile = prototype._compile;
  if (compile === undefined) return;
  const programs = dirname(program);
  const missing: Kept[] = [];
  prototype._compile = function (content, path) {
    const key = dirname(path) === programs ? keyOf(path) : undefined;
    if (key === undefined) return compile.call(this, content, path);
    const script = compiled(content, path, join(directory, key), missing);
    const run = script.runInThisContext() as (...words: unknown[]) => unknown;
    return run.call(this.exports, this.exports, createRequire(path), this, path, programs);
  };
  const save = () => {
    if (missing.length === 0) return;
    try {
      for (const kept of missing.splice(0)) saveCode(kept);
      removeOld(directory, programs);
    } catch {
      // A full disk, or a file that another process has removed: the next start tries again, and this one ends as it would have ended.
    }
  };
  process.once("exit", save);
  setTimeout(save, SAVE_AFTER_MS).unref();
}

/** Adds the script to `missing` when no code is kept of it, or code of another V8. */
function compiled(content: string, filename: string, kept: string, missing: Kept[]): Script {
  const cachedData = readWhole(kept);
  // In a function, "#!" is not a comment.
  const body = nodeModule.wrap(content.startsWith("#!") ? `//${content}` : content);
  const script = new Script(body, cachedData === undefined ? { filename } : { filename, cachedData });
  if (cachedData === undefined || script.cachedDataRejected === true) missing.push({ path: kept, script });
  return script;
}

/**
 * V8 compares only the length of a source, so the name also has the time of its last change: the one that no copy can set. Undefined when the
 * file has just been deleted, as when the installation is replaced.
 */
function keyOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return `${basename(path)}@${process.version}-${process.arch}-${found.size}-${Math.round(found.ctimeMs)}`;
}

/**
 * V8 runs damaged code as it is, so a file has the code twice: comparing both takes less time than loading a checksum, which brings Node's
 * streams with it.
 */
function readWhole(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(0, bytes.length / 2);
    return code.length > 0 && code.equals(bytes.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function saveCode({ path, script }: Kept): void {
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

// Keeps compiled code of this program on disk for versions of Node that cannot (before 22.8): the code that one start compiled is read by the next.

import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";

/** By then a server, which a signal ends later, has compiled what a start needs. */
export const SAVE_AFTER_MS = 3000;

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
    if (dirname(path) !== programs) return compile.call(this, content, path);
    const script = compiled(content, path, join(directory, keyOf(path)), missing);
    const run = script.runInThisContext() as (...words: unknown[]) => unknown;
    return run.call(this.exports, this.exports, createRequire(path), this, path, programs);
  };
  const save = () => {
    if (missing.length === 0) return;
    for (const kept of missing.splice(0)) saveCode(kept);
    removeOld(directory, programs);
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

/** V8 compares only the length of a source, so the name also has the time of its last change. */
function keyOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${basename(path)}@${process.version}-${process.arch}-${size}-${Math.round(mtimeMs)}`;
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

/** A full disk, or an installation that has just been deleted, costs the next start some milliseconds and nothing else. */
function saveCode({ path, script }: Kept): void {
  const draft = `${path}.${process.pid}`;
  try {
    const code = script.createCachedData();
    // On the disk before it has its name.
    writeFileSync(draft, Buffer.concat([code, code]), { flag: "wx", mode: 0o600, flush: true });
    renameSync(draft, path);
  } catch {
    rmSync(draft, { force: true });
  }
}

/** Code of files that this build does not have. That of another version of Node stays, for those who use both. */
function removeOld(directory: string, programs: string): void {
  try {
    const current = new Set(readdirSync(programs).map((name) => keyOf(join(programs, name))));
    const own = readdirSync(directory).filter((name) => name.includes(`@${process.version}-${process.arch}-`));
    for (const name of own) {
      const isDraft = /\.\d+$/.test(name);
      if (!isDraft && !current.has(name)) rmSync(join(directory, name), { force: true });
    }
  } catch {
    // A file was removed in between: the next start that keeps something tries again.
  }
}

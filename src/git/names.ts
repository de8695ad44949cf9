// Converts file names between git (bytes, relative to the top of the repository) and Maestro (text, relative to the project).
// Inside this folder bytes are kept as text with one character per byte ("raw"), so that no name is altered on the way.

import { MaestroError } from "../errors.ts";

/** Raw names from the output of a command with -z. */
export function rawNames(answer: Buffer): string[] {
  const names = answer.toString("latin1").split("\0");
  if (names.at(-1) === "") names.pop();
  return names;
}

export function toRaw(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** As text. Invalid UTF-8 becomes replacement characters. */
export function fromRaw(raw: string): string {
  return Buffer.from(raw, "latin1").toString("utf8");
}

export function isUtf8(raw: string): boolean {
  return toRaw(fromRaw(raw)) === raw;
}

/** Raw lines as bytes, each terminated by NUL. */
export function rawInput(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\0`).join(""), "latin1");
}

/** Converts a path from the top of the repository to one relative to the project; outside the project it begins with "../". */
export function toProject(prefix: string, raw: string): string {
  const path = fromRaw(raw);
  if (path.startsWith(prefix)) return path.slice(prefix.length);
  const above = prefix.split("/").slice(0, -1);
  const names = path.split("/");
  let shared = 0;
  while (shared < above.length && above[shared] === names[shared]) shared += 1;
  return [...above.slice(shared).map(() => ".."), ...names.slice(shared)].join("/");
}

/** The inverse of `toProject`. Rejects a path that leaves the repository. */
export function fromProject(prefix: string, path: string): string {
  const names: string[] = [];
  for (const name of `${prefix}${path}`.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) throw new MaestroError("path", `Path leaves the repository (got: ${path})`);
  }
  return toRaw(names.join("/"));
}

/** Whether a raw name equals one of the paths or is below one. */
export function isBelow(raw: string, paths: readonly string[]): boolean {
  return paths.some((path) => raw === path || (raw.startsWith(path) && raw[path.length] === "/"));
}

// Reads and writes files for an agent, inside of its directory only: links that lead out of it are refused by the kernel.

import { closeSync, constants, fstatSync, ftruncateSync } from "node:fs";
import { withParent } from "../disk/contained.ts";
import { readRegular, writeAll } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import { insideOf } from "./permission.ts";

const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** `line` counts from 1. */
export function readFor(root: string, path: string, line: number, limit: number): string {
  const text = withParent(root, contained(root, path), { create: false }, (parent, name) =>
    readRegular(parent, name, MAX_FILE_BYTES),
  );
  if (text === undefined) throw new MaestroError("not_found", `The file does not exist: ${path}`);
  const whole = text.toString("utf8");
  if (line <= 1 && limit === Number.POSITIVE_INFINITY) return whole;
  const from = Math.max(line, 1) - 1;
  return whole
    .split("\n")
    .slice(from, from + limit)
    .join("\n");
}

export function writeFor(root: string, path: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK;
  withParent(root, contained(root, path), { create: true }, (parent, name) => {
    const fd = parent.open(name, flags, 0o666);
    try {
      if (!fstatSync(fd).isFile()) throw new MaestroError("path", `Not a regular file: ${path}`);
      ftruncateSync(fd);
      writeAll(fd, Buffer.from(text), "write");
    } finally {
      closeSync(fd);
    }
  });
}

function contained(root: string, path: string): string {
  const way = insideOf(root, path);
  if (way !== null) return way;
  throw new MaestroError("path", `${path} is outside the agent's directory`);
}

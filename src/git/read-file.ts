// Reads a file of a git directory without blocking: a FIFO counts as missing.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { ioError } from "../disk/contained.ts";
import { errno } from "../errors.ts";

/** The bytes and the file's status when they were read; undefined when the file does not exist. */
export function readFile(path: string | Buffer): { bytes: Buffer; stat: Stats } | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ENXIO"].includes(errno(error) ?? "")) return undefined;
    throw ioError("read", String(path), error);
  }
  try {
    const stat = fstatSync(fd);
    return stat.isFile() ? { bytes: readFileSync(fd), stat } : undefined;
  } finally {
    closeSync(fd);
  }
}

// Random words that cannot be guessed, without Node's cryptography where the system has a file of random bytes: loading it takes three
// milliseconds of every command and hook that writes a file.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const SOURCE = "/dev/urandom";

/** Twice as many digits as `bytes`. */
export function randomHex(bytes: number): string {
  return Buffer.from(systemBytes(bytes) ?? globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
}

/** Undefined where the system has no such device, as on Windows. */
export function systemBytes(count: number, source = SOURCE): Uint8Array | undefined {
  try {
    const fd = openSync(source, "r");
    try {
      const bytes = new Uint8Array(count);
      return fstatSync(fd).isCharacterDevice() && readSync(fd, bytes) === count ? bytes : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    // Node's cryptography gives them then.
    return undefined;
  }
}

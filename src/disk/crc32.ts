// CRC-32 (IEEE), in JavaScript for short input and for early Node 20, which has no `zlib.crc32`. zlib is loaded only for long input,
// because loading it slows down the start of a hook.

/** From this length on, zlib saves more time than loading it costs. */
const LONG = 16 * 1024;

let table: Int32Array | undefined;

function makeTable(): Int32Array {
  const made = new Int32Array(256);
  for (let i = 0; i < 256; i++) {
    let value = i;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    made[i] = value;
  }
  return made;
}

/** The unsigned checksum of `bytes[start, end)`, continuing from `before`, the checksum of the preceding bytes. */
export function crc32(bytes: Uint8Array, start = 0, end = bytes.length, before = 0): number {
  const native = end - start < LONG ? undefined : nativeCrc32();
  if (native !== undefined) return native(bytes.subarray(start, end), before);
  table ??= makeTable();
  return (remainder(table, bytes, start, end, ~before) ^ -1) >>> 0;
}

/** A separate function that ends with its loop: V8 would otherwise discard code that it optimized in the middle of a long line. */
function remainder(by: Int32Array, bytes: Uint8Array, start: number, end: number, before: number): number {
  let crc = before;
  for (let i = start; i < end; i++) {
    crc = (by[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return crc;
}

/** Undefined before Node 20.16, which lacks either `zlib.crc32` or `process.getBuiltinModule`. */
function nativeCrc32(): ((bytes: Uint8Array, before: number) => number) | undefined {
  return (process as Partial<typeof process>).getBuiltinModule?.("node:zlib").crc32;
}

export function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}

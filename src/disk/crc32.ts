// CRC-32 (IEEE). Ours for short pieces and for early Node 20, which has no `zlib.crc32`; zlib is loaded only for a long piece, because
// loading it costs a hook its start-up.

/** From here on loading zlib costs less than it saves. */
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

/** The checksum, an unsigned number, of `bytes[start, end)` behind something that has the checksum `before`. */
export function crc32(bytes: Uint8Array, start = 0, end = bytes.length, before = 0): number {
  const native = end - start < LONG ? undefined : nativeCrc32();
  if (native !== undefined) return native(bytes.subarray(start, end), before);
  table ??= makeTable();
  return (remainder(table, bytes, start, end, ~before) ^ -1) >>> 0;
}

/** A function of its own, with nothing behind its loop: compiled in the middle of a long line, it would be thrown away there. */
function remainder(by: Int32Array, bytes: Uint8Array, start: number, end: number, before: number): number {
  let crc = before;
  for (let i = start; i < end; i++) {
    crc = (by[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return crc;
}

/** Before Node 20.16 either the function is missing or this way to it. */
function nativeCrc32(): ((bytes: Uint8Array, before: number) => number) | undefined {
  return (process as Partial<typeof process>).getBuiltinModule?.("node:zlib").crc32;
}

/** Eight hexadecimal digits. */
export function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}

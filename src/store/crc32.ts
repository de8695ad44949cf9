// CRC-32 (IEEE). Ours because `zlib.crc32` is missing from early Node 20 and loading zlib costs a hook its start-up.

const table = new Int32Array(256);
for (let i = 0; i < 256; i++) {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  table[i] = value;
}

/** The checksum of `bytes[start, end)` as an unsigned number. */
export function crc32(bytes: Uint8Array, start = 0, end = bytes.length): number {
  return (remainder(bytes, start, end) ^ -1) >>> 0;
}

/** A function of its own, with nothing behind its loop: compiled in the middle of a long line, it would be thrown away there. */
function remainder(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  for (let i = start; i < end; i++) {
    crc = (table[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return crc;
}

/** Eight hexadecimal digits. */
export function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}

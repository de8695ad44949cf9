// Measures and reports figures; a figure over its limit fails the run.

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** CPU milliseconds that `work` takes. */
export function cpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

export function time(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

export function report(what: string, value: number, unit: string, limit?: number): void {
  const verdict = limit === undefined ? "" : value <= limit ? `  (limit ${limit}: ok)` : `  (limit ${limit}: OVER)`;
  console.log(`  ${what.padEnd(58)} ${value.toFixed(2).padStart(9)} ${unit}${verdict}`);
  if (limit !== undefined && !(value <= limit)) process.exitCode = 1;
}

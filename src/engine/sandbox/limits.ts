// The limits of a process in a sandbox, as lines for the shell that starts it. Never above what the user has. Address space is not limited,
// because Node reserves far more of it than it uses; memory is not limited at all.

/** By the name that /proc gives it: the limit, in its own unit, the flags that shells know it by, and how many units the flag counts in. */
const limits = [
  { name: "Max core file size", most: 0, flags: ["c"], unit: 512 },
  { name: "Max file size", most: 16 * 1024 ** 3, flags: ["f"], unit: 512 },
  { name: "Max open files", most: 65_536, flags: ["n"], unit: 1 },
  // bash says u, dash and busybox say p, which in bash is something that cannot be set.
  { name: "Max processes", most: 4096, flags: ["u", "p"], unit: 1 },
] as const;

/** `current`: the text of /proc/self/limits. A limit that the shell cannot set ends it with 126. */
export function limitLines(current: string): string {
  return limits
    .map(({ name, most, flags, unit }) => {
      const [soft, hard] = currentOf(current, name);
      const highest = Math.min(hard, most);
      const [low, high] = [Math.min(soft, highest), highest].map((value) => Math.floor(value / unit));
      const ways = flags.map((flag) => `{ ulimit -S -${flag} ${low} && ulimit -H -${flag} ${high}; } 2>/dev/null`);
      return `${ways.join(" || ")} || { echo "The sandbox cannot limit: ${name.slice(4)}" >&2; exit 126; }\n`;
    })
    .join("");
}

function currentOf(current: string, name: string): [soft: number, hard: number] {
  const [, soft, hard] = new RegExp(`^${name} +(\\d+|unlimited) +(\\d+|unlimited)`, "m").exec(current) ?? [];
  const value = (word: string | undefined) => (word === undefined || word === "unlimited" ? Infinity : Number(word));
  return [value(soft), value(hard)];
}

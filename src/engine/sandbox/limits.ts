// The resource limits of a sandboxed process, as lines for the shell that starts it. They never exceed the user's own limits. Address space
// is not limited, because Node reserves far more than it uses; memory is not limited at all.

/** `name` as in /proc, the maximum in its own unit, the `ulimit` flags of different shells, and how many units one step of the flag is. */
const limits = [
  { name: "Max core file size", most: 0, flags: ["c"], unit: 512 },
  { name: "Max file size", most: 16 * 1024 ** 3, flags: ["f"], unit: 512 },
  { name: "Max open files", most: 65_536, flags: ["n"], unit: 1 },
  // bash uses -u; dash and busybox use -p, which bash cannot set because it means something else there.
  { name: "Max processes", most: 4096, flags: ["u", "p"], unit: 1 },
] as const;

/** `current`: the text of /proc/self/limits. The shell exits with 126 when it cannot set a limit. */
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

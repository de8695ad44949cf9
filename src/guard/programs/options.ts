// Parses arguments into options and operands as getopt does: clusters, attached values, `--`, options after operands.

export class Options {
  readonly operands: string[] = [];
  readonly #given = new Map<string, string[]>();

  /** `withValue`: the letters that take a value; `longWithValue`: the long names whose value is the next word. */
  constructor(args: readonly string[], withValue = "", longWithValue: readonly string[] = []) {
    for (let i = 0; i < args.length; i++) {
      const arg = args[i] as string;
      if (arg === "--") {
        this.operands.push(...args.slice(i + 1));
        return;
      }
      if (arg.startsWith("--")) {
        const [name, value] = cutAtEquals(arg);
        if (value !== undefined) this.#add(name, value);
        else if (longWithValue.includes(name)) this.#add(name, args[++i] ?? "");
        else this.#add(name, "");
      } else if (arg.startsWith("-") && arg.length > 1) {
        if (this.#cluster(arg, withValue)) this.#add(arg.at(-1) as string, args[++i] ?? "");
      } else {
        this.operands.push(arg);
      }
    }
  }

  /** Letters are passed without a dash, long names with dashes. A long name also matches its abbreviations. */
  has(...names: readonly string[]): boolean {
    return names.some((name) => this.values(name).length > 0);
  }

  values(name: string): readonly string[] {
    const exact = this.#given.get(name);
    if (exact !== undefined || !name.startsWith("--")) return exact ?? [];
    for (const [given, values] of this.#given) {
      if (given.length > 2 && given.startsWith("--") && name.startsWith(given)) return values;
    }
    return [];
  }

  /** The values of all these names. */
  all(...names: readonly string[]): string[] {
    return names.flatMap((name) => this.values(name));
  }

  /** True when the last letter takes the next word. */
  #cluster(arg: string, withValue: string): boolean {
    for (let at = 1; at < arg.length; at++) {
      const letter = arg[at] as string;
      if (!withValue.includes(letter)) this.#add(letter, "");
      else if (at === arg.length - 1) return true;
      else {
        this.#add(letter, arg.slice(at + 1));
        return false;
      }
    }
    return false;
  }

  #add(name: string, value: string): void {
    const values = this.#given.get(name);
    if (values === undefined) this.#given.set(name, [value]);
    else values.push(value);
  }
}

/** `--x=y` -> `--x` and `y`. */
export function cutAtEquals(arg: string): [name: string, value: string | undefined] {
  const at = arg.indexOf("=");
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

// Whether the extension's hooks would run in Gemini CLI, according to its files. Without hooks, no guard checks an agent's shell commands.

/** The content of the CLI's own files; the caller reads them. */
export interface GeminiState {
  /** The names of the installed extensions. */
  extensions: readonly string[];
  /** The parsed extension-enablement.json. */
  enablement: unknown;
  /** Settings files, the strongest last: system defaults, the user's, the system's. */
  settings: readonly unknown[];
}

export type HookFault =
  | { kind: "not-installed" }
  | { kind: "left-out" }
  | { kind: "disabled"; directory: string }
  | { kind: "hooks-off"; setting: string };

const EXTENSION = "maestro";
const GUARD = "maestro-guard";

/**
 * Why the hooks would not run; null when they would. `directories` is where agents work; `extraArgs` are the user's own arguments for the
 * CLI.
 */
export function hookFault(
  { extensions, enablement, settings }: GeminiState,
  directories: readonly string[],
  extraArgs: readonly string[],
): HookFault | null {
  if (!extensions.includes(EXTENSION)) return { kind: "not-installed" };
  const chosen = chosenExtensions(extraArgs);
  if (chosen !== null && !chosen.includes(EXTENSION)) return { kind: "left-out" };
  const disabled = chosen === null ? directories.find((directory) => !isEnabled(enablement, directory)) : undefined;
  if (disabled !== undefined) return { kind: "disabled", directory: disabled };
  const strongest = (...path: string[]) =>
    settings.map((file) => at(file, path)).findLast((value) => value !== undefined);
  if (strongest("hooksConfig", "enabled") === false) return { kind: "hooks-off", setting: "hooksConfig.enabled" };
  if (strongest("admin", "extensions", "enabled") === false) {
    return { kind: "hooks-off", setting: "admin.extensions.enabled" };
  }
  const isNamed = settings.some((file) => listAt(file, ["hooksConfig", "disabled"]).includes(GUARD));
  return isNamed ? { kind: "hooks-off", setting: "hooksConfig.disabled" } : null;
}

/** The last rule that matches a directory wins; without one the extension is enabled. */
function isEnabled(enablement: unknown, directory: string): boolean {
  const place = `/${directory.replace(/\\/g, "/").replace(/^\/+|\/+$/g, "")}/`.replace(/^\/\/$/, "/");
  let enabled = true;
  for (const rule of listAt(enablement, [EXTENSION, "overrides"])) {
    const isDisable = rule.startsWith("!");
    if (globOf(isDisable ? rule.slice(1) : rule).test(place)) enabled = !isDisable;
  }
  return enabled;
}

function globOf(glob: string): RegExp {
  const escaped = glob.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/(\/?)\*/g, "($1.*)?");
  return new RegExp(`^${escaped}$`);
}

/** The value of `-e`; null when all extensions are loaded. */
function chosenExtensions(words: readonly string[]): string[] | null {
  const chosen = words.flatMap((word, at) => {
    if (word === "-e" || word === "--extensions") return words[at + 1] ?? "";
    return /^(?:--extensions=|-e=?(?=[^-]))(.*)$/s.exec(word)?.[1] ?? [];
  });
  if (chosen.length === 0) return null;
  return chosen.flatMap((value) => value.split(",")).map((name) => name.trim().toLowerCase());
}

function at(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function listAt(value: unknown, path: readonly string[]): string[] {
  const found = at(value, path);
  return Array.isArray(found) ? found.filter((one): one is string => typeof one === "string") : [];
}

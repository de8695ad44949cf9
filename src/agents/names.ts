// Agent names: the one spelling. Pure, without a library: hooks load it.

/** The one spelling of a name: trimmed, lower case, hyphens. */
export function normalizeAgentName(name: string): string {
  return name.trim().toLowerCase().replaceAll("_", "-");
}

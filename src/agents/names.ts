// Agent names and their canonical form. Pure, without a library, because hooks load it.

/** The canonical form of a name: trimmed, lower case, hyphens. */
export function normalizeAgentName(name: string): string {
  return name.trim().toLowerCase().replaceAll("_", "-");
}

// Reads values of unknown shape. Nothing here throws, whatever a file contains.

/** The object in a JSON text; undefined when it is not an object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The value itself when it is an object, otherwise an empty object. */
export function objectOf(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {};
}

/** One value or many, as a list; empty for undefined. */
export function listOf(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** A string that is not blank. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Values of unknown shape, looked at without trust. Nothing here throws for what a file holds.

/** The object that a JSON text holds; undefined when it holds none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The value itself when it is an object, else an empty one. */
export function objectOf(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {};
}

/** One value or many, as a list; none for undefined. */
export function listOf(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** A text with something in it. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

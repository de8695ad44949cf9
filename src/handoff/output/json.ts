// Parses JSON and returns undefined instead of throwing. The shape of the value is not checked here.

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

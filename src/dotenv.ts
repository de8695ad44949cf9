// Reads an env file exactly as the dotenv library in Gemini CLI does, so that Maestro knows which values the CLI loads from it.

/** Parses a file as dotenv does, which the CLI uses. */
export function parseDotenv(text: string): Map<string, string> {
  const line =
    /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;
  const values = new Map<string, string>();
  for (const [, name, given = ""] of text.replace(/\r\n?/g, "\n").matchAll(line)) {
    const raw = given.trim();
    const value = raw.replace(/^(['"`])([\s\S]*)\1$/gm, "$2");
    values.set(name ?? "", raw.startsWith('"') ? value.replace(/\\n/g, "\n").replace(/\\r/g, "\r") : value);
  }
  return values;
}

// Splits several values on one line: `a, b`, `["a", "b"]`, `[a, b]`.
import { stripControls } from "../../text.ts";
import { parseJson } from "../output/json.ts";

/** The elements of a bracketed list in JSON or YAML flow style; null when the text is not such a list. */
export function bracketed(text: string): string[] | null {
  const list = text.endsWith(",") ? text.slice(0, -1).trimEnd() : text;
  if (!list.startsWith("[") || !list.endsWith("]")) return null;
  const parsed = parseJson(list);
  // JSON strings may hold escaped control characters that were only stripped in raw form.
  if (Array.isArray(parsed)) return parsed.filter((one) => typeof one === "string").map((one) => stripControls(one));
  if (list.indexOf("]") < list.length - 1) return null;
  return splitList(list.slice(1, -1)).map((one) => one.replace(/^(["'])(.*)\1$/u, "$2"));
}

const closers: Record<string, string> = { "`": "`", '"': '"', "(": ")", "[": "]" };

/** Splits at commas and semicolons that are not inside code, quotation marks or brackets. */
export function splitList(text: string): string[] {
  const pieces: string[] = [];
  const lastCloser = new Map(Object.values(closers).map((closer) => [closer, text.lastIndexOf(closer)]));
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "," || char === ";") {
      pieces.push(text.slice(from, at).trim());
      from = at + 1;
      continue;
    }
    const closer = closers[char];
    if (closer !== undefined && at < (lastCloser.get(closer) ?? -1)) at = text.indexOf(closer, at + 1);
  }
  pieces.push(text.slice(from).trim());
  return pieces.filter((piece) => piece !== "");
}

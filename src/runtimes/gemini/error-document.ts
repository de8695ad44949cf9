// Reads the error that Gemini CLI prints as JSON: on stderr between warnings and stack traces, with the provider's own error nested inside.
import { parseJson } from "../../handoff/output/json.ts";
import { findDocument } from "../../handoff/output/json-document.ts";
import { isObject } from "../../shape.ts";
import { stripControls } from "../../text.ts";

export interface ErrorDocument {
  type: string;
  /** The innermost message, from the provider or the CLI. */
  message: string;
  /** As printed; hints on when to retry may be nested deep inside. */
  raw: string;
  /** The HTTP status, if the error names one. */
  status: number | null;
  stats: unknown;
}

/** The last object with an `error`; the CLI may print it twice, the second time after a tag. */
export function errorOnStderr(stderr: string): ErrorDocument | null {
  const text = stripControls(stderr).replace(/^\[[A-Z]+\][ \t]+(?=\{)/gm, "");
  const { document } = findDocument(text, ["error"]);
  return document === null ? null : errorIn(document);
}

/** The `error` of a document; null when it has none. */
export function errorIn(document: Record<string, unknown>): ErrorDocument | null {
  const { error, stats } = document;
  if (error === undefined || error === null || error === false) return null;
  const { type, code, message } = isObject(error) ? error : { type: undefined, code: undefined, message: error };
  const raw = typeof message === "string" ? message : (JSON.stringify(message) ?? "");
  const inner = unpack(raw);
  return {
    type: typeof type === "string" ? type : "",
    message: stripControls(inner.message).trim(),
    raw,
    status: httpStatus(code) ?? inner.status,
    stats,
  };
}

/** A provider's error is JSON inside a message inside JSON; three layers have been seen. In a stream the CLI adds a frame and advice of its own. */
function unpack(text: string): { message: string; status: number | null } {
  let message = /^\[API Error: ([\s\S]*)\](?:\n[^\]]*)?$/.exec(text)?.[1] ?? text;
  let status: number | null = null;
  for (let layer = 0; layer < 3; layer++) {
    const parsed = parseJson(message);
    const value = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isObject(value) || !isObject(value.error) || typeof value.error.message !== "string") break;
    status = httpStatus(value.error.code) ?? status;
    const name = typeof value.error.status === "string" ? ` (${value.error.status})` : "";
    const isPacked = isObject(parseJson(value.error.message));
    message = isPacked ? value.error.message : value.error.message + name;
  }
  return { message, status };
}

function httpStatus(code: unknown): number | null {
  const number = typeof code === "string" && /^[45]\d\d$/.test(code) ? Number(code) : code;
  return typeof number === "number" && Number.isInteger(number) && number >= 400 && number < 600 ? number : null;
}

// Classifies why an attempt failed, and names the types that a session records.

/** The types of a session's errors (decision C45). */
export const errorTypes = ["validation", "timeout", "file_conflict", "runtime", "dependency", "quota"] as const;
export type ErrorType = (typeof errorTypes)[number];

/** A failed sign-in is known as such until it is recorded, because another attempt would fail the same way. */
export const errorClasses = [...errorTypes, "auth"] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** The type that is recorded and shown. Journals of earlier versions have the seventh one. */
export function recordedType(one: ErrorClass): ErrorType {
  return one === "auth" ? "runtime" : one;
}

export interface OutputFailure {
  /** An HTTP status, an exit code or a status name, as the runtime reported it. */
  readonly code?: unknown;
  /** The class of the error. */
  readonly type?: unknown;
  readonly message?: unknown;
  readonly exitCode?: number | null;
}

/** Gemini CLI exits with the HTTP status mod 256 (429 is 173, 401 is 145), 41 for authentication; `timeout` exits with 124. */
const codes = new Map<string, ErrorClass>([
  ["429", "quota"],
  ["173", "quota"],
  ["401", "auth"],
  ["145", "auth"],
  ["41", "auth"],
  ["124", "timeout"],
]);

/** Patterns in the message, in order of precedence. */
const signs: [RegExp, ErrorClass][] = [
  [/RESOURCE_EXHAUSTED|quota|rate.?limit|too many requests|(?:status|code|http)\W{0,4}429\b/i, "quota"],
  [/UNAUTHENTICATED|FatalAuthentication|unauthori[sz]ed|API key not valid|(?:status|code|http)\W{0,4}401\b/i, "auth"],
  [/timed[ -]?out|time-?out|DEADLINE_EXCEEDED/i, "timeout"],
];

/** Null only for exit code 0 without an error code; an unrecognised failure is `runtime`. */
export function errorTypeOf(failure: OutputFailure): ErrorClass | null {
  const { code, type, message, exitCode } = failure;
  if (exitCode === 0 && code === undefined) return null;

  const known = errorClasses.find((one) => one === type);
  const byCode = (typeof code === "object" ? undefined : codes.get(String(code))) ?? codes.get(String(exitCode));
  if (known !== undefined || byCode !== undefined) return known ?? byCode ?? null;
  const text = [code, type, message].filter((part) => typeof part === "string").join("\n");
  return signs.find(([sign]) => sign.test(text))?.[1] ?? "runtime";
}

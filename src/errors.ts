// The one error class for everything Maestro cannot do: bad usage, bad environment, bad state. A failed agent is never an error; it is an
// Outcome.

/** What kind of error it is; exit-codes.ts says what the command exits with. */
export type ErrorCode =
  | "usage"
  | "invalid_plan"
  | "config"
  | "environment"
  | "path"
  | "not_found"
  | "conflict"
  | "illegal_transition"
  | "no_session"
  | "parse_failed"
  | "locked"
  | "io";

export class MaestroError extends Error {
  /** Compares by name, because each bundled part of a hook has its own copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "MaestroError";
  }

  readonly code: ErrorCode;
  /** What the user can do about it; printed on its own line. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "MaestroError";
    this.code = code;
    this.hint = options.hint;
  }
}

/** The errno of a system error, such as "ENOENT"; undefined for anything else. */
export function errno(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof MaestroError || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const reasons: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
  ENOSPC: "no space left on device",
  EDQUOT: "disk quota exceeded",
  EMFILE: "too many open files",
  ENFILE: "too many open files in the system",
  ENOTDIR: "a component of the path is not a directory",
  EEXIST: "a file with that name already exists",
  EISDIR: "it is a directory",
  ENOENT: "no such file or directory",
  ELOOP: "a component of the path is a symbolic link",
  ENAMETOOLONG: "the name is too long",
  EFBIG: "file size limit exceeded",
  EIO: "input/output error",
};

/** One phrase for a system error: "permission denied (EACCES)". */
export function reasonOf(error: unknown): string {
  const code = errno(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  return `${reasons[code] ?? "system error"} (${code})`;
}

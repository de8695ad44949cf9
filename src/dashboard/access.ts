// Which page may use the dashboard: a code that works once, exchanged for a token that only the page keeps. Both are in memory alone: never
// in a file, an address, a log or an environment. Pure apart from the comparison; randomness and time are parameters.

import { createHash, timingSafeEqual } from "node:crypto";

const MAX_LOGINS = 10;
const LOGIN_WINDOW_MS = 60_000;
/** No letter that looks like a digit: a person may have to type the code. */
const letters = "abcdefghjkmnpqrstuvwxyz23456789";
const CODE_LENGTH = 16;
const BYTE_VALUES = 256;

export type Login = { token: string } | "refused" | "too_many";

export class Access {
  readonly #random: (bytes: number) => Buffer;
  readonly #now: () => number;
  /** Hashes, so that the comparison does not reveal the length of the secret. */
  #code: Buffer | null = null;
  readonly #tokens: Buffer[] = [];
  #logins: number[] = [];

  constructor(random: (bytes: number) => Buffer, now: () => number) {
    this.#random = random;
    this.#now = now;
  }

  /** A new code; an unused one before it works no more. */
  newCode(): string {
    let code = "";
    while (code.length < CODE_LENGTH) {
      for (const byte of this.#random(CODE_LENGTH)) {
        // Bytes above the last full round would make some letters likelier.
        if (byte < BYTE_VALUES - (BYTE_VALUES % letters.length) && code.length < CODE_LENGTH)
          code += letters[byte % letters.length];
      }
    }
    this.#code = digest(code);
    return code;
  }

  login(code: unknown): Login {
    const now = this.#now();
    this.#logins = this.#logins.filter((time) => now - time < LOGIN_WINDOW_MS);
    if (this.#logins.length >= MAX_LOGINS) return "too_many";
    this.#logins.push(now);
    const known = this.#code;
    if (typeof code !== "string" || known === null || !timingSafeEqual(digest(code), known)) return "refused";
    this.#code = null;
    const token = this.#random(32).toString("base64url");
    this.#tokens.push(digest(token));
    return { token };
  }

  /** Whether the header is `Bearer <token>` with a token that was given out. */
  allows(authorization: string | undefined): boolean {
    const token = /^Bearer ([\w-]{43})$/.exec(authorization ?? "")?.[1];
    if (token === undefined) return false;
    const given = digest(token);
    return this.#tokens.some((known) => timingSafeEqual(given, known));
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

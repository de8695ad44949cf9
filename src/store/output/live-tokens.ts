// The tokens of a running conversation of Gemini CLI, from its transcript: its own output reports them only at its end.
// Never writes, and keeps no text. Best effort: a missing or strange transcript means that nothing is known.

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { errno } from "../../errors.ts";
import type { ModelTokens } from "../../handoff/output/tokens.ts";
import { messageTokens } from "../../handoff/output/transcript.ts";

const CHUNK_BYTES = 512 * 1024;
const EVERY_MS = 2000;
const LINE_BREAK = 0x0a;

export class LiveTokens {
  readonly #directory: string;
  #path: string | undefined;
  #position = 0;
  #next = 0;
  /** A message is written again when its tool calls have ended. */
  readonly #byMessage = new Map<string, ModelTokens>();
  readonly #everyMs: number;

  /** `home`: the directory that Gemini CLI uses as the user's home. `everyMs`: the files are looked at this often at most. */
  constructor(home: string, everyMs = EVERY_MS) {
    this.#directory = join(home, ".gemini", "tmp");
    this.#everyMs = everyMs;
  }

  /** What each answer of the model used so far. */
  get answers(): ModelTokens[] {
    return [...this.#byMessage.values()];
  }

  /** All tokens so far; null when none are known. */
  read(conversation: string, now = performance.now()): number | null {
    if (now >= this.#next) {
      this.#path ??= orNothing(() => transcriptOf(this.#directory, conversation));
      if (this.#path !== undefined) this.#readOn(this.#path);
      this.#next = now + this.#everyMs;
    }
    if (this.#byMessage.size === 0) return null;
    return this.answers.reduce((sum, { input, output, thoughts }) => sum + input + output + thoughts, 0);
  }

  #readOn(path: string): void {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    const fd = orNothing(() => openSync(path, flags));
    if (fd === undefined) return;
    try {
      if (!fstatSync(fd).isFile()) return;
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      for (let count = CHUNK_BYTES; count === CHUNK_BYTES; ) {
        count = readSync(fd, chunk, 0, CHUNK_BYTES, this.#position);
        const end = chunk.subarray(0, count).lastIndexOf(LINE_BREAK) + 1;
        this.#add(chunk.toString("utf8", 0, end));
        // A longer line repeats a message with the results of its tools.
        this.#position += end === 0 && count === CHUNK_BYTES ? count : end;
      }
    } finally {
      closeSync(fd);
    }
  }

  #add(lines: string): void {
    for (const line of lines.split("\n")) {
      const message = messageTokens(line);
      if (message !== null) this.#byMessage.set(message.id, message.used);
    }
  }
}

/** `tmp/<project>/chats/session-<time>-<first characters of the id>.jsonl`. */
function transcriptOf(directory: string, conversation: string): string | undefined {
  const ending = `-${conversation.slice(0, 8)}.jsonl`;
  for (const project of readdirSync(directory)) {
    const chats = join(directory, project, "chats");
    const name = orNothing(() => readdirSync(chats))?.find((one) => one.startsWith("session-") && one.endsWith(ending));
    if (name !== undefined) return join(chats, name);
  }
  return undefined;
}

/** Gemini CLI may remove its files at any time. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

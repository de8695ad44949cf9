// Handles unreadable bytes in the journal and the view: keeps copies of them and reports them. Never drops bytes without a warning.

import { type Directory, ioError } from "../../disk/contained.ts";
import { isTemporary, readRegular, shownPath } from "../../disk/durable.ts";
import { hasLitter, isAbandoned, LOCK_FILE } from "../../disk/lock.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { JudgeChange } from "../driven.ts";
import { drivingEngine } from "../engine-lock.ts";
import { inState, type StateLocation } from "../location.ts";
import { keepCopy, MAX_VIEW_BYTES } from "../view/view-file.ts";
import { manifest } from "../workspace.ts";
import type { Journal } from "./journal.ts";
import { JOURNAL_FILE } from "./journal-file.ts";
import { hasQuarantined } from "./quarantined.ts";
import type { Decoded, JournalFault } from "./record.ts";

interface Teller {
  now: () => Date;
  warn: (message: string) => void;
}

/**
 * Under the lock: truncates the journal after the last complete change. Garbage is copied aside; an interrupted write is dropped, because it
 * was never acknowledged.
 */
export function dropTail(directory: Directory, journal: Journal, tail: Decoded["tail"], { now, warn }: Teller): void {
  if (tail.kind === "none") return;
  const where = `line ${tail.line} of ${shownPath(directory, JOURNAL_FILE)}`;
  if (tail.kind === "garbage") {
    const kept = keepCopy(directory, JOURNAL_FILE, "corrupt", now(), journal.readTail(directory));
    warn(
      `Dropped an unreadable record at the end of the journal (${where}); its bytes are in ${shownPath(directory, kept)}`,
    );
  } else {
    warn(`Dropped an unfinished record at the end of the journal (${where}): a write was interrupted`);
  }
  journal.cutTail(directory);
}

/**
 * Under the lock: truncates a tail that a killed engine had copied to quarantine but not yet cut off. A process without a judge leaves that
 * to the next one.
 */
export function finishQuarantine(
  directory: Directory,
  journal: Journal,
  { now, warn, judgeChange }: Teller & { judgeChange?: JudgeChange },
): void {
  if (judgeChange === undefined || !hasQuarantined(directory) || drivingEngine(directory) !== undefined) return;
  journal.finishQuarantine(directory, now(), { judge: judgeChange, now, warn });
}

/** Copies the file, so that no repair can lose it; the file itself stays. Returns the copy's path, or null when it cannot be copied. */
export function keepBroken(directory: Directory, file: string, { now, warn }: Teller): string | null {
  if (directory.lstat(file)?.isFile() !== true) return null;
  try {
    const bytes = readRegular(directory, file, MAX_VIEW_BYTES);
    return bytes === undefined ? null : shownPath(directory, keepCopy(directory, file, "corrupt", now(), bytes));
  } catch (error) {
    warn(ioError("keep a copy of", shownPath(directory, file), error).message);
    return null;
  }
}

export function faultReason(directory: Directory, fault: JournalFault): string {
  const where = shownPath(directory, JOURNAL_FILE);
  return fault.line === 0 ? `${where}: ${fault.reason}` : `line ${fault.line} of ${where}: ${fault.reason}`;
}

export function brokenHint(kept: string | null): string {
  const copy = kept === null ? "" : `The bytes are kept in ${kept}. `;
  return `${copy}Run "maestro doctor" to see what can be done.`;
}

/** Whether killed writers left temporary files, locks or quarantine copies in the state tree. */
export function hasLeftovers(location: StateLocation, state: Directory): boolean {
  if (hasLitter(state, LOCK_FILE) || isAbandoned(state, LOCK_FILE) || hasQuarantined(state)) return true;
  return manifest.some((path) => {
    try {
      return inState(location, path, (each) => each.list().some(isTemporary)) === true;
    } catch (error) {
      // A process that cannot list the directory cannot clean it either, and does not need it to read the session.
      if (error instanceof MaestroError && ["EACCES", "EPERM"].includes(errno(error.cause) ?? "")) return false;
      throw error;
    }
  });
}

export function stateGone(location: StateLocation): MaestroError {
  return new MaestroError("environment", `The state directory has disappeared: ${location.shown}/state`, {
    hint: "It was moved or deleted while in use. Nothing was written.",
  });
}

// Keeps active-session.md up to date with the session: remembers the file it saw last, reviews an edited one, renders the next.

import type { Stats } from "node:fs";
import type { Directory } from "../../disk/contained.ts";
import { shownPath } from "../../disk/durable.ts";
import type { PhaseId } from "../../ids.ts";
import type { SessionEvent } from "../../session/events.ts";
import type { Session } from "../../session/session.ts";
import { VIEW_FILE } from "../journal/journal-file.ts";
import {
  inspectView,
  keepCopy,
  markedSeq,
  type PhaseTexts,
  setAside,
  type ViewOnDisk,
  writeView,
} from "./view-file.ts";

/** The result of reviewing an edited view: no change, an event, or a rejection. `keep`: the file holds text that a rendering would lose. */
export type ViewReview =
  | { kind: "same"; keep: boolean }
  | { kind: "adopt"; event: SessionEvent; keep: boolean }
  | { kind: "refused"; reasons: string[] };

/** The session as it was after record `seq`. */
export type SessionAt = (seq: number) => Session | undefined;

export interface ViewOptions {
  now: () => Date;
  warn: (message: string) => void;
  /** Reviews an edited view. Without it (hooks) the view is left for the next process that has a reviewer. */
  review?: (session: Session | undefined, text: string, sessionAt: SessionAt) => ViewReview;
}

export type ViewVerdict =
  | { kind: "fine" }
  /** `wasOurs`: Maestro rendered the view once, so there was a journal. */
  | { kind: "adopt"; event: SessionEvent; wasOurs: boolean }
  | { kind: "broken"; reason: string };

/** A view waits this many times as long as its rendering takes, up to a limit. */
const DELAY_FACTOR = 20;
const MOST_DELAY_MS = 2000;

export class ViewKeeper {
  readonly #options: ViewOptions;
  /** Why edits are not adopted now; undefined when they are. */
  readonly #unadopted: (directory: Directory) => string | undefined;
  /** The stamp of the view when it was last read or rendered, and the record it showed. */
  #stamp = "";
  #seq = -1;
  /** The stamp of the file inspected last: only that file may be overwritten. */
  #judged = "";
  /** This process cannot review the edited view on disk, so it must not overwrite it. */
  #unjudged = false;
  readonly #texts: PhaseTexts = new Map();
  /** Milliseconds that the last rendering took. */
  #drawingMs = 0;

  constructor(options: ViewOptions, unadopted: (directory: Directory) => string | undefined) {
    this.#options = options;
    this.#unadopted = unadopted;
  }

  /** True when the view shows the session, or both are absent: nothing to review and nothing to render. */
  isCurrent(directory: Directory, session: Session | undefined): boolean {
    const view = this.#look(directory, session);
    const foreign = view !== undefined && view.kind !== "none" && !isBehind(view, session);
    if (foreign && this.#options.review === undefined) return true;
    return session === undefined ? view?.kind === "none" : !foreign && this.#seq === session.seq;
  }

  /** Under the lock: reviews an edited view. A rejected one is moved aside, or stays in place without a session. */
  review(directory: Directory, session: Session | undefined, sessionAt: SessionAt): ViewVerdict {
    const view = this.#look(directory, session);
    const { review } = this.#options;
    this.#unjudged = false;
    if (view === undefined || view.kind === "none" || isBehind(view, session)) return { kind: "fine" };
    if (review === undefined) {
      this.#unjudged = true;
      return { kind: "fine" };
    }
    const found = view.kind === "unreadable" ? refusal(view.reason) : review(session, view.text, sessionAt);
    const against = found.kind === "same" ? undefined : this.#unadopted(directory);
    const verdict =
      against === undefined ? found : refusal(...(found.kind === "refused" ? found.reasons : []), against);
    const shown = shownPath(directory, VIEW_FILE);
    if (view.kind === "ours" && session !== undefined && against === undefined) {
      this.#options.warn(
        `The journal ends at record ${session.seq}, but ${shown} shows record ${view.seq}: records were lost, and the session is restored from the view`,
      );
    }
    this.forget();
    if (verdict.kind === "refused") {
      const reason = verdict.reasons.join("; ");
      if (session === undefined) return { kind: "broken", reason: `${shown}: ${reason}` };
      const kept = setAside(directory, VIEW_FILE, "corrupt", this.#options.now());
      this.#judged = "none";
      this.#options.warn(
        `${shown} was edited and cannot be adopted: ${reason}. It is kept as ${kept}; the view was rebuilt`,
      );
      return { kind: "fine" };
    }
    if (verdict.keep && view.kind !== "unreadable") {
      const kept = keepCopy(directory, VIEW_FILE, "edited", this.#options.now(), Buffer.from(view.text));
      this.#options.warn(`${shown} contains added text, which the next rendering drops; a copy is kept as ${kept}`);
    }
    if (verdict.kind === "same" || view.kind === "unreadable") return { kind: "fine" };
    return { kind: "adopt", event: verdict.event, wasOurs: markedSeq(view.text) !== undefined };
  }

  /** Under the lock, after `review`. False when the file has changed since: it must be reviewed first. */
  draw(directory: Directory, session: Session | undefined): boolean {
    if (session === undefined || session.seq === this.#seq || this.#unjudged) return true;
    const began = performance.now();
    const drawn = writeView(
      directory,
      session,
      this.#texts,
      () => stampOf(directory.lstat(VIEW_FILE)) === this.#judged,
    );
    this.#drawingMs = performance.now() - began;
    if (drawn === undefined) return false;
    this.#stamp = this.#judged = stampOf(drawn);
    this.#seq = session.seq;
    return true;
  }

  /** How long the next rendering may wait: a large view must not take much of the engine's time. */
  delay(leastMs: number): number {
    return Math.max(leastMs, Math.min(MOST_DELAY_MS, DELAY_FACTOR * this.#drawingMs));
  }

  /** An event changed the session: what it may have changed is rendered again. */
  note(event: SessionEvent): void {
    if (/^(?:phase|attempt|handoff)\./.test(event.type) && "phase" in event) this.#texts.delete(event.phase as PhaseId);
    else this.#texts.clear();
  }

  forget(): void {
    this.#stamp = "";
    this.#seq = -1;
  }

  /** Reads the view; undefined when it is the file seen last. */
  #look(directory: Directory, session: Session | undefined): ViewOnDisk | undefined {
    const stamp = stampOf(directory.lstat(VIEW_FILE));
    this.#judged = stamp;
    if (stamp === this.#stamp) return undefined;
    const view = inspectView(directory);
    if (view.kind === "ours" && isBehind(view, session)) {
      this.#stamp = stamp;
      this.#seq = view.seq;
    }
    return view;
  }
}

/**
 * Whether the view is Maestro's rendering of the session's present or an earlier state. A view ahead of the journal, or without one, is
 * not: records were lost, and the view still holds their content.
 */
function isBehind(view: ViewOnDisk, session: Session | undefined): boolean {
  return view.kind === "ours" && session !== undefined && view.seq <= session.seq;
}

/** Leaves out the change time, because a rename sets it. */
function stampOf(stat: Stats | undefined): string {
  return stat === undefined ? "none" : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

function refusal(...reasons: string[]): ViewReview {
  return { kind: "refused", reasons };
}

// Keeps active-session.md in step with the session: knows which file it last saw, judges a foreign one, draws the next.

import type { Stats } from "node:fs";
import type { Directory } from "../../disk/contained.ts";
import { shownPath } from "../../disk/durable.ts";
import type { SessionEvent } from "../../session/events.ts";
import type { Session } from "../../session/session.ts";
import { VIEW_FILE } from "../journal/journal-file.ts";
import { inspectView, keepCopy, markedSeq, setAside, type ViewOnDisk, writeView } from "./view-file.ts";

/** What a foreign view amounts to: nothing new, an event, or something that is not for us. `keep`: it holds text of its own. */
export type ViewReview =
  | { kind: "same"; keep: boolean }
  | { kind: "adopt"; event: SessionEvent; keep: boolean }
  | { kind: "refused"; reasons: string[] };

/** The session as it was after record `seq`. */
export type SessionAt = (seq: number) => Session | undefined;

export interface ViewOptions {
  now: () => Date;
  warn: (message: string) => void;
  /** Judges a view that somebody else wrote. Without it (hooks) such a view is left for the next process that has it. */
  review?: (session: Session | undefined, text: string, sessionAt: SessionAt) => ViewReview;
}

export type ViewVerdict =
  | { kind: "fine" }
  /** `wasOurs`: it was drawn by Maestro once, so there was a journal. */
  | { kind: "adopt"; event: SessionEvent; wasOurs: boolean }
  | { kind: "broken"; reason: string };

export class ViewKeeper {
  readonly #options: ViewOptions;
  /** Why no edit is adopted now, if none is. */
  readonly #unadopted: (directory: Directory) => string | undefined;
  /** The file as it was when we last looked at it or drew it, and what it showed. */
  #stamp = "";
  #seq = -1;
  /** The file that was looked at last: only that one may be drawn over. */
  #judged = "";
  /** There is a view that nobody here can judge: it must not be drawn over. */
  #unjudged = false;

  constructor(options: ViewOptions, unadopted: (directory: Directory) => string | undefined) {
    this.#options = options;
    this.#unadopted = unadopted;
  }

  /** True when the view shows the session, or both are absent: nothing to judge and nothing to draw. */
  isCurrent(directory: Directory, session: Session | undefined): boolean {
    const view = this.#look(directory, session);
    const foreign = view !== undefined && view.kind !== "none" && !isBehind(view, session);
    if (foreign && this.#options.review === undefined) return true;
    return session === undefined ? view?.kind === "none" : !foreign && this.#seq === session.seq;
  }

  /** Under the lock: judges a view that is not ours. What is not adopted is kept aside, or stays where it is. */
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
        `The journal ends at record ${session.seq}, but ${shown} has seen ${view.seq}: records were lost, and what the view tells is taken over`,
      );
    }
    this.forget();
    if (verdict.kind === "refused") {
      const reason = verdict.reasons.join("; ");
      if (session === undefined) return { kind: "broken", reason: `${shown}: ${reason}` };
      const kept = setAside(directory, VIEW_FILE, "corrupt", this.#options.now());
      this.#judged = "none";
      this.#options.warn(
        `${shown} was changed by hand and cannot be adopted: ${reason}. It is kept as ${kept}; the view was rebuilt`,
      );
      return { kind: "fine" };
    }
    if (verdict.keep && view.kind !== "unreadable") {
      const kept = keepCopy(directory, VIEW_FILE, "edited", this.#options.now(), Buffer.from(view.text));
      this.#options.warn(
        `${shown} holds text of its own, which the next rendering does not; a copy is kept as ${kept}`,
      );
    }
    if (verdict.kind === "same" || view.kind === "unreadable") return { kind: "fine" };
    return { kind: "adopt", event: verdict.event, wasOurs: markedSeq(view.text) !== undefined };
  }

  /** Under the lock, after `review`. False when somebody wrote the view meanwhile: it has to be judged first. */
  draw(directory: Directory, session: Session | undefined): boolean {
    if (session === undefined || session.seq === this.#seq || this.#unjudged) return true;
    const drawn = writeView(directory, session, () => stampOf(directory.lstat(VIEW_FILE)) === this.#judged);
    if (drawn === undefined) return false;
    this.#stamp = this.#judged = stampOf(drawn);
    this.#seq = session.seq;
    return true;
  }

  forget(): void {
    this.#stamp = "";
    this.#seq = -1;
  }

  /** Reads the view only when it is not the file we saw last: undefined then. */
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
 * Our own rendering of the session as it is or was. One that is ahead of the journal, or without one, is not: records were lost, and
 * the view still tells what they said.
 */
function isBehind(view: ViewOnDisk, session: Session | undefined): boolean {
  return view.kind === "ours" && session !== undefined && view.seq <= session.seq;
}

/** Not the change time: a rename sets it. */
function stampOf(stat: Stats | undefined): string {
  return stat === undefined ? "none" : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

function refusal(...reasons: string[]): ViewReview {
  return { kind: "refused", reasons };
}

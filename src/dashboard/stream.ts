// Streams of records to pages: history first, then what is new. For a slow reader only its position is kept in memory.

import type { ServerResponse } from "node:http";
import { eventLine, type RecordFeed } from "./feed.ts";

/** Written at once; a browser reads it while the next one is prepared. */
const MAX_PIECE = 256 * 1024;
/** A comment, so that a dead connection is noticed. */
const HEARTBEAT_MS = 15_000;

/**
 * Sends the records of the active session after `seq`, until the page leaves or the session is archived. Returns when it is over.
 * `archived`: the lines after a record; the engine archives a session at once when it ends, so the feed may never see the last records.
 */
export function streamLive(
  answer: ServerResponse,
  feed: RecordFeed,
  seq: number,
  archived: (after: number) => readonly string[],
): Promise<void> {
  const { id } = feed;
  let sent = seq;
  let { epoch } = feed;
  let place = feed.placeAfter(seq);
  let sentLayout = "";
  let sentPulse = "";
  let isCaught = false;
  let isBlocked = false;
  let isOver = false;
  return new Promise((resolve) => {
    const heartbeat = setInterval(() => void answer.write(": \n\n"), HEARTBEAT_MS);
    const stop = feed.onChange(() => pump());
    const finish = () => {
      clearInterval(heartbeat);
      stop();
      resolve();
    };
    answer.once("close", finish);
    answer.on("drain", () => {
      isBlocked = false;
      pump();
    });
    const nextPiece = (): string => {
      if (feed.id !== id) return "";
      if (feed.epoch !== epoch) {
        epoch = feed.epoch;
        place = 0;
        sent = 0;
        sentLayout = "";
        return eventLine("reset");
      }
      let piece = "";
      while (place < feed.lines.length && piece.length < MAX_PIECE) {
        piece += feed.lines[place] ?? "";
        sent = feed.seqAt(place);
        place += 1;
      }
      if (place < feed.lines.length) return piece;
      const layout = feed.layoutLine();
      if (layout !== sentLayout) piece += layout;
      sentLayout = layout;
      if (feed.pulseLine !== sentPulse) piece += feed.pulseLine;
      sentPulse = feed.pulseLine;
      if (!isCaught) piece += eventLine("caught");
      isCaught = true;
      return piece;
    };
    const pump = () => {
      while (!isBlocked && !isOver) {
        const piece = nextPiece();
        if (piece !== "") isBlocked = !answer.write(piece);
        else if (feed.id === id) return;
        else {
          isOver = true;
          void streamArchived(answer, archived(sent), "");
        }
      }
    };
    pump();
  });
}

/** Sends the records of an archived session. */
export async function streamArchived(answer: ServerResponse, lines: readonly string[], layout: string): Promise<void> {
  let piece = "";
  for (const line of lines) {
    piece += line;
    if (piece.length < MAX_PIECE) continue;
    if (!answer.write(piece)) await drained(answer);
    if (answer.destroyed) return;
    piece = "";
  }
  answer.end(`${piece}${layout}${eventLine("end")}`);
}

function drained(answer: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    answer.once("drain", resolve);
    answer.once("close", resolve);
  });
}

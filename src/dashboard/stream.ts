// Streams of records to pages: history first, then what is new. A slow reader holds nothing in memory but its place.

import type { ServerResponse } from "node:http";
import { eventLine, type RecordFeed } from "./feed.ts";

/** Written at once; a browser reads it while the next one is prepared. */
const MAX_PIECE = 256 * 1024;
/** A comment, so that a dead connection is noticed. */
const HEARTBEAT_MS = 15_000;

/** Sends the records of the active session after `seq`, until the page leaves or the session ends. Returns when it is over. */
export function streamLive(answer: ServerResponse, feed: RecordFeed, seq: number): Promise<void> {
  const { id } = feed;
  let { epoch } = feed;
  let place = feed.placeAfter(seq);
  let sentLayout = "";
  let sentPulse = "";
  let isCaught = false;
  let isBlocked = false;
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
        sentLayout = "";
        return eventLine("reset");
      }
      let piece = "";
      while (place < feed.lines.length && piece.length < MAX_PIECE) {
        piece += feed.lines[place] ?? "";
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
      while (!isBlocked && !answer.writableEnded) {
        const piece = nextPiece();
        if (piece !== "") isBlocked = !answer.write(piece);
        else if (feed.id === id) return;
        // The session was archived: all of it is in the archive, and nothing follows.
        else answer.end(eventLine("end"));
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

// Replay: moves through the records of the session. Everything on the page is the session at that moment.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { TimedEvent } from "../../session/fold.ts";
import { progressLine } from "../../views/live/progress.ts";
import { connection, frame, go, replay, route, version } from "../app/state.ts";

const SPEEDS = [1, 5, 10, 20, 50];
/** A pause in the session is played at most this long. */
const LONGEST_PAUSE_MS = 1500;
const speed = signal(10);
const isPlaying = signal(false);

export function ReplayBar() {
  version.value;
  const now = frame.value;
  useEffect(() => play(), [isPlaying.value, speed.value]);
  if (now === null) return null;
  const total = replay.records.length;
  const record = replay.records[now.count - 1];
  const text = record === undefined ? "" : (progressLine(record, now.session) ?? plainName(record));
  const isReport = connection.value === "report";
  return (
    <section class="replay" aria-label="Replay">
      <button
        type="button"
        class="play"
        aria-label={isPlaying.value ? "Pause" : "Play"}
        onClick={() => {
          if (!isPlaying.value && (now.isLive || now.count >= total)) moveTo(1);
          isPlaying.value = !isPlaying.value;
        }}
      >
        {isPlaying.value ? "❚❚" : "▶"}
      </button>
      <select
        aria-label="Speed"
        value={String(speed.value)}
        onChange={({ currentTarget }) => {
          speed.value = Number(currentTarget.value);
        }}
      >
        {SPEEDS.map((one) => (
          <option key={one} value={one}>
            {one}×
          </option>
        ))}
      </select>
      <input
        type="range"
        min={1}
        max={Math.max(1, total)}
        value={now.count}
        aria-label="Moment of the session"
        aria-valuetext={`Record ${now.count} of ${total}: ${text}`}
        onInput={({ currentTarget }) => {
          isPlaying.value = false;
          moveTo(Number(currentTarget.value));
        }}
      />
      <span class="moment">
        <span class="seq">
          #{record?.seq ?? 0}/{replay.records.at(-1)?.seq ?? 0}
        </span>
        <span class="moment-text">{text}</span>
      </span>
      <button
        type="button"
        class={now.isLive ? "live on" : "live"}
        aria-pressed={now.isLive}
        onClick={() => {
          isPlaying.value = false;
          go({ seq: null }, true);
        }}
      >
        {isReport ? "End" : "Live"}
      </button>
    </section>
  );
}

/** "phase 3: handed off", of a record that the live table of a terminal does not show. */
function plainName(record: TimedEvent): string {
  const words = record.type.replaceAll(/[._]/g, " ");
  return "phase" in record && record.phase !== undefined
    ? `phase ${record.phase}: ${words.replace(/^phase /, "")}`
    : words;
}

/** The last record is the present, which follows new records. */
function moveTo(count: number): void {
  const seq = count >= replay.records.length ? null : (replay.records[count - 1]?.seq ?? null);
  if (seq !== route.value.seq) go({ seq }, true);
}

/** Plays the records with the distances they had, faster; returns the function that stops it. */
function play(): () => void {
  if (!isPlaying.value) return () => undefined;
  let timer: ReturnType<typeof setTimeout>;
  const step = () => {
    const { seq } = route.value;
    const count = seq === null ? replay.records.length : replay.countOf(seq);
    const [here, next] = [replay.records[count - 1], replay.records[count]];
    if (here === undefined || next === undefined) {
      isPlaying.value = false;
      return;
    }
    const pause = (Date.parse(next.ts) - Date.parse(here.ts)) / speed.value;
    timer = setTimeout(
      () => {
        moveTo(count + 1);
        step();
      },
      Math.min(LONGEST_PAUSE_MS, Math.max(16, pause)),
    );
  };
  step();
  return () => clearTimeout(timer);
}

// The log of an attempt: followed while it grows, searched, copied and saved as a whole. Its text comes from an agent: text nodes only.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { attemptPath, getText } from "../app/api.ts";
import { frame, go, route, sessionId } from "../app/state.ts";
import { styledLine } from "../model/ansi.ts";
import { LogText } from "../model/log-text.ts";
import { type LogPart, logParts } from "../model/route.ts";
import { copy, download, Rows } from "../view/parts.tsx";

const POLL_MS = 700;
const LINE_HEIGHT = 18;
const MAX_HITS = 10_000;

export function LogOf({ phase, attempt }: { phase: string; attempt: number }) {
  const { part } = route.value;
  const log = useMemo(() => new LogText(), [part]);
  const changes = useSignal(0);
  const query = useSignal("");
  const hit = useSignal(0);
  const isAtEnd = useSignal(true);
  const problem = useSignal("");
  const session = sessionId.value;
  useEffect(() => {
    const stop = new AbortController();
    changes.value = 0;
    problem.value = "";
    void follow(log, pathOf(session, phase, attempt, part), stop.signal, () => {
      changes.value += 1;
    }).then((error) => {
      if (!stop.signal.aborted) problem.value = error;
    });
    return () => stop.abort();
  }, [log]);
  changes.value;
  const hits = useMemo(() => log.search(query.value, MAX_HITS), [query.value, changes.value]);
  const found = hits[Math.min(hit.value, hits.length - 1)] ?? null;
  const linked = route.value.line === null ? null : route.value.line - 1;
  return (
    <div class="log">
      <LogTools log={log} name={`phase-${phase}-attempt-${attempt}`} query={query} hit={hit} hits={hits} />
      {log.lines === 0 ? (
        <p class="empty">{problem.value || (isRunning(phase, attempt) ? `No ${part} yet.` : `No ${part} recorded.`)}</p>
      ) : (
        <Rows
          class="log-lines"
          label={`Log of attempt ${attempt}, ${log.lines} lines`}
          count={log.lines}
          height={LINE_HEIGHT}
          target={found ?? linked}
          isFollowing={isAtEnd.value && found === null && linked === null}
          onEnd={(isThere) => {
            isAtEnd.value = isThere;
          }}
          row={(at) => <Line key={at} log={log} at={at} isMarked={at === (found ?? linked)} />}
        />
      )}
    </div>
  );
}

interface LogToolsProps {
  log: LogText;
  /** Of the saved file. */
  name: string;
  query: Signal<string>;
  /** Which of the hits is shown. */
  hit: Signal<number>;
  hits: readonly number[];
}

function LogTools({ log, name, query, hit, hits }: LogToolsProps) {
  const { part } = route.value;
  const move = (by: number) => {
    if (hits.length > 0) hit.value = (hit.value + by + hits.length) % hits.length;
  };
  return (
    <div class="tools">
      <select
        aria-label="Which output"
        value={part}
        onChange={({ currentTarget }) => go({ part: currentTarget.value as LogPart, line: null }, true)}
      >
        {logParts.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <input
        type="search"
        placeholder="Search the log"
        aria-label="Search the log"
        value={query.value}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value;
          hit.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") move(event.shiftKey ? -1 : 1);
        }}
      />
      {query.value !== "" && (
        <span class="dim" role="status">
          {hits.length === 0
            ? "not found"
            : `${Math.min(hit.value, hits.length - 1) + 1} of ${hits.length}${hits.length === MAX_HITS ? "+" : ""}`}
        </span>
      )}
      <span class="spacer" />
      <button type="button" onClick={() => copy("The log", log.parts().join(""))}>
        Copy
      </button>
      <button type="button" onClick={() => download(`${name}-${part}.log`, log.parts())}>
        Download
      </button>
    </div>
  );
}

function Line({ log, at, isMarked }: { log: LogText; at: number; isMarked: boolean }) {
  return (
    <div class={isMarked ? "log-line marked" : "log-line"}>
      <button
        type="button"
        class="line-number"
        tabIndex={-1}
        aria-label={`Link to line ${at + 1}`}
        onClick={() => go({ line: at + 1 }, true)}
      >
        {at + 1}
      </button>
      <span class="line-text">
        {styledLine(log.line(at)).map(({ text, classes }, token) => (
          <span key={token} class={classes}>
            {text}
          </span>
        ))}
      </span>
    </div>
  );
}

function pathOf(session: string | null, phase: string, attempt: number, part: LogPart): string {
  return `${attemptPath(session ?? "", phase, attempt, "log")}?part=${part}`;
}

/** Reads what is there, then what is new, until the attempt has ended or the panel is closed. Returns why it cannot be read, or "". */
async function follow(log: LogText, path: string, stop: AbortSignal, changed: () => void): Promise<string> {
  let from = 0;
  while (!stop.aborted) {
    const answer = await getText(`${path}&from=${from}`, stop);
    if (stop.aborted) break;
    if ("text" in answer) {
      const { text, headers } = answer;
      const next = Number(headers.get("x-next-offset"));
      const isNew = next > from;
      from = next;
      log.add(text);
      if (isNew) changed();
      if (isNew && headers.get("x-log-end") === "no") continue;
      if (headers.get("x-attempt-over") === "yes") break;
    } else if (!answer.isLost) return answer.error;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return "";
}

function isRunning(phase: string, attempt: number): boolean {
  const found = frame.value?.session.phases.find(({ id }) => id === phase);
  return found?.attempts.find((one) => one.attempt === attempt)?.result === null;
}

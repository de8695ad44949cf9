// History: every session of the project with a search over titles, phases, agents and errors, and two of them compared.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Session } from "../../session/session.ts";
import { compact, plural } from "../../views/text/amount.ts";
import { dayAndTime, durationText } from "../../views/text/duration.ts";
import { loadSession } from "../app/load.ts";
import { connection, frame, go, linkTo, overview, pulse, route, sessionId, sessions } from "../app/state.ts";
import { type Comparison, compareSessions, type PhaseFigures } from "../model/compare.ts";
import { findSessions, type SessionSummary } from "../model/found.ts";
import { sessionSign } from "../model/sign.ts";
import { Mark } from "./parts.tsx";

const query = signal("");
/** Without a session: it cannot be read. */
const other = signal<{ id: string; session: Session | undefined } | null>(null);

export function HistoryView() {
  const found = findSessions(sessions.value, query.value);
  const { with: compared } = route.value;
  const { unread = 0 } = overview.value ?? {};
  if (compared !== null) return <Compare id={compared} />;
  return (
    <div class="history">
      <div class="tools">
        <input
          id="filter"
          type="search"
          placeholder="Search titles, phases, agents, errors  ( / )"
          aria-label="Search sessions"
          value={query.value}
          onInput={({ currentTarget }) => {
            query.value = currentTarget.value;
          }}
        />
        <span class="dim">
          {found.length} of {plural(sessions.value.length, "session")}
          {unread > 0 && `, ${unread} more are being read`}
        </span>
      </div>
      <ul class="sessions">
        {found.map(({ session, matches }) => (
          <li key={session.id} class={session.id === sessionId.value ? "chosen" : ""}>
            <a href={linkTo({ session: session.id, view: "timeline", phase: null, seq: null, with: null })}>
              <Mark sign={sessionSign(session.status, { isIdle: isIdle(session) })} />
              <span class="session-title">{session.title}</span>
              <span class="dim">
                {dayAndTime(session.created)}, {session.phases.filter(({ status }) => status === "completed").length} of{" "}
                {session.phases.length} phases
                {session.isActive ? ", active" : ""}
              </span>
            </a>
            {session.id !== sessionId.value && connection.value !== "report" && (
              <button type="button" onClick={() => go({ view: "history", with: session.id })}>
                Compare
              </button>
            )}
            {matches.length > 0 && (
              <ul class="matches">
                {matches.map((text) => (
                  <li key={text}>{text.slice(0, 200)}</li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="empty">
          {sessions.value.length === 0 ? "This project has no session yet." : "No session matches the search."}
        </p>
      )}
    </div>
  );
}

function Compare({ id }: { id: string }) {
  const now = frame.value;
  useEffect(() => {
    other.value = null;
    const done = (session?: Session) => {
      other.value = { id, session };
    };
    loadSession(id).then(done, () => done());
  }, [id]);
  const loaded = other.value;
  if (now === null || loaded?.id !== id) return <p class="empty">Loading session {id}.</p>;
  if (loaded.session === undefined) {
    return (
      <div class="empty">
        <p>Session {id} cannot be read.</p>
        <BackToList />
      </div>
    );
  }
  const comparison = compareSessions(now.session, loaded.session, new Date(now.now));
  const [one, two] = comparison.wall;
  return (
    <div class="compare">
      <div class="tools">
        <BackToList />
        <span>
          <b>{now.session.session_id}</b> ({wallText(one)}) beside <b>{id}</b> ({wallText(two)})
        </span>
        <span class="dim">{divergenceText(comparison)}</span>
      </div>
      <div class="table-box" tabIndex={0} role="region" aria-label="Comparison">
        <table>
          <thead>
            <tr>
              {["Phase", "Status", "Time", "Tries", "Tokens", "Changes"].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {comparison.phases.map(({ one: left, other: right, differs }, at) => (
              <tr key={`${left?.id} ${right?.id}`} class={at === comparison.divergence ? "diverges" : ""}>
                <th scope="row">
                  {left?.id ?? right?.id} {left?.name ?? right?.name}
                  {differs.length > 0 && <span class="dim"> ({differs.join(", ")})</span>}
                </th>
                <Both left={left} right={right} of={({ status }) => status.replace("_", " ")} />
                <Both left={left} right={right} of={({ ms }) => (ms === null ? "unknown" : durationText(ms))} />
                <Both left={left} right={right} of={({ tries }) => String(tries)} />
                <Both left={left} right={right} of={({ tokens }) => (tokens === null ? "unknown" : compact(tokens))} />
                <Both
                  left={left}
                  right={right}
                  of={({ changes }) =>
                    changes === null
                      ? "unknown"
                      : `${plural(changes.files, "file")} +${changes.added} −${changes.removed}`
                  }
                />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** For a session that is not shown, the page knows only whether it is the project's active one. */
function isIdle({ id, isActive }: SessionSummary): boolean {
  return id === sessionId.value ? !pulse.value.driven : !isActive;
}

function BackToList() {
  return (
    <button type="button" onClick={() => go({ with: null })}>
      Back to the list
    </button>
  );
}

interface BothProps {
  left: PhaseFigures | null;
  right: PhaseFigures | null;
  of: (figures: PhaseFigures) => string;
}

function Both({ left, right, of }: BothProps) {
  const [one, two] = [left === null ? "–" : of(left), right === null ? "–" : of(right)];
  return (
    <td class={one === two ? "" : "differs"}>
      {one}
      {one !== two && <span class="other">{two}</span>}
    </td>
  );
}

function wallText(ms: number | null): string {
  return ms === null ? "nothing ran" : durationText(ms);
}

function divergenceText({ divergence, phases }: Comparison): string {
  if (divergence === null) return "Status, agent, tries and changed files are the same in every phase.";
  const first = phases[divergence];
  return `First difference: phase ${first?.one?.id ?? first?.other?.id} (${first?.differs.join(", ")}).`;
}

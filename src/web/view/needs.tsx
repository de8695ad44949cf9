// Needs you: everything that waits for the user, with what happened, the work, and the answers that maestro_decide takes.

import { useSignal } from "@preact/signals";
import { ago } from "../../views/text/duration.ts";
import { connection, frame, go } from "../app/state.ts";
import type { Need } from "../model/needs.ts";
import { DiffOf } from "../phase/diff.tsx";
import { AnswerForm, mayDecide } from "./answer-form.tsx";

export function NeedsView() {
  const now = frame.value;
  if (now === null) return null;
  if (now.needs.length === 0) {
    return (
      <div class="empty">
        <p class="empty-head">{now.isLive ? "Nothing needs you." : "Nothing needed your decision at this moment."}</p>
        <p>
          {now.session.status === "completed"
            ? "The session is completed."
            : now.isDriven
              ? "The engine is at work; decisions, reviews, conflicts and exhausted quota appear here."
              : 'No engine is running. Continue with "maestro resume".'}
        </p>
      </div>
    );
  }
  return (
    <div class="needs">
      {now.needs.map((need) => (
        <NeedCard key={need.key} need={need} />
      ))}
    </div>
  );
}

function NeedCard({ need }: { need: Need }) {
  const now = frame.value;
  const isLive = now?.isLive === true;
  const isOpen = mayDecide();
  return (
    <article class="card need" aria-label={need.title}>
      <header>
        <h2>{need.title}</h2>
        {need.since !== null && now !== null && <span class="dim">{ago(need.since, new Date(now.present))}</span>}
      </header>
      <pre class="message">{need.message}</pre>
      {need.phases.map((phase) => (
        <p key={phase}>
          <button type="button" class="link" onClick={() => go({ phase })}>
            Phase {phase}: attempts, log, evidence
          </button>
        </p>
      ))}
      {need.work.map(({ phase, attempt }) => (
        <Work key={phase} phase={phase} attempt={attempt} isOpen={need.kind === "review" && need.work.length === 1} />
      ))}
      {isOpen && need.answers.length > 0 && <AnswerForm about={need.key} answers={need.answers} />}
      {!isOpen && need.answers.length > 0 && (
        <p class="dim">
          {connection.value === "report"
            ? "A report is read-only."
            : !isLive
              ? "This is a past moment. Go back to the present to decide."
              : 'This page only reads. Start it with "maestro dashboard --control" to decide here.'}
        </p>
      )}
    </article>
  );
}

/** A diff is read when it is opened. */
function Work({ phase, attempt, isOpen }: { phase: string; attempt: number; isOpen: boolean }) {
  const isShown = useSignal(isOpen);
  return (
    <details open={isShown.value} onToggle={({ currentTarget }) => (isShown.value = currentTarget.open)}>
      <summary>
        What attempt {attempt} of phase {phase} changed
      </summary>
      {isShown.value && <DiffOf phase={phase} attempt={attempt} />}
    </details>
  );
}

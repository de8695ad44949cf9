// Needs you: everything that waits for the user, with what happened, the work, and the answers that maestro_decide takes.

import { signal, useSignal } from "@preact/signals";
import { ago } from "../../views/text/duration.ts";
import { decide } from "../app/api.ts";
import { connection, frame, go, overview, sessionId, tell } from "../app/state.ts";
import type { Need, NeedAnswer } from "../model/needs.ts";
import { DiffOf } from "../phase/diff.tsx";

const told = signal<Record<string, string>>({});
const isSending = signal(false);

export function NeedsView() {
  const now = frame.value;
  if (now === null) return null;
  if (now.needs.length === 0) {
    return (
      <div class="empty">
        <p class="empty-head">{now.isLive ? "Nothing needs you." : "Nothing needed you at this moment."}</p>
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
  const mayDecide = overview.value?.control === true && connection.value === "live" && isLive;
  const text = told.value[need.key] ?? "";
  const asks = need.answers.some(({ asks: what }) => what !== undefined);
  return (
    <article class="card need" aria-label={need.title}>
      <header>
        <h2>{need.title}</h2>
        {need.since !== null && now !== null && <span class="dim">{ago(need.since, new Date(now.now))}</span>}
      </header>
      <pre class="message">{need.message}</pre>
      {need.phase !== null && (
        <p>
          <button type="button" class="link" onClick={() => go({ phase: need.phase })}>
            Phase {need.phase}: attempts, log, evidence
          </button>
        </p>
      )}
      {need.work.map(({ phase, attempt }) => (
        <Work key={phase} phase={phase} attempt={attempt} isOpen={need.kind === "review" && need.work.length === 1} />
      ))}
      {mayDecide && need.answers.length > 0 && (
        <div class="answers">
          {asks && (
            <label class="guidance">
              Guidance for the next attempt
              <textarea
                rows={2}
                value={text}
                onInput={({ currentTarget }) => {
                  told.value = { ...told.value, [need.key]: currentTarget.value };
                }}
              />
            </label>
          )}
          <div class="buttons">
            {need.answers.map((answer) => (
              <button
                key={answer.label}
                type="button"
                class={answer.isDangerous ? "danger" : answer === need.answers[0] ? "primary" : ""}
                disabled={isSending.value || (answer.asks !== undefined && text.trim() === "")}
                onClick={() => send(answer, text)}
              >
                {answer.label}
              </button>
            ))}
          </div>
        </div>
      )}
      {!mayDecide && need.answers.length > 0 && (
        <p class="dim">
          {connection.value === "report"
            ? "A report decides nothing."
            : !isLive
              ? "This is a past moment. Decisions are taken in the present."
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

async function send(answer: NeedAnswer, guidance: string): Promise<void> {
  const session = sessionId.value;
  if (session === null) return;
  if (answer.isDangerous && !confirm("Abort the session for good? It cannot be resumed.")) return;
  isSending.value = true;
  const { action, phase, tree, timeout, asks } = answer;
  try {
    const { isDone, text } = await decide(session, {
      action,
      ...(phase === undefined ? {} : { phase_id: phase }),
      ...(tree === undefined ? {} : { tree }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(asks === undefined ? {} : { guidance }),
    });
    tell(text, !isDone);
  } catch {
    tell("The dashboard does not answer; nothing was decided.", true);
  } finally {
    isSending.value = false;
  }
}

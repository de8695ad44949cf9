// The panel of the selected phase: the reason for its state, its attempts, claims beside evidence, its log, diff and prompt.

import type { Session, SessionPhase } from "../../session/session.ts";
import { phaseTokens } from "../../views/report/spending.ts";
import { workedMs } from "../../views/report/times.ts";
import { compact } from "../../views/text/amount.ts";
import { durationText } from "../../views/text/duration.ts";
import { connection, type Frame, frame, go, isAlone, linkTo, overview, pulse, route, selected } from "../app/state.ts";
import { reopeningOf } from "../model/needs.ts";
import { type PhaseTab, phaseTabs } from "../model/route.ts";
import { phaseSign } from "../model/sign.ts";
import { whyOf } from "../model/why.ts";
import { AnswerForm, mayDecide } from "../view/answer-form.tsx";
import { Labelled, Mark } from "../view/parts.tsx";
import { Attempts } from "./attempts.tsx";
import { Claims } from "./claims.tsx";
import { DiffOf } from "./diff.tsx";
import { LogOf } from "./log.tsx";
import { PromptOf } from "./prompt.tsx";

const tabNames: Record<PhaseTab, string> = { overview: "Overview", log: "Log", diff: "Diff", prompt: "Prompt" };

export function PhasePanel() {
  const phase = selected.value;
  const now = frame.value;
  const { tab, phase: asked } = route.value;
  if (asked === null || now === null) return null;
  // Every page has a main part.
  const Part = isAlone.value ? "main" : "aside";
  return (
    <Part class="phase" aria-label={`Phase ${asked}`} tabIndex={-1}>
      <header>
        {phase !== null && <Mark sign={phaseSign(now.session, phase, now.isDriven)} />}
        <h2>
          {asked} {phase?.name}
        </h2>
        <button type="button" class="close" aria-label="Close the phase" onClick={() => go({ phase: null })}>
          ✕
        </button>
      </header>
      {phase === null ? (
        <p class="empty">The session has no phase {asked} at this moment.</p>
      ) : (
        <PanelOf phase={phase} now={now} tab={tab} />
      )}
    </Part>
  );
}

function PanelOf({ phase, now, tab }: { phase: SessionPhase; now: Frame; tab: PhaseTab }) {
  const attempt = route.value.attempt ?? phase.attempts.at(-1)?.attempt ?? null;
  return (
    <>
      <nav class="tabs" aria-label="Parts of the phase">
        {phaseTabs.map((name) => (
          <a
            key={name}
            href={linkTo({ tab: name, attempt: route.value.attempt })}
            aria-current={tab === name ? "page" : undefined}
            onClick={(event) => {
              event.preventDefault();
              go({ tab: name, line: null });
            }}
          >
            {tabNames[name]}
          </a>
        ))}
        {tab !== "overview" && phase.attempts.length > 1 && (
          <select
            aria-label="Attempt"
            value={String(attempt)}
            onChange={({ currentTarget }) => go({ attempt: Number(currentTarget.value), line: null })}
          >
            {phase.attempts.map((one) => (
              <option key={one.attempt} value={one.attempt}>
                attempt {one.attempt}
              </option>
            ))}
          </select>
        )}
      </nav>
      <div class={`panel-body ${tab}`}>
        {tab === "overview" ? (
          <PhaseOverview phase={phase} now={now} />
        ) : attempt === null ? (
          <p class="empty">No attempt has started.</p>
        ) : phase.attempts.every((one) => one.attempt !== attempt) ? (
          <p class="empty">
            Phase {phase.id} has no attempt {attempt} at this moment.
          </p>
        ) : (
          <Files tab={tab} phase={phase} attempt={attempt} />
        )}
      </div>
    </>
  );
}

function Files({ tab, phase, attempt }: { tab: PhaseTab; phase: SessionPhase; attempt: number }) {
  const key = `${phase.id} ${attempt}`;
  if (tab === "diff") return <DiffOf key={key} phase={phase.id} attempt={attempt} />;
  if (connection.value === "report") {
    return (
      <p class="empty">
        A report holds the journal alone. The {tab} is in the project
        {tab === "log" && `: maestro logs ${phase.id} --attempt ${attempt}`}
      </p>
    );
  }
  if (tab === "log") return <LogOf key={key} phase={phase.id} attempt={attempt} />;
  return <PromptOf key={key} phase={phase.id} attempt={attempt} />;
}

export function PhaseOverview({ phase, now }: { phase: SessionPhase; now: Frame }) {
  const { session, isDriven, isLive } = now;
  const why = whyOf(session, phase, { now: now.present, isDriven, slots: overview.value?.slots ?? null });
  const worked = workedMs(session, phase, new Date(now.now));
  const tokens = phaseTokens(phase);
  const activity = isLive ? pulse.value.activity[phase.id] : undefined;
  return (
    <>
      {why !== undefined && (
        <div class={`why ${why.kind}`}>
          <b>Why</b> {why.text}
          {activity !== undefined && <span class="activity">{activity}</span>}
        </div>
      )}
      <dl class="fields">
        <Labelled label="Agent">{phase.agents.join(", ")}</Labelled>
        <Labelled label="Worked">{worked === null ? "–" : durationText(worked)}</Labelled>
        <Labelled label="Tokens">{tokensText(phase, tokens, isLive)}</Labelled>
        <Labelled label="Depends on">
          <PhaseLinks ids={phase.blocked_by} />
        </Labelled>
        <Labelled label="Needed by">
          <PhaseLinks
            ids={session.phases.filter(({ blocked_by }) => blocked_by.includes(phase.id)).map(({ id }) => id)}
          />
        </Labelled>
        {phase.retry_count > 0 && <Labelled label="Retries">{phase.retry_count}</Labelled>}
        {phase.granted.length > 0 && <Labelled label="Granted files">{phase.granted.join(", ")}</Labelled>}
      </dl>
      <Reopening session={session} phase={phase} />
      <Attempts session={session} phase={phase} now={now.now} />
      <Claims session={session} phase={phase} />
      {phase.warnings.length > 0 && (
        <section>
          <h3>Warnings</h3>
          <ul class="plain">
            {phase.warnings.map(({ ts, message }) => (
              <li key={ts + message}>{message}</li>
            ))}
          </ul>
        </section>
      )}
      {phase.errors.length > 0 && (
        <section>
          <h3>Errors</h3>
          {phase.errors.map((error) => (
            <details key={error.timestamp + error.message} open={!error.resolved}>
              <summary>
                {error.type}, {error.agent}, {error.resolved ? error.resolution : "not resolved"}
              </summary>
              <pre class="message">{error.message}</pre>
            </details>
          ))}
        </section>
      )}
      {phase.plan !== undefined && (
        <section>
          <h3>Task</h3>
          <pre class="message">{phase.plan.description}</pre>
          {phase.plan.validation_criteria.length > 0 && (
            <ul class="plain">
              {phase.plan.validation_criteria.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          )}
        </section>
      )}
    </>
  );
}

function Reopening({ session, phase }: { session: Session; phase: SessionPhase }) {
  const answers = mayDecide() ? reopeningOf(session, phase) : [];
  if (answers.length === 0) return null;
  return (
    <details class="reopening">
      <summary>Reopen this phase</summary>
      <p>An agent continues from the current work. Completed phases that depend on it stay completed.</p>
      <AnswerForm about={`reopen ${phase.id} ${phase.attempts.length}`} answers={answers} />
    </details>
  );
}

/** An attempt that runs has its tokens from the pulse; one that reported none makes the sum a lower bound. */
function tokensText({ id, attempts }: SessionPhase, known: number | null, isLive: boolean): string {
  const running = isLive ? pulse.value.tokens[id] : undefined;
  if (running !== undefined) return `${compact((known ?? 0) + running)} so far`;
  const isPart = attempts.some(({ result }) => result !== null && result.usage === null);
  if (known !== null) return `${isPart ? "≥ " : ""}${compact(known)}`;
  return isPart ? "unknown" : "–";
}

function PhaseLinks({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return <>–</>;
  return (
    <>
      {ids.slice(0, 30).map((id) => (
        <a key={id} class="id-link" href={linkTo({ phase: id })}>
          {id}
        </a>
      ))}
      {ids.length > 30 && ` and ${ids.length - 30} more`}
    </>
  );
}

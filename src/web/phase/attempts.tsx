// The attempts of a phase as a table: agent, duration, outcome, changes and usage.

import type { Attempt, Session, SessionPhase } from "../../session/session.ts";
import { costOf } from "../../views/report/prices.ts";
import { runtimeTexts } from "../../views/report/report-runtimes.ts";
import { spansOf, startOf } from "../../views/report/times.ts";
import { compact, dollars, plural } from "../../views/text/amount.ts";
import { clockTime, durationText } from "../../views/text/duration.ts";
import { frame, linkTo, prices, pulse, route } from "../app/state.ts";
import { outcomeSigns } from "../model/sign.ts";
import { Mark } from "../view/parts.tsx";

export function Attempts({ session, phase, now }: { session: Session; phase: SessionPhase; now: number }) {
  if (phase.attempts.length === 0) return null;
  // Without an engine or a conversation no attempt runs, although its end is not recorded.
  const spans = spansOf(session, phase, new Date(now)).map((span) =>
    (span.outcome === "running" || span.outcome === "queued") && frame.value?.isDriven !== true
      ? { ...span, end: null, outcome: "unseen" as const }
      : span,
  );
  const runtimes = runtimeTexts(session.phases, phase);
  return (
    <section>
      <h3>Attempts</h3>
      <div class="table-box" tabIndex={0} role="region" aria-label="Attempts">
        <table>
          <thead>
            <tr>
              {["#", "Outcome", "Agent and model", "Started", "Time", "Tokens", "Cost", "Changes"].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {phase.attempts.map((attempt, at) => {
              const span = spans[at];
              const isChosen = route.value.attempt === attempt.attempt;
              return (
                <tr key={attempt.attempt} class={isChosen ? "chosen" : ""}>
                  <th scope="row">
                    <a href={linkTo({ phase: phase.id, attempt: attempt.attempt, tab: "log" })}>{attempt.attempt}</a>
                  </th>
                  <td>
                    <Mark sign={outcomeSigns[span?.outcome ?? "unseen"]} />
                  </td>
                  <td class="long">
                    {attempt.agent}
                    <span class="dim"> {modelOf(attempt)}</span>
                    {runtimes.has(attempt.attempt) && <span class="dim"> with {runtimes.get(attempt.attempt)}</span>}
                    {attempt.worker !== undefined && <span class="dim"> on worker {attempt.worker}</span>}
                  </td>
                  <td>{clockTime(new Date(startOf(attempt)))}</td>
                  <td class="narrow">
                    {span === undefined || span.end === null ? "unknown" : durationText(span.end - span.start)}
                  </td>
                  <td>{tokensOf(attempt, phase.id)}</td>
                  <td>{costText(attempt)}</td>
                  <td>
                    <Changed phase={phase.id} attempt={attempt} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {phase.attempts.map(
        ({ attempt, result }) =>
          result?.message !== undefined && (
            <details key={attempt}>
              <summary>
                Attempt {attempt}: {result.reason ?? result.outcome}
                {result.exit_code === null ? "" : `, exit code ${result.exit_code}`}
                {result.signal === null ? "" : `, ${result.signal}`}
              </summary>
              <pre class="message">{result.message}</pre>
              {result.partial_output !== undefined && <pre class="message">{result.partial_output}</pre>}
            </details>
          ),
      )}
    </section>
  );
}

function Changed({ phase, attempt }: { phase: string; attempt: Attempt }) {
  if (attempt.changes === undefined) return <>–</>;
  const { total, added, removed } = attempt.changes;
  if (total === 0) return <>nothing</>;
  const where = attempt.reverted ? ", reverted" : attempt.integrated === undefined ? "" : ", in the project";
  return (
    <a href={linkTo({ phase, attempt: attempt.attempt, tab: "diff" })}>
      {plural(total, "file")} <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
      {where}
    </a>
  );
}

/** The models that reported tokens, or the one that was asked for. */
function modelOf({ result, model }: Attempt): string {
  const used = [...new Set((result?.usage ?? []).map((one) => one.model ?? "unnamed model"))];
  return used.join(", ") || (model ?? "");
}

function tokensOf({ result }: Attempt, phase: string): string {
  const running = frame.value?.isLive ? pulse.value.tokens[phase] : undefined;
  if (result === null) return running === undefined ? "–" : `${compact(running)} so far`;
  if (result.usage === null) return "unknown";
  return compact(result.usage.reduce((sum, { input, output }) => sum + input + output, 0));
}

function costText({ result }: Attempt): string {
  if (result === null) return "–";
  const cost = costOf(result.usage, prices.value);
  return cost === null ? "unknown" : dollars(cost);
}

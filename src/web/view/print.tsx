// What is printed: the figures, the timeline and every phase with its attempts and evidence, one after the other.

import { dayAndTime } from "../../views/text/duration.ts";
import { critical, frame, overview, prices } from "../app/state.ts";
import { figuresOf } from "../model/figures.ts";
import { phaseSign, sessionSign } from "../model/sign.ts";
import { PhaseOverview } from "../phase/phase.tsx";
import { Mark } from "./parts.tsx";
import { TimelineView } from "./timeline.tsx";

const MAX_PHASES = 300;

export function PrintView() {
  const now = frame.value;
  if (now === null) return null;
  const { session } = now;
  return (
    <main class="print">
      <h1>{session.title}</h1>
      <p>
        <Mark sign={sessionSign(session.status, { isAborted: session.aborted, isIdle: !now.isDriven })} />{" "}
        {overview.value?.project}, {session.session_id}, {dayAndTime(session.created)} to {dayAndTime(session.updated)}
      </p>
      <dl class="figures">
        {figuresOf(session, prices.value, new Date(now.now), critical.value.ms).map(({ label, value, detail }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <b>{value}</b> {detail}
            </dd>
          </div>
        ))}
      </dl>
      <TimelineView />
      {session.phases.slice(0, MAX_PHASES).map((phase) => (
        <section key={phase.id} class="printed-phase">
          <h2>
            {phase.id} {phase.name} <Mark sign={phaseSign(session, phase, now.isDriven)} />
          </h2>
          <PhaseOverview phase={phase} now={now} />
        </section>
      ))}
    </main>
  );
}

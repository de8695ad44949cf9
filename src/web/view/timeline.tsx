// The timeline: one row per phase, a bar per attempt with its parts, waits, the critical path and the present moment.

import { computed, signal } from "@preact/signals";
import { findPhase } from "../../session/session.ts";
import { clockTime, durationText, stopwatch } from "../../views/text/duration.ts";
import { critical, filter, frame, go, linkTo, overview, route, selected } from "../app/state.ts";
import { outcomeSigns } from "../model/sign.ts";
import { type Axis, axisOf, type Bar, type TimelineRow, ticksOf, timelineOf } from "../model/timeline.ts";
import { whyOf } from "../model/why.ts";
import { Mark, Rows } from "./parts.tsx";

const ROW_HEIGHT = 28;
const MOST_TICKS = 7;
/** The label of a later tick would be cut off. */
const LAST_LABEL = 0.93;
const LAST_LONG_LABEL = 0.75;
const HOUR_MS = 3_600_000;
const isCollapsed = signal(true);

const drawn = computed(() => {
  const shown = frame.value;
  if (shown === null) return null;
  const timeline = timelineOf(shown.session, { ...shown, critical: critical.value.ids });
  const collapsed = axisOf(timeline, true);
  const axis = isCollapsed.value ? collapsed : axisOf(timeline, false);
  return { ...shown, timeline, axis, hasGaps: collapsed.gaps.length > 0, ticks: ticksOf(timeline, axis, MOST_TICKS) };
});

/** The rows that the filter leaves, in the order of the plan. */
const shownRows = computed(() => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = drawn.value?.timeline.rows ?? [];
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = `${row.id} ${row.name} ${row.agent} ${row.sign.word}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
});

export function TimelineView() {
  const now = drawn.value;
  if (now === null) return null;
  const rows = shownRows.value;
  const { timeline, axis } = now;
  const target = rows.findIndex(({ id }) => id === route.value.phase);
  return (
    <div class="timeline">
      <div class="tools">
        <input
          id="filter"
          type="search"
          placeholder="Filter phases, agents, states  ( / )"
          aria-label="Filter phases"
          value={filter.value}
          onInput={({ currentTarget }) => {
            filter.value = currentTarget.value;
          }}
        />
        {now.hasGaps && (
          <label class="check">
            <input
              type="checkbox"
              checked={isCollapsed.value}
              onChange={({ currentTarget }) => {
                isCollapsed.value = currentTarget.checked;
              }}
            />
            Collapse idle time
          </label>
        )}
        <Legend hasQueue={timeline.rows.some(({ waits }) => waits.some(({ kind }) => kind === "queue"))} />
      </div>
      <Rows
        class="lanes"
        label="Timeline of phases"
        count={rows.length}
        height={ROW_HEIGHT}
        target={target === -1 ? null : target}
        head={<Head axis={axis} ticks={now.ticks} from={timeline.from} />}
        row={(at) => <Row key={rows[at]?.id} row={rows[at] as TimelineRow} />}
      />
      {rows.length === 0 && <p class="empty">No phase matches the filter.</p>}
    </div>
  );
}

function Head({ axis, ticks, from }: { axis: Axis; ticks: readonly number[]; from: number }) {
  return (
    <div class="lane-head" aria-hidden="true">
      <span class="lane-name">Phase</span>
      <span class="lane">
        {ticks.map((time, at) => (
          <span key={time} class={at % 2 === 0 ? "tick" : "tick odd"} style={{ left: percent(axis.place(time)) }}>
            {axis.place(time) < (time - from < HOUR_MS ? LAST_LABEL : LAST_LONG_LABEL) && stopwatch(time - from)}
          </span>
        ))}
        {axis.gaps.map((gap) => (
          <span
            key={gap.from}
            class="gap-sign"
            title={`${durationText(gap.to - gap.from)} without work`}
            style={{ left: percent(gap.at + gap.width / 2) }}
          >
            {"//"}
          </span>
        ))}
      </span>
    </div>
  );
}

function Row({ row }: { row: TimelineRow }) {
  const now = drawn.value;
  if (now === null) return <span />;
  const { axis, timeline, session } = now;
  const isChosen = route.value.phase === row.id;
  return (
    <a
      class={`lane-row${isChosen ? " chosen" : ""}`}
      href={linkTo({ phase: row.id })}
      aria-current={isChosen ? "true" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go({ phase: row.id, line: null });
      }}
      style={{ height: `${ROW_HEIGHT}px` }}
    >
      <span class="lane-name">
        <Mark sign={row.sign} isBare />
        <span class="lane-id">{row.id}</span>
        <span class="lane-title">{row.name}</span>
        {row.isCritical && (
          <span class="critical" title="On the critical path">
            <span aria-hidden="true">⟡</span>
            <span class="unseen">on the critical path</span>
          </span>
        )}
        {row.bars.length > 1 && <span class="unseen">{row.bars.length} attempts</span>}
      </span>
      <span class="lane">
        {axis.gaps.map((gap) => (
          <span key={gap.from} class="gap" style={{ left: percent(gap.at), width: percent(gap.width) }} />
        ))}
        {row.waits.map((wait) => (
          <span
            key={`${wait.kind}${wait.from}`}
            class={`wait ${wait.kind}`}
            title={`${waitWords[wait.kind]}, ${durationText(wait.to - wait.from)}`}
            style={place(axis, Math.max(wait.from, timeline.from), wait.to)}
          />
        ))}
        {row.bars.map((bar) => (
          <BarOf key={bar.from} bar={bar} axis={axis} isCritical={row.isCritical} />
        ))}
        {row.bars.length === 0 && row.isOpen && <Reason session={session} id={row.id} />}
        {now.isLive && now.isDriven && <span class="now" style={{ left: percent(axis.place(now.now)) }} />}
      </span>
    </a>
  );
}

const waitWords = {
  quota: "waited for quota",
  slot: "ready, waited for a slot",
  review: "waits for your review",
  queue: "waited for a worker",
};

function Reason({ session, id }: { session: NonNullable<(typeof frame)["value"]>["session"]; id: string }) {
  const now = drawn.value;
  const phase = findPhase(session, id);
  if (now === null || phase === undefined) return null;
  const why = whyOf(session, phase, { now: now.present, isDriven: now.isDriven, slots: overview.value?.slots ?? null });
  return why === undefined ? null : <span class="lane-why">{why.text}</span>;
}

function BarOf({ bar, axis, isCritical }: { bar: Bar; axis: Axis; isCritical: boolean }) {
  const sign = outcomeSigns[bar.outcome];
  const length = Math.max(1, bar.to - bar.from);
  const where = bar.worker === undefined ? "" : ` on worker ${bar.worker}`;
  const title = `${bar.attempt === null ? "by hand" : `attempt ${bar.attempt}${where}`}: ${sign.word}, ${durationText(bar.to - bar.from)}, from ${clockTime(new Date(bar.from))}`;
  return (
    <span
      aria-hidden="true"
      class={`bar ${bar.outcome}${isCritical ? " on-path" : ""}`}
      title={title}
      style={place(axis, bar.from, bar.to)}
    >
      {bar.parts.map((part) => (
        <span
          key={part.kind}
          class={`part ${part.kind}`}
          title={`${title}; ${part.kind} ${durationText(part.to - part.from)}`}
          style={{ width: percent((part.to - part.from) / length) }}
        />
      ))}
      {bar.attempt !== null && bar.attempt > 1 && <span class="try">{bar.attempt}</span>}
    </span>
  );
}

function Legend({ hasQueue }: { hasQueue: boolean }) {
  return (
    <ul class="legend" aria-label="Legend">
      <li>
        <i class="bar success" /> succeeded
      </li>
      <li>
        <i class="bar running" /> running
      </li>
      <li>
        <i class="bar failure" /> failed
      </li>
      <li>
        <i class="bar quota" /> interrupted
      </li>
      <li>
        <i class="bar success">
          <i class="part validation" />
        </i>
        validation
      </li>
      <li>
        <i class="bar success">
          <i class="part integration" />
        </i>
        integration
      </li>
      <li>
        <i class="wait slot" /> waits for a slot
      </li>
      <li>
        <i class="wait quota" /> waits for quota
      </li>
      {hasQueue && (
        <li>
          <i class="wait queue" /> waits for a worker
        </li>
      )}
      <li>
        <i class="wait review" /> waits for your review
      </li>
      <li>
        <span class="critical">⟡</span> critical path
      </li>
    </ul>
  );
}

/** The next or the previous row of the list; used by the keys j and k. */
export function moveSelection(by: number): void {
  const rows = shownRows.value;
  const at = rows.findIndex(({ id }) => id === selected.value?.id);
  const next = rows[at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
  if (next !== undefined) go({ phase: next.id, line: null }, true);
}

function place(axis: Axis, from: number, to: number) {
  const left = axis.place(from);
  return { left: percent(left), width: `max(3px, ${percent(Math.max(0, axis.place(to) - left))})` };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

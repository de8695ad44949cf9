// The plan as a graph with the state of each phase. The coordinates come from the server; only what is visible is drawn.

import { computed, signal, untracked, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { findPhase, type SessionPhase } from "../../session/session.ts";
import { critical, frame, go, layout, linkTo, route } from "../app/state.ts";
import { layoutFor } from "../model/layers.ts";
import { phaseSign, type StateSign } from "../model/sign.ts";
import type { Layout } from "../model/wire.ts";

/** A part of a layout; another layout starts with all of it. */
interface Box {
  of: Layout;
  x: number;
  y: number;
  width: number;
  height: number;
}

const MAX_NAME = 22;
/** State and agent are written smaller. */
const MAX_STATE = 29;
/** Below this size of a node on the screen, names cannot be read and are left out. */
const READABLE = 0.45;
const view = signal<Box | null>(null);

/** By layout of the latest plan, and by revision: finding them costs too much for every step of a replay. */
const layouts = new WeakMap<Layout, Map<number, Layout>>();

/** The layout of the plan of this moment. */
const shownLayout = computed(() => {
  const latest = layout.value;
  const session = frame.value?.session;
  if (latest === null || session === undefined) return null;
  const known = layouts.get(latest) ?? new Map<number, Layout>();
  layouts.set(latest, known);
  const found = known.get(session.revision) ?? layoutFor(session.phases, latest);
  known.set(session.revision, found);
  return found;
});

/** The phases that the selected one depends on, and those that depend on it. */
const related = computed(() => {
  const { phase } = route.value;
  const session = frame.value?.session;
  if (phase === null || session === undefined) return null;
  const dependents = new Map<string, string[]>();
  for (const { id, blocked_by } of session.phases) {
    for (const blocker of blocked_by) {
      const known = dependents.get(blocker) ?? [];
      known.push(id);
      dependents.set(blocker, known);
    }
  }
  const before = reach([phase], (id) => findPhase(session, id)?.blocked_by ?? []);
  return new Set([...before, ...reach([phase], (id) => dependents.get(id) ?? [])]);
});

function reach(start: string[], next: (id: string) => readonly string[]): Set<string> {
  const found = new Set(start);
  for (const id of found) for (const other of next(id)) found.add(other);
  return found;
}

export function GraphView() {
  const shown = shownLayout.value;
  const now = frame.value;
  const box = useRef<SVGSVGElement>(null);
  const size = useSignal({ width: 1000, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => {
      size.value = { width: element.clientWidth || 1000, height: element.clientHeight || 600 };
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [shown === null]);
  if (now === null || shown === null) return <p class="empty">The graph is being laid out.</p>;
  const seen = view.value?.of === shown ? view.value : whole(shown, size.value);
  return (
    <div class="graph">
      <div class="tools">
        <button type="button" onClick={() => zoom(seen, 0.8)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => zoom(seen, 1.25)} aria-label="Zoom out">
          −
        </button>
        <button
          type="button"
          onClick={() => {
            view.value = null;
          }}
        >
          Fit
        </button>
        <span class="dim">Drag to move, Ctrl and wheel to zoom. The marked line is the critical path.</span>
      </div>
      <svg
        ref={box}
        class="plan"
        role="group"
        aria-label="Plan graph"
        viewBox={`${seen.x} ${seen.y} ${seen.width} ${seen.height}`}
        onWheel={(event) => wheel(event, seen)}
        onPointerDown={(event) => drag(event, seen)}
      >
        <Edges shown={shown} seen={seen} />
        <Nodes shown={shown} seen={seen} scale={size.value.width / seen.width} />
      </svg>
    </div>
  );
}

function Edges({ shown, seen }: { shown: Layout; seen: Box }) {
  const now = frame.value;
  if (now === null) return null;
  const { phases } = now.session;
  const near = related.value;
  return (
    <g class="edges" aria-hidden="true">
      {shown.edges.map(({ from, to, points }) => {
        const [a, b] = [shown.nodes[from], shown.nodes[to]];
        if (a === undefined || b === undefined || !crosses(seen, a, b)) return null;
        const ids = [phases[from]?.id ?? "", phases[to]?.id ?? ""] as const;
        const isOnPath = ids.every((id) => critical.value.ids.has(id));
        const isNear = near === null || ids.every((id) => near.has(id));
        // A long line bends around the phases between; a short one goes straight from side to side.
        const bends = points.length > 3 ? points.slice(1, -1) : [];
        const line = [edgeOf(shown, a, 1), ...bends, edgeOf(shown, b, -1)];
        const look = `${isOnPath ? "on-path" : ""}${isNear ? "" : " far"}`;
        const key = `${from}-${to}`;
        return drawn(shown, key, look, () => <path key={key} d={smooth(line)} class={look} />);
      })}
    </g>
  );
}

function Nodes({ shown, seen, scale }: { shown: Layout; seen: Box; scale: number }) {
  const now = frame.value;
  if (now === null) return null;
  const { width, height } = shown.node;
  const visible = now.session.phases
    .map((phase, at) => ({ phase, at: shown.nodes[at] ?? [0, 0] }))
    .filter(({ at: [x, y] }) => isInside(seen, x - width, y - height) || isInside(seen, x + width, y + height));
  const near = related.value;
  const isReadable = scale > READABLE;
  return (
    <g class="nodes">
      {visible.map(({ phase, at: [x, y] }) => {
        const sign = phaseSign(now.session, phase, now.isDriven);
        const classes = [
          "node",
          sign.tone,
          critical.value.ids.has(phase.id) ? "on-path" : "",
          route.value.phase === phase.id ? "chosen" : "",
          near === null || near.has(phase.id) ? "" : "far",
        ].join(" ");
        const props = { phase, classes, sign, x: x - width / 2, y: y - height / 2, node: shown.node, isReadable };
        const look = `${classes} ${sign.word} ${isReadable} ${phase.name} ${phase.agents[0]}`;
        return drawn(shown, phase.id, look, () => <Node key={phase.id} {...props} />);
      })}
    </g>
  );
}

/** What was drawn before, by layout: the browser compares nothing that looks the same, so that a large graph can be scrubbed. */
const before = new WeakMap<Layout, Map<string, { look: string; made: JSX.Element }>>();

function drawn(shown: Layout, key: string, look: string, make: () => JSX.Element): JSX.Element {
  const known = before.get(shown) ?? new Map<string, { look: string; made: JSX.Element }>();
  before.set(shown, known);
  const same = known.get(key);
  if (same?.look === look) return same.made;
  const made = make();
  known.set(key, { look, made });
  return made;
}

interface NodeProps {
  phase: SessionPhase;
  classes: string;
  sign: StateSign;
  x: number;
  y: number;
  node: Layout["node"];
  isReadable: boolean;
}

function Node({ phase: { id, name, agents }, classes, sign, x, y, node: { width, height }, isReadable }: NodeProps) {
  return (
    <a
      class={classes}
      href={untracked(() => linkTo({ phase: id, seq: null }))}
      onClick={(event: MouseEvent) => {
        event.preventDefault();
        go({ phase: id, line: null });
      }}
    >
      <title>{`${id} ${name}, ${sign.word}`}</title>
      <rect x={x} y={y} width={width} height={height} rx="6" />
      {isReadable && (
        <>
          <text x={x + 10} y={y + 18} class="node-sign">
            {sign.shape}
          </text>
          <text x={x + 28} y={y + 18} class="node-name">
            {id} {shortened(name, MAX_NAME)}
          </text>
          <text x={x + 28} y={y + 34} class="node-agent">
            {shortened(`${sign.word}, ${agents[0] ?? ""}`, MAX_STATE)}
          </text>
        </>
      )}
    </a>
  );
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function edgeOf({ node }: Layout, [x, y]: [number, number], side: 1 | -1): [number, number] {
  return [x + (side * node.width) / 2, y];
}

/** A line through the points, leaving and arriving horizontally. */
function smooth(points: readonly (readonly [number, number])[]): string {
  const [first = [0, 0], ...others] = points;
  let line = `M${first[0]} ${first[1]}`;
  let [x, y] = first as [number, number];
  for (const [nextX, nextY] of others) {
    const middle = (x + nextX) / 2;
    line += `C${middle} ${y} ${middle} ${nextY} ${nextX} ${nextY}`;
    [x, y] = [nextX, nextY];
  }
  return line;
}

/** The whole graph; a large one is shown from its beginning, at a size that can be read. */
function whole(shown: Layout, size: { width: number; height: number }): Box {
  const { width, height, nodes } = shown;
  const margin = 24;
  const fit = Math.max((width + 2 * margin) / size.width, (height + 2 * margin) / size.height, 0.8);
  // Of a very large graph less is shown at first, because all of it is drawn again with every step of a replay.
  const scale = Math.min(fit, nodes.length > 300 ? 1.2 : 2.2);
  const box = { width: size.width * scale, height: size.height * scale };
  const x = fit === scale ? (width - box.width) / 2 : -margin;
  const y = fit === scale ? (height - box.height) / 2 : Math.max(-margin, (height - box.height) / 2);
  return { of: shown, x, y, ...box };
}

function zoom({ of, x, y, width, height }: Box, by: number, at: [number, number] = [0.5, 0.5]): void {
  view.value = {
    of,
    x: x + width * (1 - by) * at[0],
    y: y + height * (1 - by) * at[1],
    width: width * by,
    height: height * by,
  };
}

function wheel(event: WheelEvent & { currentTarget: SVGSVGElement }, seen: Box): void {
  event.preventDefault();
  const { clientWidth, clientHeight } = event.currentTarget;
  const corner = event.currentTarget.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey) {
    const at: [number, number] = [
      (event.clientX - corner.left) / clientWidth,
      (event.clientY - corner.top) / clientHeight,
    ];
    zoom(seen, event.deltaY > 0 ? 1.15 : 0.87, at);
    return;
  }
  const scale = seen.width / clientWidth;
  view.value = { ...seen, x: seen.x + event.deltaX * scale, y: seen.y + event.deltaY * scale };
}

function drag(event: PointerEvent & { currentTarget: SVGSVGElement }, seen: Box): void {
  const element = event.currentTarget;
  const scale = seen.width / (element.clientWidth || 1);
  const start = { x: event.clientX, y: event.clientY };
  const move = (to: PointerEvent) => {
    if (Math.abs(to.clientX - start.x) + Math.abs(to.clientY - start.y) < 4 && view.value === null) return;
    view.value = { ...seen, x: seen.x - (to.clientX - start.x) * scale, y: seen.y - (to.clientY - start.y) * scale };
  };
  const end = () => {
    removeEventListener("pointermove", move);
    for (const last of ["pointerup", "pointercancel"]) removeEventListener(last, end);
  };
  addEventListener("pointermove", move);
  for (const last of ["pointerup", "pointercancel"]) addEventListener(last, end);
}

function isInside({ x, y, width, height }: Box, atX: number, atY: number): boolean {
  return atX >= x - 200 && atX <= x + width + 200 && atY >= y - 100 && atY <= y + height + 100;
}

function crosses(seen: Box, [x1, y1]: [number, number], [x2, y2]: [number, number]): boolean {
  const isBeside = Math.max(x1, x2) < seen.x || Math.min(x1, x2) > seen.x + seen.width;
  return !isBeside && Math.max(y1, y2) >= seen.y && Math.min(y1, y2) <= seen.y + seen.height;
}

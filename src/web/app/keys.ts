// The keys of the page. A key that is typed into a field belongs to the field.

import { signal } from "@preact/signals";
import { moveSelection } from "../view/timeline.tsx";
import { frame, go, replay, route } from "./state.ts";
import { nextTheme } from "./theme.ts";

export const isHelpOpen = signal(false);
export const isPaletteOpen = signal(false);

export const keyTable: readonly (readonly [keys: string, meaning: string])[] = [
  ["j / k", "next or previous phase"],
  ["Enter", "the log of the selected phase"],
  ["Esc", "close the open panel or dialog"],
  ["/", "search or filter"],
  ["g then n t p h w", "go to Needs you, Timeline, Graph (plan), History, What if"],
  ["[ / ]", "one record back or forward; Shift: ten"],
  ["l", "back to the present"],
  ["Ctrl K or :", "commands"],
  ["d", "light, dark or as the system"],
  ["?", "this help"],
];

const places = { n: "needs", t: "timeline", p: "graph", h: "history", w: "whatif" } as const;
let isGoing = false;

export function listen(): void {
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      isPaletteOpen.value = true;
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      isGoing = false;
      return close(event);
    }
    const target = event.target as HTMLElement;
    if (target.closest("input:not([type=checkbox]):not([type=range]), textarea, select, dialog") !== null) return;
    if (isGoing) {
      isGoing = false;
      const view = places[event.key as keyof typeof places];
      if (view !== undefined) go({ view, with: null });
      return;
    }
    const act = actions[event.key];
    if (act === undefined) return;
    if (act(target) !== false) event.preventDefault();
  });
}

function close(event: KeyboardEvent): void {
  if (isHelpOpen.value || isPaletteOpen.value) {
    isHelpOpen.value = false;
    isPaletteOpen.value = false;
    return;
  }
  const target = event.target as HTMLElement;
  if (target instanceof HTMLInputElement && target.type === "search" && target.value === "") target.blur();
  else if (!(target instanceof HTMLInputElement && target.type === "search") && route.value.phase !== null)
    go({ phase: null });
}

/** A handler that returns false did not use the key. */
const actions: Record<string, (target: HTMLElement) => unknown> = {
  j: () => moveSelection(1),
  k: () => moveSelection(-1),
  "/": () => {
    const field = [".phase [type=search]", "#filter"].map((name) => document.querySelector<HTMLInputElement>(name));
    const [found] = field.filter((one) => one?.checkVisibility());
    // A view without a field of its own is searched with the commands, which name every phase.
    if (found) found.focus();
    else isPaletteOpen.value = true;
  },
  g: () => {
    isGoing = true;
  },
  "?": () => {
    isHelpOpen.value = true;
  },
  ":": () => {
    isPaletteOpen.value = true;
  },
  d: () => nextTheme(),
  l: () => go({ seq: null }, true),
  "[": () => step(-1),
  "]": () => step(1),
  "{": () => step(-10),
  "}": () => step(10),
  Enter: (target) => {
    // A link or button that has the focus is pressed by the same key.
    if (target.closest("a, button, summary") !== null || route.value.phase === null) return false;
    return go({ tab: "log" });
  },
};

function step(by: number): void {
  const now = frame.value;
  if (now === null) return;
  const seq = Math.max(1, now.session.seq + by);
  const last = replay.records.at(-1)?.seq ?? 1;
  // The last record of a session that is not over is the present.
  go({ seq: seq >= last ? null : seq }, true);
}

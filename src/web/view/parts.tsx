// Small parts that all views share: the sign of a state, a labelled value, a list of which only the visible rows exist.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isPrinting, tell } from "../app/state.ts";
import type { StateSign } from "../model/sign.ts";

export function Mark({ sign, isBare = false }: { sign: StateSign; isBare?: boolean }) {
  return (
    <span class={`mark ${sign.tone}`}>
      <span class="shape" aria-hidden="true">
        {sign.shape}
      </span>
      <span class={isBare ? "unseen" : "word"}>{sign.word}</span>
    </span>
  );
}

export function Labelled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The tallest list that a browser can lay out; beyond it the scroll bar is scaled. */
const MAX_PIXELS = 8_000_000;

interface RowsProps {
  count: number;
  height: number;
  label: string;
  class?: string;
  row: (at: number) => JSX.Element;
  /** Shown above the rows, inside of the scrolled area. */
  head?: ComponentChildren;
  /** Scrolls here when it changes. */
  target?: number | null;
  /** Stays at the end while new rows come, as long as the reader is there. */
  isFollowing?: boolean;
  onEnd?: (isAtEnd: boolean) => void;
}

/** Rows of equal height, of which only the visible ones are in the document. */
export function Rows({
  count,
  height,
  label,
  row,
  head,
  target = null,
  isFollowing = false,
  onEnd,
  ...rest
}: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal({ top: 0, size: 800 });
  const pixels = Math.min(count * height, MAX_PIXELS);
  const scale = count === 0 ? 1 : pixels / (count * height);
  const measure = () => {
    const element = box.current;
    if (element === null) return;
    view.value = { top: element.scrollTop, size: element.clientHeight };
    onEnd?.(element.scrollTop + element.clientHeight >= element.scrollHeight - 2 * height);
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || target === null || target >= count) return;
    const at = target * height * scale;
    const isSeen = at >= element.scrollTop && at <= element.scrollTop + element.clientHeight - 2 * height;
    if (!isSeen) element.scrollTop = Math.max(0, at - element.clientHeight / 3);
    // Of a long log the row may come later than the first ones.
  }, [target, target !== null && target < count]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && isFollowing) element.scrollTop = element.scrollHeight;
  }, [count, isFollowing]);
  const { top, size } = view.value;
  const first = isPrinting.value ? 0 : Math.max(0, Math.floor(top / scale / height) - 8);
  const last = isPrinting.value ? Math.min(count, 500) : Math.min(count, first + Math.ceil(size / height) + 24);
  // With a scaled scroll bar the rows follow the scroll position itself.
  const offset = scale === 1 ? first * height : Math.min(top, pixels - (last - first) * height);
  return (
    <section ref={box} class={`rows ${rest.class ?? ""}`} aria-label={label} onScroll={measure} tabIndex={0}>
      {head}
      <div class="rows-space" style={{ height: `${Math.max(pixels, 1)}px` }}>
        <div class="rows-seen" style={{ transform: `translateY(${Math.max(0, offset)}px)` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, at) => row(first + at))}
        </div>
      </div>
    </section>
  );
}

/** `what`: the subject of the message. */
export function copy(what: string, text: string): void {
  navigator.clipboard.writeText(text).then(
    () => tell(`${what} is copied.`),
    () => tell(`${what} could not be copied: the browser does not allow it.`, true),
  );
}

export function download(name: string, parts: string[]): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

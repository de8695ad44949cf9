// Makes hidden characters visible in every text and label of the page, in one place: names, messages and paths come from agents, and a
// character that reorders text could make one look like another.

import { options, type VNode } from "preact";
import { visible } from "../../views/text/visible.ts";

const labels = ["title", "aria-label", "aria-valuetext"] as const;

export function revealTexts(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    reveal(node as VNode<unknown>);
    before?.(node);
  };
}

/** A text node has no type, and its text as its properties. */
function reveal(node: { type: unknown; props: unknown }): void {
  if (typeof node.props === "string") node.props = visible(node.props);
  else if (typeof node.type === "string") {
    const props = node.props as Record<string, unknown>;
    for (const label of labels) {
      const text = props[label];
      if (typeof text === "string") props[label] = visible(text);
    }
  }
}

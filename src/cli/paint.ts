// Colours, or none.

import { bold, cyan, dim, green, red, yellow } from "yoctocolors";
import type { Paint } from "../views/paint.ts";

const plain = (text: string) => text;

export function paint(color: boolean): Paint {
  if (!color) return { bold: plain, cyan: plain, dim: plain, green: plain, red: plain, yellow: plain };
  return { bold, cyan, dim, green, red, yellow };
}

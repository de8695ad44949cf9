// Colours, or none.

import { bold, cyan, dim, green, red, yellow } from "yoctocolors";
import { type Paint, plainPaint } from "../views/paint.ts";

export function paint(color: boolean): Paint {
  return color ? { bold, cyan, dim, green, red, yellow } : plainPaint;
}

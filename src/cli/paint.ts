// Colours, or none.

import { markedPaint, type Paint, plainPaint } from "../views/text/paint.ts";

export function paint(color: boolean): Paint {
  return color ? markedPaint : plainPaint;
}

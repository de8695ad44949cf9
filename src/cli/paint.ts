// Selects the coloured or the plain text style.

import { markedPaint, type Paint, plainPaint } from "../views/text/paint.ts";

export function paint(color: boolean): Paint {
  return color ? markedPaint : plainPaint;
}

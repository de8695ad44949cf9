// The colours a view may use. They are marks until the command prints the text, so that untrusted text cannot bring its own.

const colors = ["bold", "cyan", "dim", "green", "red", "yellow"] as const;
type Color = (typeof colors)[number];
export type Paint = Record<Color, (text: string) => string>;

const same = (text: string) => text;
/** No colours at all. */
export const plainPaint: Paint = { bold: same, cyan: same, dim: same, green: same, red: same, yellow: same };

// Unicode noncharacters, reserved for internal use: they do not occur in readable text.
const FIRST_MARK = 0xfdd0;
const END = "\ufdd6";

/** Text between the mark of a colour and the end mark. */
export const marked = /([\ufdd0-\ufdd5])([^\ufdd0-\ufdd6]*)\ufdd6/g;

/** Marks inside the text come from untrusted text, or from a colour that this one covers. */
export const markedPaint = Object.fromEntries(
  colors.map((color, at) => {
    const mark = String.fromCharCode(FIRST_MARK + at);
    return [color, (text: string) => `${mark}${text.replace(/[\ufdd0-\ufdd6]/g, "")}${END}`];
  }),
) as Paint;

export function colorOf(mark: string): Color {
  return colors[mark.charCodeAt(0) - FIRST_MARK] ?? "bold";
}

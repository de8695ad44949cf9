// The colours a view may use. Who prints decides whether they are any.

export type Paint = Record<"bold" | "cyan" | "dim" | "green" | "red" | "yellow", (text: string) => string>;

const same = (text: string) => text;
/** No colours at all. */
export const plainPaint: Paint = { bold: same, cyan: same, dim: same, green: same, red: same, yellow: same };

// The colours a view may use. Who prints decides whether they are any.

export type Paint = Record<"bold" | "cyan" | "dim" | "green" | "red" | "yellow", (text: string) => string>;

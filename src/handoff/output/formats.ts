// The formats of a handoff.

export const handoffFormats = ["text", "gemini-json", "stream-json"] as const;
export type HandoffFormat = (typeof handoffFormats)[number];

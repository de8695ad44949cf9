// What a hand-off may be written in.

export const handoffFormats = ["text", "gemini-json", "stream-json"] as const;
export type HandoffFormat = (typeof handoffFormats)[number];

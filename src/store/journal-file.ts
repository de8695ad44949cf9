// The names of the journal and of the view in state/.

export const JOURNAL_FILE = "progress.jsonl";
export const VIEW_FILE = "active-session.md";

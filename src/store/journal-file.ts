// Names in state/.

export const JOURNAL_FILE = "progress.jsonl";
export const VIEW_FILE = "active-session.md";
/** A directory: which native delegations are running. */
export const DELEGATIONS = "delegations";

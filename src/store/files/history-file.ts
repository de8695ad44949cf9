// The name of the history of sessions in state/.

export const HISTORY_FILE = "session-history.log";

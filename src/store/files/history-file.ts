// The name of the session history file in state/.

export const HISTORY_FILE = "session-history.log";

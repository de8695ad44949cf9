// The variable that says where the extension is. It is read from the environment only, so that a repository cannot choose where agents come
// from.

export const EXTENSION_PATH = "MAESTRO_EXTENSION_PATH";

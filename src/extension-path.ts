// The variable that says where the extension is. Read from the environment only: a repository must not be able to choose where agents come from.

export const EXTENSION_PATH = "MAESTRO_EXTENSION_PATH";

// The tools whose calls the guard judges, and what it judges of each. Hooks load this file for every tool call: keep it small.

/** `command`: a shell command; `file`: a file that is written. Undefined: the guard has no opinion about the tool. */
export function judgedAs(tool: string): "command" | "file" | undefined {
  switch (tool) {
    case "run_shell_command":
      return "command";
    case "write_file":
    case "replace":
      return "file";
    default:
      return undefined;
  }
}

// The project root at the head of every prompt. The text is that of the design documents, byte for byte.

export function projectRootHeader(root: string): string {
  return `PROJECT ROOT: ${root}
All file paths in this task are relative to this directory. When using write_file,
replace, or read_file, construct absolute paths by prepending this root. When
using run_shell_command, execute from this directory.`;
}

/** The header at byte 0, then a blank line, then the prompt; never added twice. */
export function withProjectRoot(root: string, prompt: string): string {
  const header = projectRootHeader(root);
  const hasIt = prompt === header || prompt.startsWith(`${header}\n`);
  return hasIt ? prompt : `${header}\n\n${prompt}`;
}

// Keeps the at signs of a prompt from being read as commands, for Gemini CLI and the programs made from it.

/**
 * Even without a terminal the CLI replaces every `@word` of a prompt: with files of that name, found by a glob if needed, or with an
 * instruction to delegate. A mail address or `zod@4` in a task, or in another agent's text, would change the task. It leaves an escaped
 * `\@` unchanged.
 */
export function escapedAtSigns(prompt: string): string {
  const escaped = prompt.replace(/(?<!\\)@/g, "\\@");
  return escaped === prompt ? prompt : `${escaped.trimEnd()}\n\nIn all of this \`\\@\` stands for a plain at sign.\n`;
}

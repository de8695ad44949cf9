// A problem in a file of the extension: a sentence that the user can act on. No behaviour.

export interface LintProblem {
  /** Relative to the extension's directory. */
  file: string;
  /** From 1; undefined when the whole file is meant. */
  line?: number | undefined;
  problem: string;
  hint?: string | undefined;
}

/** The line of `index` in `text`, from 1. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** The line of the first `words` in `text`; undefined when they do not occur. */
export function lineOf(text: string, words: string): number | undefined {
  const index = text.indexOf(words);
  return index === -1 ? undefined : lineAt(text, index);
}

/** `gemini-extension.json:3: what is wrong`. */
export function describeProblem({ file, line, problem }: LintProblem): string {
  return `${file}${line === undefined ? "" : `:${line}`}: ${problem}`;
}

/** `Did you mean "x"?` */
export function suggestion(nearest: string | undefined): string | undefined {
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}

// The texts that models read, and their parts in code font. Does not interpret them.

import { lineAt } from "./problem.ts";
import { listFiles, readText } from "./tree.ts";

export interface Prose {
  file: string;
  text: string;
}

/** A piece of a text and its line. */
export interface Piece {
  text: string;
  index: number;
  line: number;
}

const folders = ["skills", "commands", "agents", "protocols", "templates"];

export function proseOf(root: string): Prose[] {
  const files = ["CONTEXT.md", "GEMINI.md", ...folders.flatMap((folder) => listFiles(root, folder))];
  return files
    .filter((file) => /\.(?:md|toml)$/.test(file))
    .flatMap((file) => {
      const text = readText(root, file);
      return text === undefined ? [] : [{ file, text }];
    });
}

/** The text between single backticks. */
export function codeSpans(text: string): Piece[] {
  return pieces(withoutBlocks(text), /`([^`\n]+)`/g);
}

/** Everything in code font: spans, fenced blocks, and the shell calls of a command. */
export function codeOf(text: string): Piece[] {
  return [...pieces(text, /^ *```[^\n]*\n([\s\S]*?)^ *```/gm), ...codeSpans(text), ...pieces(text, /!\{([^}]*)\}/g)];
}

/** Every match of `pattern`: its first group, or the whole match. */
export function pieces(text: string, pattern: RegExp): Piece[] {
  return [...text.matchAll(pattern)].map((match) => ({
    text: match[1] ?? match[0],
    index: match.index,
    line: lineAt(text, match.index + match[0].indexOf(match[1] ?? match[0])),
  }));
}

/** Blanks the blocks, so that line numbers do not change. */
function withoutBlocks(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, (block) => block.replace(/[^\n]/g, " "));
}

// The texts that models read, and the parts of them that are in code font. Knows nothing of what they say.

import { lineAt } from "./problem.ts";
import { listFiles, readText } from "./tree.ts";

export interface Prose {
  file: string;
  text: string;
}

/** A piece of a text, and where it is. */
export interface Piece {
  text: string;
  index: number;
  line: number;
}

const folders = ["skills", "commands", "agents", "protocols", "templates"];

export function proseOf(root: string): Prose[] {
  const files = ["GEMINI.md", ...folders.flatMap((folder) => listFiles(root, folder))];
  return files
    .filter((file) => /\.(?:md|toml)$/.test(file))
    .flatMap((file) => {
      const text = readText(root, file);
      return text === undefined ? [] : [{ file, text }];
    });
}

/** What stands between single backticks. */
export function codeSpans(text: string): Piece[] {
  return pieces(withoutBlocks(text), /`([^`\n]+)`/g);
}

/** Everything in code font: spans, fenced blocks, and what a command has the shell run. */
export function codeOf(text: string): Piece[] {
  return [...pieces(text, /^ *```[^\n]*\n([\s\S]*?)^ *```/gm), ...codeSpans(text), ...pieces(text, /!\{([^}]*)\}/g)];
}

/** Every match of `pattern`: its first group, or all of it. */
export function pieces(text: string, pattern: RegExp): Piece[] {
  return [...text.matchAll(pattern)].map((match) => ({
    text: match[1] ?? match[0],
    index: match.index,
    line: lineAt(text, match.index + match[0].indexOf(match[1] ?? match[0])),
  }));
}

/** Blanked, so that every line stays where it is. */
function withoutBlocks(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, (block) => block.replace(/[^\n]/g, " "));
}

// The diff that a reviewer reads: patches of several phases, file by file, within a limit. What is left out is named with the command that
// shows it. Pure.

import { oneLine } from "./text/cell.ts";

/** Of one file, and of all of them, in characters. */
const MAX_FILE = 20_000;
const MAX_ALL = 60_000;
const SHORT_ID = 12;

export interface ReviewedPatch {
  phase: string;
  attempt: number;
  /** The trees or commits that it compares. */
  from: string;
  to: string;
  text: string;
}

export interface ReviewPatch {
  shown: string;
  /** One line per file. */
  leftOut: string[];
}

export function reviewPatch(patches: readonly ReviewedPatch[]): ReviewPatch {
  const shown: string[] = [];
  const leftOut: string[] = [];
  let room = MAX_ALL;
  for (const patch of patches) {
    const files: string[] = [];
    for (const text of filesIn(patch.text)) {
      const path = pathOf(text);
      const why = isGenerated(path) ? "generated" : text.length > Math.min(MAX_FILE, room) ? "too long" : undefined;
      if (why === undefined) {
        files.push(text);
        room -= text.length;
      } else leftOut.push(`${oneLine(path)} (phase ${patch.phase}, ${why}): ${command(patch, path)}`);
    }
    if (files.length > 0) shown.push(`# Phase ${patch.phase}, attempt ${patch.attempt}\n${files.join("")}`);
  }
  return { shown: shown.join("\n"), leftOut };
}

/** A line of a file begins with a space, a sign or a backslash, so only the head of a file begins with "diff". */
function filesIn(patch: string): string[] {
  return patch.split(/^(?=diff --git )/m).filter((text) => text !== "");
}

/** From the top of the repository. A renamed file has its new name; a name in quotes stays as git prints it. */
function pathOf(text: string): string {
  const head = text.slice(0, text.indexOf("\n"));
  return (
    /^diff --git a\/(.+) b\/\1$/.exec(head)?.[1] ??
    /^rename to (.+)$/m.exec(text.slice(0, text.search(/^@@ |$(?![\s\S])/m)))?.[1] ??
    head.slice("diff --git ".length)
  );
}

const generated =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[^/]+\.lock|[^/]+\.lockb|[^/]+\.min\.(?:js|css)|[^/]+\.map)$/;

function isGenerated(path: string): boolean {
  return generated.test(path);
}

function command({ from, to }: ReviewedPatch, path: string): string {
  const ids = `${from.slice(0, SHORT_ID)} ${to.slice(0, SHORT_ID)}`;
  return `git diff --no-ext-diff ${ids} -- ':/${path.replaceAll("'", "'\\''")}'`;
}

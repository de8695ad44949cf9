// The part of a reviewer's prompt about the work of the session: files, claims beside proofs, and the diff, as recorded. Pure.

import { dataRule, encloseAll } from "./data.ts";

export interface ReviewFacts {
  /** One line per changed file. */
  files: readonly string[];
  /** One line per phase: what its agent claimed, and what Maestro ran. */
  proofs: readonly string[];
  diff: string;
  /** One line each, with the command that shows it. */
  leftOut: readonly string[];
}

const limits = { each: 64_000, total: 96_000 };

export function reviewEvidence({ files, proofs, diff, leftOut }: ReviewFacts, tag: string): string {
  const parts: [about: string, text: string][] = [
    ["## Changed files", files.join("\n")],
    [
      "## Claims and proofs\n\nWhat each agent claimed about its validation, and what Maestro ran. Repeat a claim without a proof as a claim.",
      proofs.join("\n"),
    ],
    ["## Diff", diff],
    [
      "## Left out of the diff\n\nRead the files instead, or name them as not reviewed. A command shows what changed, to whom may run it.",
      leftOut.join("\n"),
    ],
  ];
  const told = parts.filter(([, text]) => text.trim() !== "");
  const enclosed = encloseAll(
    tag,
    told.map(([, text]) => text),
    limits,
  );
  const sections = told.map(([about], at) => `${about}\n\n${enclosed[at] ?? ""}`);
  return ["# What the session changed", dataRule(tag), ...sections].join("\n\n");
}

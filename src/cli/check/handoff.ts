// maestro handoff check <file|->: prints what an agent's hand-off contains and what it lacks.

import { checkHandoff, type HandoffCheck } from "../../handoff/handoff.ts";
import type { HandoffFormat } from "../../handoff/output/formats.ts";
import { readInput } from "../input.ts";
import { type Io, printJson } from "../io.ts";

export interface HandoffFlags {
  format?: HandoffFormat;
  /** False with --no-dependents: no later phase needs a Downstream Context. */
  dependents: boolean;
  json?: boolean;
}

export async function handoffCheck(io: Io, file: string, options: HandoffFlags): Promise<number> {
  const { format, dependents } = options;
  const check = checkHandoff(await readInput(io, file, file), {
    dependents,
    ...(format === undefined ? {} : { format }),
  });
  if (options.json) printJson(io, check);
  else io.out(`${textLines(check).join("\n")}\n`);
  return check.valid ? 0 : 1;
}

function textLines(check: HandoffCheck): string[] {
  const files = (title: string, list: string[]) => (list.length === 0 ? [] : [`${title}: ${list.join(", ")}`]);
  return [
    check.valid ? `Valid hand-off, status ${check.status}` : "Not a valid hand-off",
    ...(check.parse_error === null ? [] : [`Output: ${check.parse_error}`]),
    ...(check.error_type === null ? [] : [`Error type: ${check.error_type}`]),
    ...files("Missing", check.missing),
    ...(check.valid ? [] : [`Status: ${check.status ?? "none"}`]),
    ...files("Files created", check.files_created),
    ...files("Files modified", check.files_modified),
    ...files("Files deleted", check.files_deleted),
    ...(check.tokens === null
      ? []
      : [`Tokens: ${check.tokens.input} input (${check.tokens.cached} cached), ${check.tokens.output} output`]),
  ];
}

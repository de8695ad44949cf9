// Judges a failed command that may stay red: it is not worse when it fails as it did before the work. Pure.

import { newFailingLines } from "../../handoff/output/failing-lines.ts";
import type { BaselineCommand } from "../../plan/baseline.ts";

const MAX_SHOWN = 10;

/** Why the command is worse than before; null when it is not. */
export function whyWorse(
  before: BaselineCommand | undefined,
  { code, failing }: { code: number | null; failing: string[] | null },
): string | null {
  if (before === undefined) return "no baseline is recorded for it, so it must pass";
  if (before.result === "passes_already") return "it passed before the work";
  if (before.exit_code === null) return "its baseline has no exit code to compare with, so it must pass";
  if (before.exit_code !== code) return `its exit code was ${before.exit_code} before the work`;
  if (before.failing === null || failing === null) return "it has too many failing lines to compare";
  const added = newFailingLines(before.failing, failing);
  if (added.length === 0) return null;
  const shown = added.slice(0, MAX_SHOWN).map((line) => `  ${line}`);
  const more = added.length > MAX_SHOWN ? [`  ... and ${added.length - MAX_SHOWN} more`] : [];
  return ["it has failing lines that it did not have before the work:", ...shown, ...more].join("\n");
}

// Recognises the two titles of a handoff in the forms that agents write. A longer sentence that mentions one is not a title.
import { isNone, words } from "./words.ts";

export type Title = "report" | "context";

const title =
  /^(?:(?:handoff report|handoff|final) )?(?:(?:part|section|step) )?(?:(?:\d{1,2}(?: \d{1,2})?|[ivx]{1,3}|one|two) )?(task report|downstream context)(?: part (?:\d|one|two))?$/;
const notTheRealOne =
  /\b(?:examples?|samples?|templates?|format|draft|placeholder|instructions?|guidelines?|previous|old|original|above|below|required|expected|must|should)\b/;

/**
 * Matches `1. Task Report`, `Part 2 — Downstream Context:`; `level` is 0 for a line that is not a heading. A heading may add its subject
 * (`Task Report: Phase 3`), and any line may say that there is nothing (`Downstream Context: none`).
 */
export function titleOf(text: string, level: number): Title | null {
  if (text.length > 160 || text.includes("~~")) return null;
  const exact = exactTitle(text);
  if (exact !== null) return exact;

  const { name, rest } = splitTitle(text);
  if (level === 0 && !saysNothing(text)) return null;
  return notTheRealOne.test(words(rest)) ? null : exactTitle(name);
}

/** `Downstream Context: none`: title and content on one line. */
export function saysNothing(text: string): boolean {
  const { name, rest } = splitTitle(text);
  return exactTitle(name) === "context" && isNone(rest.slice(1));
}

function splitTitle(text: string): { name: string; rest: string } {
  const end = text.search(/(?<=report|context)[*_ \t]*[:：(—–-]/iu);
  return end < 0 ? { name: "", rest: "" } : { name: text.slice(0, end), rest: text.slice(end).trimStart() };
}

function exactTitle(text: string): Title | null {
  const name = title.exec(words(text))?.[1];
  if (name === undefined) return null;
  return name === "task report" ? "report" : "context";
}

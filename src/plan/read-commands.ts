// Reads the validation commands of a phase: plain texts, or maps such as {run: "npx tsd", expect: not_worse}.

import { fieldText, isEmpty, isRecord, missing, type Place, wrongType } from "./fields.ts";
import type { PlanPhase } from "./plan.ts";

export const commandList = 'a list of commands, each a text or {run: "npm test", expect: pass or not_worse}';

type Commands = Pick<PlanPhase, "validation" | "not_worse" | "meant_to_pass">;
type Expectation = "pass" | "not_worse" | undefined;

/** A command that a phase lists twice must pass if one of the two entries says so. */
export function readCommands(place: Place): Commands {
  const field = "validation";
  const value = place.raw[field];
  if (isEmpty(value)) return { validation: [] };
  if (!Array.isArray(value)) {
    wrongType(place, field, value);
    return { validation: [] };
  }
  const read = value.flatMap((entry, index) => commandOf(place, entry, index) ?? []);
  const expecting = (...wanted: Expectation[]) =>
    new Set(read.filter(({ expect }) => wanted.includes(expect)).map(({ run }) => run));
  const [meant, must] = [expecting("pass"), expecting("pass", undefined)];
  const spared = [...expecting("not_worse")].filter((run) => !must.has(run));
  return {
    validation: read.map(({ run }) => run),
    ...(spared.length === 0 ? {} : { not_worse: spared }),
    ...(meant.size === 0 ? {} : { meant_to_pass: [...meant] }),
  };
}

function commandOf(place: Place, entry: unknown, index: number): { run: string; expect: Expectation } | undefined {
  const field = "validation";
  const { run, expect, ...unknown } = isRecord(entry) ? entry : { run: entry, expect: undefined };
  if (isEmpty(run)) {
    missing(place, field, index);
    return undefined;
  }
  const text = fieldText(place, field, run, index);
  const isKnown = expect === undefined || expect === "pass" || expect === "not_worse";
  if (!isKnown || Object.keys(unknown).length > 0) wrongType(place, field, entry, index);
  return text === null || !isKnown ? undefined : { run: text, expect };
}

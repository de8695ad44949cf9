// Compares a text for models with the design documents: rows of file, section and the words to find there. Contains no text of its own.

export type Sought = string | RegExp;

export interface RequiredProse {
  file: string;
  /** How the heading of the section begins; null: the whole file. */
  section: string | null;
  name: string;
  /** All of it is there; what stands in a list of its own comes in that order. */
  sought: (Sought | readonly Sought[])[];
}

type Rule = [requirements: string, sentence: string, ...sought: RequiredProse["sought"]];

export function within(file: string, section: string | null, rules: Rule[]): RequiredProse[] {
  return rules.map(([requirements, sentence, ...sought]) => ({
    file,
    section,
    name: `${section === null ? "" : `${section}: `}${sentence} (${requirements})`,
    sought,
  }));
}

/** One after the other; in a skill a remark may follow, after two spaces. */
export function headings(...names: string[]): RegExp[] {
  return names.map((name) => new RegExp(`^## ${name}(?: {2}.*)?$`, "m"));
}

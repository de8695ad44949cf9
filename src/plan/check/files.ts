// Checks the files that phases own: inside the project, not reserved, and never owned by two phases that may run in parallel.
import type { Graph } from "../graph.ts";
import { quotedValue, reportError, shownValue } from "../issue.ts";
import { readOwnedPath, reservedDirectories } from "../owned-path.ts";
import { type Findings, fileFields } from "../plan.ts";
import type { DraftPhase } from "../read-phase.ts";
import { MAX_OVERLAPS, type Overlap, type Owner, overlapsOf } from "./ownership.ts";

/** Limit over the whole plan, after brace expansion. */
const MAX_PATTERNS = 200_000;
const MAX_SHOWN_PATHS = 3;

/** Normalises the paths and adds their patterns to the drafts. */
export function checkPaths(drafts: readonly DraftPhase[], stateDir: string, findings: Findings): void {
  const reserved = reservedDirectories(stateDir);
  let left = MAX_PATTERNS;
  for (const { phase, patterns } of drafts) {
    for (const field of fileFields) {
      const paths = phase[field];
      for (let at = 0; at < paths.length; at++) {
        const declared = paths[at] as string;
        const owned = readOwnedPath(declared, reserved);
        if ("problem" in owned) {
          const where = `Phase ${phase.id}: the path ${quotedValue(declared)} in "${field}"`;
          reportError(findings, owned.code, phase.id, `${where} ${owned.problem}`);
        } else if (left >= owned.patterns.length) {
          paths[at] = owned.path;
          patterns.push(...owned.patterns);
          left -= owned.patterns.length;
        } else {
          const message = `The plan owns more than ${MAX_PATTERNS} paths; use directories or globs`;
          reportError(findings, "too_large", undefined, message);
          return;
        }
      }
    }
  }
}

/** The drafts must be the ones the graph was built from. */
export function checkOverlaps(drafts: readonly DraftPhase[], graph: Graph, findings: Findings): void {
  const owners: Owner[] = [];
  drafts.forEach(({ phase, patterns }, position) => {
    // A phase that runs alone cannot collide with another one.
    if (phase.parallel) owners.push({ position, patterns });
  });
  const { found, limit } = overlapsOf(owners, graph);
  for (const pair of found) reportOverlap(drafts, pair, findings);
  if (limit === "overlaps") {
    const message = `There are more overlaps; only ${MAX_OVERLAPS} pairs of phases are listed`;
    reportError(findings, "file_overlap", undefined, message);
  }
  if (limit === "work") {
    const message = "The owned paths are too complex to compare; use fewer globs, or order the phases that share files";
    reportError(findings, "too_large", undefined, message);
  }
}

function reportOverlap(drafts: readonly DraftPhase[], pair: Overlap, findings: Findings): void {
  const [first, second] = [drafts[pair.first]?.phase.id ?? "", drafts[pair.second]?.phase.id ?? ""];
  const paths = [...pair.paths].slice(0, MAX_SHOWN_PATHS).map((path) => shownValue(path));
  const rest = pair.paths.size - paths.length;
  const what = paths.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  const advice = `add ${first} to the "blocked_by" of ${second}, or let one of them own it`;
  const message = `Phases ${first} and ${second} may run at the same time and both own ${what}; ${advice}`;
  reportError(findings, "file_overlap", first, message);
}

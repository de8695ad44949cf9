// Finds phases that may run at the same time and own the same file. It first finds colliding patterns by their leading directories, and
// only then checks the order of their phases: a plan without collisions costs next to nothing.
import type { Graph } from "../graph.ts";
import { overlap, type Pattern } from "../pattern.ts";
import { orderWithin } from "./reach.ts";

/** What one phase owns; the phase is given by its position in the plan. */
export interface Owner {
  position: number;
  patterns: readonly Pattern[];
}

/** The positions of two phases, the earlier one in the plan first, and what both claim. */
export interface Overlap {
  first: number;
  second: number;
  paths: Set<string>;
}

export interface Overlaps {
  found: Overlap[];
  /** The limit that stopped the search early, if any. */
  limit: "overlaps" | "work" | null;
}

export const MAX_OVERLAPS = 100;
/** Characters of patterns plus pairs of phases compared: one or two seconds of work, or 700 globs in one directory. */
const MAX_WORK = 100_000_000;

interface Claim {
  pattern: Pattern;
  /** In topological order. */
  positions: number[];
}

/** The caller leaves out phases that run alone; this function leaves out phases without a depth. */
export function overlapsOf(owners: readonly Owner[], graph: Graph): Overlaps {
  const budget = { left: MAX_WORK };
  const pairs = collidingClaims(claimsOf(owners, graph), budget);
  if (pairs.length === 0) return { found: [], limit: budget.left < 0 ? "work" : null };
  const members = new Set<number>();
  for (const claim of new Set(pairs.flat())) for (const position of claim.positions) members.add(position);
  const areOrdered = orderWithin(graph, [...members]);
  const found = new Map<string, Overlap>();
  for (const [a, b] of pairs) {
    budget.left -= a.positions.length + b.positions.length;
    if (budget.left < 0) break;
    if (isChain(a === b ? a.positions : [...a.positions, ...b.positions], graph, areOrdered)) continue;
    for (const left of a.positions) {
      budget.left -= b.positions.length;
      if (budget.left < 0) return { found: inPlanOrder(found), limit: "work" };
      for (const right of b.positions) {
        if (left === right || areOrdered(left, right)) continue;
        if (!record(found, left, right, a, b)) return { found: inPlanOrder(found), limit: "overlaps" };
      }
    }
  }
  return { found: inPlanOrder(found), limit: budget.left < 0 ? "work" : null };
}

/** One claim for each distinct pattern, however many phases own it. */
function claimsOf(owners: readonly Owner[], graph: Graph): Claim[] {
  const patternsAt = new Map<number, readonly Pattern[]>();
  for (const { position, patterns } of owners) patternsAt.set(position, patterns);
  const claims = new Map<string, Claim>();
  for (const position of graph.order) {
    for (const pattern of patternsAt.get(position) ?? []) {
      const claim = claims.get(pattern.text);
      if (claim === undefined) claims.set(pattern.text, { pattern, positions: [position] });
      else if (claim.positions.at(-1) !== position) claim.positions.push(position);
    }
  }
  return [...claims.values()];
}

/** Pairs of claims that can name the same file, including a claim shared by several phases, paired with itself. */
function collidingClaims(claims: readonly Claim[], budget: { left: number }): [Claim, Claim][] {
  const pairs: [Claim, Claim][] = [];
  /** Grouped by the literal names that patterns begin with: two patterns can only overlap when one prefix begins with the other. */
  const byPrefix = new Map<string, Claim[]>();
  for (const claim of claims.toSorted((a, b) => a.pattern.literal - b.pattern.literal)) {
    const { text, segments, literal } = claim.pattern;
    let prefix = "";
    for (let at = 0; ; at++) {
      budget.left -= prefix.length;
      for (const above of byPrefix.get(prefix) ?? []) {
        budget.left -= above.pattern.text.length * text.length;
        if (budget.left < 0) return pairs;
        if (overlap(above.pattern, claim.pattern)) pairs.push([above, claim]);
      }
      if (at === literal) break;
      prefix += `/${segments[at]}`;
    }
    const beside = byPrefix.get(prefix);
    if (beside === undefined) byPrefix.set(prefix, [claim]);
    else beside.push(claim);
    if (claim.positions.length > 1) pairs.push([claim, claim]);
  }
  return pairs;
}

/** Whether all are ordered. Comparing neighbours is enough, because order is transitive. */
function isChain(positions: readonly number[], graph: Graph, areOrdered: (a: number, b: number) => boolean): boolean {
  const sorted = positions.toSorted((a, b) => (graph.depths[a] ?? 0) - (graph.depths[b] ?? 0));
  return sorted.every((position, at) => {
    const next = sorted[at + 1];
    return next === undefined || next === position || areOrdered(position, next);
  });
}

/** False when the limit on pairs is reached. */
function record(found: Map<string, Overlap>, left: number, right: number, a: Claim, b: Claim): boolean {
  const [first, second] = left < right ? [left, right] : [right, left];
  const key = `${first} ${second}`;
  const known = found.get(key) ?? { first, second, paths: new Set() };
  if (!found.has(key) && found.size === MAX_OVERLAPS) return false;
  found.set(key, known);
  known.paths.add(a === b ? a.pattern.text : `${a.pattern.text} and ${b.pattern.text}`);
  return true;
}

function inPlanOrder(found: ReadonlyMap<string, Overlap>): Overlap[] {
  return [...found.values()].sort((a, b) => a.first - b.first || a.second - b.second);
}

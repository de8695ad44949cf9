// Which files of the active session a search matches: `find . -name '*.jsonl'` finds the journal from any directory.

import type { Machine } from "../machine.ts";
import { isInside, locate, normal, pathSegments } from "../paths.ts";
import { canBe, withGlobs } from "../shell/shape.ts";

/** One sample of each kind of file that Maestro keeps. */
const files = ["state/progress.jsonl", "state/active-session.md", "parallel/b/results/x.json"];
const directories = ["", "/state", "/parallel"];

interface Test {
  name: string;
  value: string;
  isNegated: boolean;
}

/** Returns absolute paths. `roots` and `args` are those of find. */
export function reachedOfSession(
  roots: readonly string[],
  args: readonly string[],
  cwd: string,
  machine: Machine,
): string[] {
  const state = normal(machine.stateDir);
  const root = roots.find((one) => isInside(state, locate(one, cwd)) || isInside(locate(one, cwd), state));
  if (root === undefined || machine.hasSession?.() !== true) return [];
  const groups = groupsOf(args);
  const pruned = groups.filter((tests) => tests.some(({ name }) => name === "-prune"));
  const isReached = (path: string, kind: string) => {
    const from = locate(root, cwd);
    const below = path === from ? "" : path.slice(from === "/" ? 1 : from.length + 1);
    const printed = below === "" ? root : `${root.replace(/\/$/, "")}/${below}`;
    if (!isInside(path, from) || pruned.some((tests) => isPruned(tests, printed, root))) return false;
    return groups.some((tests) => !pruned.includes(tests) && isHit(tests, printed, kind, pathSegments(below).length));
  };
  return [
    ...files.map((file) => `${state}/${file}`).filter((path) => isReached(path, "f")),
    ...directories.map((name) => state + name).filter((path) => isReached(path, "d")),
  ];
}

const plain = /^-(?:i?name|i?path|wholename|iwholename|i?regex|type|xtype|maxdepth|empty|prune|size)$/;

/** The tests between two `-o`. Brackets are ignored. */
function groupsOf(args: readonly string[]): Test[][] {
  const groups: Test[][] = [[]];
  let isNegated = false;
  for (const [i, arg] of args.entries()) {
    if (arg === "-o" || arg === "-or") groups.push([]);
    else if (plain.test(arg)) groups.at(-1)?.push({ name: arg, value: args[i + 1] ?? "", isNegated });
    isNegated = arg === "!" || arg === "-not";
  }
  return groups;
}

function isHit(tests: readonly Test[], path: string, kind: string, depth: number): boolean {
  // A search without a name test is judged by its start directory.
  if (!tests.some(({ name, isNegated }) => /name|path|regex/.test(name) && !isNegated)) return false;
  return tests.every(({ name, value, isNegated }) => {
    if (name === "-maxdepth") return depth <= Number(value);
    if (name === "-empty" || name === "-size") return name === "-size" && value !== "0";
    if (name === "-type" || name === "-xtype") return value.split(",").includes(kind) !== isNegated;
    return matches(name, value, path) !== isNegated;
  });
}

function isPruned(tests: readonly Test[], path: string, root: string): boolean {
  const names = tests.filter(({ name, isNegated }) => /name|path|regex/.test(name) && !isNegated);
  for (let at = path.length; at >= root.length && at > 0; at = path.lastIndexOf("/", at - 1)) {
    const above = path.slice(0, at);
    if (names.some(({ name, value }) => matches(name, value, above))) return true;
  }
  return false;
}

function matches(test: string, value: string, path: string): boolean {
  if (test.endsWith("regex")) {
    // Only the words of an expression are compared, because find supports several dialects.
    const words = value.match(/[a-z]{2,}/gi) ?? [];
    return words.every((word) => path.toLowerCase().includes(word.toLowerCase()));
  }
  const text = /^-i?name$/.test(test) ? (pathSegments(path).at(-1) ?? "") : path;
  const shape = withGlobs(value);
  return test.startsWith("-i") ? canBe(shape.toLowerCase(), text.toLowerCase()) : canBe(shape, text);
}

// Parses YAML text to plain values: with the fast reader first, with the library where that one stops. No text can make it throw, use
// unbounded memory or change a prototype.
import { createRequire } from "node:module";
import type { Pair, YAMLMap, YAMLSeq } from "yaml";
import { readPlainYaml } from "./plain-yaml.ts";

/** Loaded on first use, which is rare: loading it takes a third of the time of a short command (tools/build.js). */
const library = (): typeof import("yaml") => createRequire(import.meta.url)("yaml");

export type YamlResult = { value: unknown } | { code: "yaml_parse" | "too_large"; line: number; problem: string };

/** The library needs about 1 s and 100 MB for each MiB of ordinary YAML, at worst twice as much. */
export const MAX_LIBRARY_CHARS = 4 * 1024 * 1024;
/** The library recurses, so nesting is limited by open brackets (quoted ones included) and by columns of indentation. */
export const MAX_BRACKETS = 300;
const MAX_COLUMNS = 200;
/** How often the aliases of one anchor may be expanded. */
const MAX_ALIASES = 100;
/** The library visits all nodes for each alias; this limits the visits. */
const MAX_LOOKS = 3_000_000;
/** A merge copies keys; this limits the copies over the whole text. */
const MAX_MERGED = 5_000;

/** `limit` is the maximum length of a text that only the library can read. */
export function readYaml(text: string, limit = MAX_LIBRARY_CHARS): YamlResult {
  const plain = readPlainYaml(text);
  if ("value" in plain) return plain;
  if (text.length > limit) {
    return { code: "too_large", line: plain.stoppedAt, problem: beyondPlain(limit) };
  }
  const tooDeep = lineTooDeep(text);
  return tooDeep === undefined ? readWithLibrary(text) : failed(tooDeep, "it is nested too deeply");
}

/** Reads without the fast reader; exported for the property test that compares the two. */
export function readWithLibrary(text: string): YamlResult {
  try {
    const { LineCounter, parseDocument } = library();
    const lines = new LineCounter();
    const document = parseDocument(text, {
      lineCounter: lines,
      schema: "core",
      merge: true,
      // The library compares every key with every other key; `findBadKey` uses a set instead.
      uniqueKeys: false,
      prettyErrors: false,
      resolveKnownTags: false,
      logLevel: "error",
    });
    // Warnings are about tags unknown to the core schema.
    const trouble = document.errors[0] ?? document.warnings[0];
    if (trouble !== undefined) return failed(lines.linePos(trouble.pos[0]).line, withAdvice(trouble));
    const badKey = findBadKey(document.contents);
    if (badKey !== undefined) return failed(lines.linePos(badKey.offset).line, badKey.problem);
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    // Too many aliases, or the library cannot be loaded any more.
    return failed(1, error instanceof Error ? error.message : String(error));
  }
}

export type YamlPath = readonly (string | number)[];

/** Sets values in YAML text and deletes those that are undefined; comments, order and values of the rest stay. Throws when the text does not allow it. */
export function editYaml(text: string, edits: readonly { at: YamlPath; value: unknown }[]): string {
  const document = library().parseDocument(text, {
    schema: "core",
    merge: true,
    prettyErrors: false,
    logLevel: "error",
  });
  for (const { at, value } of edits) {
    if (value === undefined) document.deleteIn(at);
    else document.setIn(at, document.createNode(value));
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function beyondPlain(limit: number): string {
  const size = limit < MAX_LIBRARY_CHARS ? `${limit / 1024} KiB` : `${limit / (1024 * 1024)} MiB`;
  return `is not plain YAML, and only plain YAML is read beyond ${size}; simplify it or split the plan`;
}

/** The library speaks of the grammar; people forget quotes and shift lines. */
function withAdvice({ code, message }: { code: string; message: string }): string {
  switch (code) {
    case "BLOCK_AS_IMPLICIT_KEY":
      return `${message}; put a text that contains ": " in quotes, or correct the indentation`;
    case "BAD_SCALAR_START":
      return `${message}; put the text in quotes`;
    case "MISSING_CHAR":
      return message.startsWith("Sequence item") ? `${message}; correct the indentation` : message;
    case "UNEXPECTED_TOKEN":
      return message.startsWith("Unexpected scalar") ? `${message}; check quotes and indentation` : message;
    default:
      return message;
  }
}

function failed(line: number, problem: string): YamlResult {
  return { code: "yaml_parse", line, problem: `cannot be read as YAML: ${problem}` };
}

function lineTooDeep(text: string): number | undefined {
  let brackets = 0;
  for (const [index, line] of text.split("\n").entries()) {
    for (const char of line.match(/[[\]{}]/g) ?? []) brackets = Math.max(0, brackets + ("[{".includes(char) ? 1 : -1));
    if (brackets > MAX_BRACKETS || indentation.test(line)) return index + 1;
  }
  return undefined;
}

const indentation = new RegExp(`^(?: |[-?:](?= )){${MAX_COLUMNS}}`);

type Collection = YAMLMap | YAMLSeq;

interface BadKey {
  problem: string;
  offset: number;
}

/** Finds a duplicate key, a key that is a collection (which the library would stringify at any cost), or too many merged keys. */
function findBadKey(root: unknown): BadKey | undefined {
  const { isMap, isScalar } = library();
  const { nodes, looks } = nodesOf(root);
  const anchored = new Map(nodes.flatMap((node) => (node.anchor === undefined ? [] : [[node.anchor, node]])));
  let merged = 0;
  for (const node of nodes) {
    if (!isMap(node)) continue;
    const keys = new Set<string>();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) return { problem: "a key must be a single word or text", offset: node.range?.[0] ?? 0 };
      const offset = key.range?.[0] ?? 0;
      const isMerge = typeof key.value === "symbol";
      const name = isMerge ? "<<" : String(key.value);
      if (keys.has(name)) return { problem: `the key ${name} appears twice in one map`, offset };
      keys.add(name);
      if (isMerge) merged += mergedBy(value, anchored);
      if (merged > MAX_MERGED) return { problem: `more than ${MAX_MERGED} keys are merged with <<`, offset };
    }
  }
  return looks > MAX_LOOKS ? { problem: "it has too many aliases (*name) for its length", offset: 0 } : undefined;
}

/** Collects every collection, without recursion, and how many node visits the aliases among them cost. */
function nodesOf(root: unknown): { nodes: Collection[]; looks: number } {
  const { isAlias, isMap, isSeq } = library();
  const nodes: Collection[] = [];
  const open: unknown[] = [root];
  let [total, aliases] = [0, 0];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    total++;
    if (isAlias(node)) aliases++;
    if (!isMap(node) && !isSeq(node)) continue;
    nodes.push(node);
    for (const item of node.items) open.push((isMap(node) ? (item as Pair).value : item) ?? null);
  }
  return { nodes, looks: aliases * total };
}

/** How many keys a merge adds, plus one for the merge itself; its source is a map or a list of maps. */
function mergedBy(value: unknown, anchored: ReadonlyMap<string, Collection>): number {
  const { isAlias, isMap, isSeq } = library();
  const known = (node: unknown) => (isAlias(node) ? anchored.get(node.source) : node);
  const source = known(value);
  const maps = isSeq(source) ? source.items.map(known) : [source];
  return maps.reduce((sum: number, map) => sum + (isMap(map) ? map.items.length : 0), 1);
}

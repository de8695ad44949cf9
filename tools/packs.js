// Joins the chunks of a program that load together into one file: Node spends about as long on opening and looking up a file as V8 spends on
// reading 3 kB of code. A chunk that few commands need stays a file of its own, because V8 reads the whole of a file.

import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";

/** @typedef {{ path: string, text: string }} File */

const required = /require\("\.\/([\w-]+\.js)"\)/g;
/** What `import()` has become: it is not needed when the file loads. */
const late = /\.then\(\(\)=>[\w$]*\(?require\("\.\/([\w-]+\.js)"\)/g;

/**
 * @param {File[]} files all files of the program, as CommonJS
 * @param {{ first: RegExp, name: string, common: number, rare: RegExp }} choice `first`: the file that every command loads, and whose chunks it is joined
 *   with; `name`: of the joined files; `common`: how many of the files that load later must share a chunk for it to be joined with the others
 *   of that kind; `rare`: files that do not count for this, because few users load them
 * @returns {File[]}
 */
export function packed(files, { first, name, common, rare }) {
  const texts = new Map(files.map(({ path, text }) => [basename(path), text]));
  const lateIn = (/** @type {string} */ file) => namesIn(late, texts.get(file) ?? "");
  const closureOf = (/** @type {string} */ file, /** @type {Set<string>} */ found = new Set()) => {
    if (found.has(file) || !texts.has(file)) return found;
    found.add(file);
    const later = new Set(lateIn(file));
    for (const needed of namesIn(required, texts.get(file) ?? "")) if (!later.has(needed)) closureOf(needed, found);
    return found;
  };
  const start = [...texts.keys()].find((file) => first.test(file));
  if (start === undefined) throw new Error(`no file of the program matches ${first}`);
  const entries = new Set([...texts.keys()].flatMap(lateIn).filter((file) => file !== start));
  const before = [...texts.keys()]
    .filter((file) => lateIn(file).includes(start))
    .flatMap((file) => [...closureOf(file)]);
  const always = [...closureOf(start)].filter((file) => !before.includes(file));
  /** @type {Map<string, number>} */
  const uses = new Map();
  const counted = [...entries].filter((entry) => !rare.test(entry));
  for (const entry of counted) for (const file of closureOf(entry)) uses.set(file, (uses.get(file) ?? 0) + 1);
  const often = [...uses.keys()].filter(
    (file) => (uses.get(file) ?? 0) >= common && !entries.has(file) && !always.includes(file) && !before.includes(file),
  );
  // A chunk of its own only because a rare file shares it stays with the file that needs it.
  const isFree = (/** @type {string} */ file) => ![always, before, often].some((group) => group.includes(file));
  const inRare = new Set([...entries].filter((entry) => rare.test(entry)).flatMap((entry) => [...closureOf(entry)]));
  const withEntry = counted.map((entry) => {
    const own = [...closureOf(entry)].filter((file) => inRare.has(file) && uses.get(file) === 1 && isFree(file));
    const part = entry.replace(new RegExp(`^${name}-|(?:-[0-9A-Z]{8})?[.]js$`, "g"), "");
    return /** @type {const} */ ([own.length === 0 ? own : [entry, ...own], part]);
  });
  /** @type {Map<string, string>} */
  const places = new Map();
  /** @type {(readonly [string[], string])[]} */
  const groups = [[always, "main"], [often, "common"], ...withEntry.filter(([group]) => group.length > 0)];
  for (const [group, part] of groups) {
    const hash = createHash("sha256").update(group.toSorted().join("\n")).digest("hex").slice(0, 8).toUpperCase();
    for (const file of group) places.set(file, `${name}-${part}-${hash}.js`);
  }
  const directory = dirname(files[0]?.path ?? "");
  const moved = (/** @type {string} */ text, /** @type {string | undefined} */ place) =>
    text.replace(required, (asked, file) => {
      const there = places.get(file);
      if (there === undefined) return asked;
      return there === place ? `__part("${file}")` : `require("./${there}")("${file}")`;
    });
  const apart = files
    .filter(({ path }) => !places.has(basename(path)))
    .map(({ path, text }) => ({ path, text: moved(text, undefined) }));
  const joined = [...new Set(places.values())].map((place) => {
    const members = [...places.keys()].filter((file) => places.get(file) === place);
    return {
      path: join(directory, place),
      text: joinedText(members.map((file) => [file, moved(texts.get(file) ?? "", place)])),
    };
  });
  return [...apart, ...joined];
}

/** @param {RegExp} pattern @param {string} text */
function namesIn(pattern, text) {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? "");
}

/**
 * A module runs when it is first asked for. V8 compiles a function in parentheses at once instead of reading it twice.
 * @param {[name: string, text: string][]} modules
 */
function joinedText(modules) {
  const head =
    "const __made={},__make={},__part=module.exports=name=>{let made=__made[name];" +
    "if(made===undefined){made=__made[name]={exports:{}};__make[name](made.exports,made)}return made.exports};\n";
  return (
    head +
    modules
      .map(([name, text]) => `__make["${name}"]=(function(exports,module){${text.replace(/^#!.*\n/, "")}});\n`)
      .join("")
  );
}

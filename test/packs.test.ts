import { describe, expect, test } from "vitest";
import { packed } from "../tools/packs.js";

/** A program of CommonJS files: `main` is loaded late, and loads `a` or `b` when it is asked for one. */
const program = {
  "start.js":
    'const early=require("./early.js");exports.run=()=>Promise.resolve().then(()=>require("./app-main.js"));exports.early=early;',
  "early.js": "exports.loaded=1;",
  "app-main.js":
    'const s=require("./shared.js"),e=require("./early.js");exports.e=e;exports.s=s;exports.a=()=>Promise.resolve().then(()=>require("./a.js"));exports.b=()=>Promise.resolve().then(()=>require("./b.js"));',
  "shared.js": "exports.count=0;",
  "both.js": 'const s=require("./shared.js");exports.up=()=>++s.count;',
  "a.js": 'const both=require("./both.js"),only=require("./only-a.js");exports.up=both.up;exports.only=only.name;',
  "b.js": 'const both=require("./both.js");exports.up=both.up;',
  "only-a.js": 'exports.name="only a";',
};
const files = Object.entries(program).map(([name, text]) => ({ path: `/dist/${name}`, text }));
const pack = () => packed(files, { first: /^app-main/, name: "app", common: 2, rare: /^rare/ });

/** Loads a file as Node does, and records which files are opened. */
function loader(all: { path: string; text: string }[]) {
  const made = new Map<string, { exports: unknown }>();
  const load = (name: string): unknown => {
    const known = made.get(name);
    if (known !== undefined) return known.exports;
    const text = all.find(({ path }) => path === `/dist/${name}`)?.text;
    if (text === undefined) throw new Error(`no file ${name}`);
    const module = { exports: {} };
    made.set(name, module);
    new Function("exports", "module", "require", text)(module.exports, module, (id: string) => load(id.slice(2)));
    return module.exports;
  };
  return { load, opened: () => [...made.keys()] };
}

describe("joined chunks", () => {
  test("keep what every command loads in one file, what most share in another, and the rest apart", () => {
    const names = pack().map(({ path }) => path.replace(/-[0-9A-F]{8}\./, "."));
    expect(names).toEqual([
      ...["start.js", "early.js", "a.js", "b.js", "only-a.js"].map((name) => `/dist/${name}`),
      "/dist/app-main.js",
      "/dist/app-common.js",
    ]);
  });

  test("behave as before, with one instance of each module", async () => {
    const { load, opened } = loader(pack());
    const start = load("start.js") as { run: () => Promise<{ s: { count: number }; e: object }>; early: object };
    expect(opened()).toEqual(["start.js", "early.js"]);
    const main = (await start.run()) as Awaited<ReturnType<typeof start.run>> & {
      a: () => Promise<{ up: () => number; only: string }>;
      b: () => Promise<{ up: () => number }>;
    };
    expect(main.e).toBe(start.early);
    const [a, b] = [await main.a(), await main.b()];
    expect([a.up(), b.up(), main.s.count, a.only]).toEqual([1, 2, 2, "only a"]);
    expect(opened().length).toBe(7);
  });

  test("stay with the file that needs them when only a rare one shares them", async () => {
    const main = `${program["app-main.js"]}exports.rare=()=>Promise.resolve().then(()=>require("./rare.js"));`;
    const rare =
      'const only=require("./only-a.js"),both=require("./both.js");exports.name=only.name;exports.up=both.up;';
    const all = Object.entries({ ...program, "app-main.js": main, "rare.js": rare });
    const made = packed(
      all.map(([name, text]) => ({ path: `/dist/${name}`, text })),
      { first: /^app-main/, name: "app", common: 2, rare: /^rare/ },
    );
    const names = made.map(({ path }) => path.replace(/-[0-9A-F]{8}\./, "."));
    expect(names).toContain("/dist/app-a.js");
    expect(names).not.toContain("/dist/only-a.js");
    const { load } = loader(made);
    const started = (await (load("start.js") as { run: () => Promise<unknown> }).run()) as {
      a: () => Promise<{ only: string }>;
      rare: () => Promise<{ name: string }>;
    };
    expect([(await started.a()).only, (await started.rare()).name]).toEqual(["only a", "only a"]);
  });

  test("have a name that changes with their content", () => {
    const renamed = files.map(({ path, text }) => ({
      path: path.replace("shared", "shared-2"),
      text: text.replaceAll("./shared.js", "./shared-2.js"),
    }));
    const joined = packed(renamed, { first: /^app-main/, name: "app", common: 2, rare: /^rare/ }).map(
      ({ path }) => path,
    );
    const before = pack().map(({ path }) => path);
    expect(joined.find((path) => path.includes("main"))).not.toBe(before.find((path) => path.includes("main")));
  });
});

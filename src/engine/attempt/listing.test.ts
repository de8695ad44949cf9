import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Listing, listingChanges, listProject } from "./listing.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "maestro-listing-"));
  root = join(base, "project");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (path: string) => join(root, path);

/** Dated long ago, so that the next write has a different time. */
function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), `content of ${path}\n`);
    utimesSync(at(path), 1_700_000_000, 1_700_000_000);
  }
}

const list = (exclude: string[] = []) => listProject(root, { exclude });
const paths = ({ files }: Listing) => [...files.keys()].sort();

/** "kind path" of every change, "kind from -> path" of a renamed file. */
function told(before: Listing, after: Listing): string[] {
  return listingChanges(before, after).map(({ kind, path, from }) =>
    from === undefined ? `${kind} ${path}` : `${kind} ${from} -> ${path}`,
  );
}

describe("changes in a project without git", () => {
  beforeEach(() => write("a.ts", "src/b.ts", "src/deep/c.ts"));

  test.each<[string, () => void, string[]]>([
    ["nothing", () => undefined, []],
    ["a new file", () => write("src/new/d.ts"), ["created src/new/d.ts"]],
    ["more content", () => appendFileSync(at("a.ts"), "x"), ["modified a.ts"]],
    ["other content of the same size", () => writeFileSync(at("a.ts"), "CONTENT OF A.TS\n"), ["modified a.ts"]],
    [
      "a different file of the same size and time",
      () => {
        write("../other");
        writeFileSync(join(base, "other"), "CONTENT OF A.TS\n");
        utimesSync(join(base, "other"), 1_700_000_000, 1_700_000_000);
        renameSync(join(base, "other"), at("a.ts"));
      },
      ["modified a.ts"],
    ],
    ["a permission", () => chmodSync(at("a.ts"), 0o755), ["modified a.ts"]],
    ["a deleted file", () => unlinkSync(at("src/b.ts")), ["deleted src/b.ts"]],
    ["a file that moved", () => renameSync(at("a.ts"), at("src/z.ts")), ["renamed a.ts -> src/z.ts"]],
    [
      "a file that moved and was changed",
      () => {
        renameSync(at("a.ts"), at("z.ts"));
        appendFileSync(at("z.ts"), "x");
      },
      ["deleted a.ts", "created z.ts"],
    ],
    [
      "a file that moved over another",
      () => renameSync(at("a.ts"), at("src/b.ts")),
      ["deleted a.ts", "modified src/b.ts"],
    ],
    [
      "a directory that moved",
      () => renameSync(at("src"), at("lib")),
      ["renamed src/b.ts -> lib/b.ts", "renamed src/deep/c.ts -> lib/deep/c.ts"],
    ],
    [
      "a directory in the place of a file",
      () => {
        unlinkSync(at("a.ts"));
        write("a.ts/x");
      },
      ["deleted a.ts", "created a.ts/x"],
    ],
    [
      "a link in the place of a file",
      () => {
        unlinkSync(at("a.ts"));
        symlinkSync("src/b.ts", at("a.ts"));
      },
      ["modified a.ts"],
    ],
    ["a second name of a file", () => linkSync(at("a.ts"), at("z.ts")), ["created z.ts"]],
    ["an empty directory", () => mkdirSync(at("empty")), []],
    ["a name with blanks, quotes and a line break", () => write('ä "b"\nc.ts'), ['created ä "b"\nc.ts']],
  ])("%s", async (_name, act, expected) => {
    const before = await list();
    act();
    expect(told(before, await list())).toEqual(expected);
  });

  test("have no line counts, because the files are not read", async () => {
    const before = await list();
    renameSync(at("a.ts"), at("z.ts"));
    expect(listingChanges(before, await list())).toEqual([
      { path: "z.ts", kind: "renamed", from: "a.ts", added: null, removed: null },
    ]);
  });

  test("name each hard link of a file once", async () => {
    linkSync(at("a.ts"), at("b.ts"));
    const before = await list();
    renameSync(at("a.ts"), at("y.ts"));
    unlinkSync(at("b.ts"));
    const changes = listingChanges(before, await list());
    expect(changes.map(({ kind }) => kind).sort()).toEqual(["deleted", "renamed"]);
    expect(changes.map(({ path, from }) => from ?? path).sort()).toEqual(["a.ts", "b.ts"]);
  });
});

describe("a listing", () => {
  test("contains files that phases may own, but not directories that tools fill", async () => {
    const own = [
      "a.ts",
      "dist/a.js",
      "build/x",
      "vendor/own.c",
      "src/target/x.ts",
      "deps/graph.ts",
      "lib/.env",
      ".gitignore",
    ];
    const tools = [".git/config", "node_modules/x/i.js", "web/node_modules/x/i.js", ".venv/x", "src/__pycache__/a.pyc"];
    write(...own, ...tools);
    expect(paths(await list())).toEqual([...own].sort());
  });

  test.each([
    ["vendor", "composer.json"],
    ["vendor", "go.mod"],
    ["target", "Cargo.toml"],
    ["deps", "mix.exs"],
    ["Pods", "Podfile"],
  ])("leaves %s out beside %s, and only there", async (directory, file) => {
    write(`api/${file}`, `api/${directory}/x`, `other/${directory}/x`);
    expect(paths(await list())).toEqual([`api/${file}`, `other/${directory}/x`]);
  });

  test("leaves out excluded paths, but not paths that only start with the same text", async () => {
    write(".gemini/state/s", ".gemini/settings.json", ".gemini/state-of-affairs.md", "st/x", "x/st/y", "one.log");
    expect(paths(await list([".gemini/state", "./st/", "one.log"]))).toEqual(
      [".gemini/settings.json", ".gemini/state-of-affairs.md", "x/st/y"].sort(),
    );
  });

  test("contains links, not their targets", async () => {
    write("../outside/secret", "a.ts");
    symlinkSync(join(base, "outside"), at("link"));
    symlinkSync("..", at("up"));
    symlinkSync("nowhere", at("broken"));
    expect(paths(await list())).toEqual(["a.ts", "broken", "link", "up"]);
  });

  test("skips FIFOs without waiting for them", async () => {
    write("a.ts");
    execFileSync("mkfifo", [at("pipe")]);
    expect(paths(await list())).toEqual(["a.ts"]);
  });

  test("yields to the event loop", async () => {
    for (let index = 0; index < 6_000; index++) writeFileSync(at(`file-${index}`), "");
    let turns = 0;
    let isListing = true;
    const count = () => {
      turns += 1;
      if (isListing) setImmediate(count);
    };
    setImmediate(count);
    const { files } = await list();
    isListing = false;
    expect(files.size).toBe(6_000);
    expect(turns).toBeGreaterThan(1);
  });

  test("of a project that does not exist fails with an error that says so", async () => {
    await expect(listProject(at("nowhere"), { exclude: [] })).rejects.toThrow(
      expect.objectContaining({ code: "io", message: expect.stringContaining("no such file") }),
    );
  });
});

describe("a path that could not be read", () => {
  test("counts as neither created nor deleted when the project exceeds the limit", async () => {
    write("a", "b", "c");
    const all = await list();
    const some = await listProject(root, { exclude: [], limit: 2 });
    expect([all.complete, some.complete, some.files.size]).toEqual([true, false, 2]);
    expect([told(all, some), told(some, all)]).toEqual([[], []]);
    appendFileSync(at([...some.files.keys()][0] ?? ""), "x");
    expect(told(some, await list())).toEqual([`modified ${[...some.files.keys()][0]}`]);
  });

  test("is not assumed when the project has exactly as many entries as the limit", async () => {
    write("a", "d/b");
    expect(await listProject(root, { exclude: [], limit: 3 })).toMatchObject({ complete: true, files: { size: 2 } });
    expect(await listProject(root, { exclude: [], limit: 2 })).toMatchObject({ complete: false });
  });

  test("is named: directories that are nested too deeply", async () => {
    const deep = Array<string>(140).fill("d").join("/");
    write(`${deep}/x`, "a.ts");
    const { unreadable, files, complete } = await list();
    expect(complete).toBe(true);
    expect([...files.keys()]).toEqual(["a.ts"]);
    expect(unreadable).toEqual([expect.stringMatching(/^(d\/){127}d$/)]);
  });

  test("is named: files whose path is too long for an event", async () => {
    const long = Array<string>(20).fill("d".repeat(220)).join("/");
    execFileSync(
      "sh",
      ["-c", `for i in $(seq 20); do mkdir ${"d".repeat(220)}; cd -P ${"d".repeat(220)}; done; touch x`],
      {
        cwd: root,
      },
    );
    const { unreadable, files } = await list();
    expect(files.size).toBe(0);
    expect(long.startsWith(unreadable[0] ?? "none")).toBe(true);
    expect(unreadable).toHaveLength(1);
    execFileSync("rm", ["-rf", root]);
  });

  test.skipIf(process.platform !== "linux")("is named: names that are not valid UTF-8", async () => {
    write("a.ts");
    writeFileSync(Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([0xff]), Buffer.from(".ts")]), "");
    expect(await list()).toMatchObject({ unreadable: ["b\ufffd.ts"], files: { size: 1 } });
  });

  test("is named: directories without read permission, below which nothing counts as created or deleted", async () => {
    write("a.ts", "closed/b.ts", "closed/c/d.ts", "names-only/e.ts", "closed-not/f.ts");
    const before = await list();
    chmodSync(base, 0o755);
    chmodSync(at("closed"), 0o000);
    chmodSync(at("names-only"), 0o444);
    const after = await asSomebodyElse(list);
    expect(after.unreadable).toEqual(["closed", "names-only"]);
    expect(paths(after)).toEqual(["a.ts", "closed-not/f.ts"]);
    unlinkSync(at("a.ts"));
    expect(told(before, await asSomebodyElse(list))).toEqual(["deleted a.ts"]);
    expect(told(after, before)).toEqual([]);
    for (const path of ["closed", "names-only"]) chmodSync(at(path), 0o755);
  });
});

/** Permissions do not apply to root. */
async function asSomebodyElse<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

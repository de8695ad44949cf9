import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { dirname, join } from "node:path";
import { cruise, type IConfiguration, type ICruiseResult } from "dependency-cruiser";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { root } from "./support/project.ts";

const MAX_LINES = 400;
const MAX_FUNCTION_LINES = 80;
const MAX_FILES_IN_FOLDER = 25;
const MAX_TEST_LINES = 800;
/** A verb has the name of the function that runs it, an option and a part of an event the name of what they describe. */
const namedByTables = /^cli\/verbs\/|^cli\/options\.ts$|^session\/event-parts\.ts$/;
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((path) =>
  /\.tsx?$/.test(path),
);

const parsed = sources
  .filter((path) => !path.endsWith(".test.ts"))
  .map((path) => {
    const text = readFileSync(join(root, "src", path), "utf8");
    return [path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)] as const;
  });

const isExported = (node: ts.Statement) =>
  ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

/** The functions, classes, types and constants that a statement declares. */
function namesIn(node: ts.Statement): string[] {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText());
  const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  const isNamed = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || isType;
  return isNamed && node.name !== undefined ? [node.name.text] : [];
}

describe("the house", () => {
  test("imports only what the table allows, and the table was looked at", async () => {
    const { forbidden, required, options }: IConfiguration = createRequire(import.meta.url)(
      join(root, ".dependency-cruiser.cjs"),
    );
    const { output } = await cruise(["src"], {
      ...(options ?? {}),
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: forbidden ?? [], required: required ?? [] },
    });
    const { summary } = output as ICruiseResult;
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
    expect(summary.totalCruised).toBeGreaterThanOrEqual(sources.length);
    expect(summary.totalDependenciesCruised).toBeGreaterThan(100);
  });

  test(`has no source file of more than ${MAX_LINES} lines`, () => {
    const styles = readdirSync(join(root, "src/web/style"));
    // tools/page.js puts each of them into the page, and fails when one that it names is missing.
    expect(styles.length).toBeGreaterThan(5);
    const page = readFileSync(join(root, "tools/page.js"), "utf8");
    expect(styles.filter((name) => !page.includes(`"${name.replace(".css", "")}"`))).toEqual([]);
    const all = [...sources, ...styles.map((name) => `web/style/${name}`)];
    const long = all.filter(
      (path) =>
        !path.endsWith(".test.ts") && readFileSync(join(root, "src", path), "utf8").split("\n").length > MAX_LINES,
    );
    expect(long).toEqual([]);
  });

  test(`has no test of more than ${MAX_TEST_LINES} lines`, () => {
    const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).map((path) =>
      join("test", path),
    );
    const all = [...tests, ...sources.map((path) => join("src", path))].filter((path) => path.endsWith(".test.ts"));
    expect(all.length).toBeGreaterThan(200);
    expect(all.filter((path) => readFileSync(join(root, path), "utf8").split("\n").length > MAX_TEST_LINES)).toEqual(
      [],
    );
  });

  test(`has no function of more than ${MAX_FUNCTION_LINES} lines`, () => {
    const long: string[] = [];
    let functions = 0;
    for (const [path, file] of parsed) {
      const visit = (node: ts.Node): void => {
        if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
          functions += 1;
          const [first, last] = [node.getStart(), node.end].map((at) => file.getLineAndCharacterOfPosition(at).line);
          const lines = (last ?? 0) - (first ?? 0) + 1;
          if (lines > MAX_FUNCTION_LINES) long.push(`${path}:${(first ?? 0) + 1} has ${lines} lines`);
        }
        ts.forEachChild(node, visit);
      };
      visit(file);
    }
    expect(functions).toBeGreaterThan(1000);
    expect(long).toEqual([]);
  });

  test(`has no folder of more than ${MAX_FILES_IN_FOLDER} files`, () => {
    const counts = new Map<string, number>();
    for (const path of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count > MAX_FILES_IN_FOLDER);
    expect(full.map(([folder, count]) => `${folder} has ${count} files`)).toEqual([]);
  });

  test("exports no name from two files", () => {
    const owners = new Map<string, string[]>();
    for (const [path, file] of parsed) {
      for (const name of file.statements.filter(isExported).flatMap(namesIn)) {
        owners.set(name, [...(owners.get(name) ?? []), path]);
      }
    }
    expect(owners.size).toBeGreaterThan(1000);
    const shared = [...owners].filter(([, paths]) => paths.filter((path) => !namedByTables.test(path)).length > 1);
    expect(shared.map(([name, paths]) => `${name}: ${paths.join(", ")}`)).toEqual([]);
  });

  // knip does not check the exports of a file that is loaded with `(await import(...)).name`, as the code of every verb is.
  test("has no export that is named nowhere else", () => {
    const files = ["src", "test", "bench", "tools"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => /\.(?:tsx?|js)$/.test(path))
        .map((path) => join(folder, path)),
    );
    const words = files.flatMap((path) => readFileSync(join(root, path), "utf8").match(/[\w$]+/g) ?? []);
    const uses = new Map<string, number>();
    for (const word of words) uses.set(word, (uses.get(word) ?? 0) + 1);
    const exported = parsed.flatMap(([path, { statements }]) =>
      statements.filter(isExported).flatMap((statement) => namesIn(statement).map((name) => ({ path, name }))),
    );
    expect(exported.length).toBeGreaterThan(1000);
    expect(exported.filter(({ name }) => (uses.get(name) ?? 0) < 2)).toEqual([]);
  });

  test("opens every source file with a line about what it owns", () => {
    const silent = sources.filter(
      (path) => !path.endsWith(".test.ts") && !readFileSync(join(root, "src", path), "utf8").startsWith("// "),
    );
    expect(silent).toEqual([]);
  });

  test("has one main.ts per entry point and no file named after a pattern", () => {
    expect(sources.filter((path) => /main\.tsx?$/.test(path)).sort()).toEqual([
      "acp/main.ts",
      "cli/main.ts",
      "hooks/main.ts",
      "mcp/main.ts",
      "player/main.ts",
      "warden/main.ts",
      "web/main.tsx",
    ]);
    expect(
      sources.filter((path) => /(^|[/-])(index|utils?|helpers?|manager|factory|service)\.tsx?$/.test(path)),
    ).toEqual([]);
  });
});

/**
 * The files that may import a function of node:fs that can write, create or remove, by folder: base names, in whatever subfolder they are.
 * openSync is among these functions, though some of the files only read with it. That of runtimes/pi is in the text of a program that Pi
 * loads, which prints with it; the file itself imports nothing of node:fs.
 */
const writers: Record<string, string> = {
  acp: "files main",
  cli: "check-runtimes detach dispatch input main rehearse report-html",
  engine: "copied-project shared-quota start-detached",
  git: "apply collect copy-ignored ignored loose move own-git own-objects prepare read-file refs remove-directory special-files tree-of-files tree-without worktree",
  hooks: "input main",
  player: "main",
  runtimes: "pi",
  disk: "cache-directory compiled-code contained durable keep-code make-directories random",
  store: "batch delegations env-files journal live-tokens workspace",
  workers: "spool transport workplace",
  "": "setting-layers",
};
const writing =
  /^(?:write|append|rm|unlink|rename|link|symlink|copy|cp|mkdir|mkdtemp|f?truncate|[fl]?chmod|[fl]?chown|[fl]?utimes|open(?!dir)|createWriteStream)/;

/** Escape sequences are made in cli/terminal.ts; the other files recognise them to take them out, or to judge `printf '\\e'`. */
const escapers = ["cli/terminal", "guard/printed", "text", "views/width", "web/ansi"];

/** Where text becomes an id: the form of the id was checked there, or Maestro makes the id itself. */
const idSources: Record<string, string> = {
  engine: "review take-baseline",
  git: "commit merge object-id refs tree-of-files",
  mcp: "context-chain",
  plan: "fields read-phase",
  session: "identify session",
  store: "view-keeper",
  workers: "clone parcel transport",
  "": "ids",
};

describe("a source file", () => {
  const own = sources
    .filter((path) => !path.endsWith(".test.ts"))
    .map((path) => {
      const folders = path.split("/");
      const name = folders.at(-1)?.replace(/\.tsx?$/, "") ?? "";
      const folder = folders.length > 1 ? (folders[0] ?? "") : "";
      return { path, folder, name, text: readFileSync(join(root, "src", path), "utf8") };
    });
  const inFolder = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);
  const among = (files: typeof own) => files.map(({ folder, name }) => inFolder(folder, name)).sort();

  test("imports node:fs by the names of its functions only", () => {
    const named = /import (?:type )?\{[^}]*\} from "node:fs(?:\/promises)?"/g;
    expect(among(own.filter(({ text }) => /["'](?:node:)?fs(?:\/|["'])/.test(text.replace(named, ""))))).toEqual([]);
  });

  test("imports functions of node:fs that write only if it is listed, and is listed only if it does", () => {
    const imported = (text: string) =>
      [...text.matchAll(/import \{([^}]*)\} from "node:fs(?:\/promises)?"/g)].flatMap(([, names = ""]) =>
        names.split(",").map((name) => name.trim()),
      );
    const listed = Object.entries(writers).flatMap(([folder, names]) =>
      names.split(" ").map((name) => inFolder(folder, name)),
    );
    const found = own.filter(({ text }) => imported(text).some((name) => writing.test(name)));
    // A second file of the same name in another subfolder is found twice, so the list allows one file with each name.
    expect(among(found)).toEqual(listed.sort());
  });

  test("loads a module by a name at run time only if it is listed", () => {
    const loads = /\bcreateRequire\(|\bgetBuiltinModule\b|\bprocess\.binding\b|\bmodule\.require\b/;
    expect(among(own.filter(({ text }) => loads.test(text)))).toEqual(["disk/compile-cache", "disk/crc32", "yaml"]);
  });

  test("starts no process with the option `shell` of Node", () => {
    const starts = parsed.filter(([, { text }]) => /["']node:child_process["']/.test(text));
    expect(starts.length).toBeGreaterThan(5);
    const given: string[] = [];
    for (const [path, file] of starts) {
      const visit = (node: ts.Node): void => {
        const isOption = ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node);
        if (isOption && node.name.getText() === "shell" && node.getText() !== "shell: false") given.push(path);
        ts.forEachChild(node, visit);
      };
      visit(file);
    }
    expect(given).toEqual([]);
  });

  test("is not a barrel, which only exports what other files export", () => {
    const isExport = (text: string) => /^export (?:type )?(?:\*|\{[^}]*\})[^;]* from /.test(text.trim());
    const barrels = parsed.filter(([, { statements }]) =>
      statements.some((statement) => isExport(statement.getText())),
    );
    // The hooks around a delegation are one bundle, and this file is its entry.
    expect(barrels.map(([path]) => path)).toEqual(["hooks/delegation.ts"]);
  });

  test("casts text to the id of a phase, session, attempt, tree or commit only if it is listed, and is listed only if it does", () => {
    const listed = Object.entries(idSources).flatMap(([folder, names]) =>
      names.split(" ").map((name) => inFolder(folder, name)),
    );
    const casts =
      /\bas (?:\(?(?:undefined|null) \| )?(?:Phase|Session|Attempt|Tree|Commit)Id\b|\b\w*(?:phase|session|commit|tree)\w* as never\b/;
    const found = among(own.filter(({ text }) => casts.test(text)));
    expect([...new Set(found)]).toEqual(listed.sort());
  });

  test("makes or recognises escape sequences only if it is listed", () => {
    expect(
      among(own.filter(({ text }) => /\\u001b|\\x1b|\\u\{0*1b\}|\u001b|CharCode\((?:27|0x1b)\b/i.test(text))),
    ).toEqual(escapers);
  });

  test("knows the streams, arguments and exit code of the process only as a main.ts", () => {
    const knows = /\bconsole\.|\bprocess\.(?:exit|exitCode|stdout|stderr|stdin|argv)\b/;
    // The engine of a detached run and the check of a runtime are this program with other arguments.
    const self = ["cli/check-runtimes", "cli/detach"];
    expect(among(own.filter(({ name, text }) => name !== "main" && knows.test(text)))).toEqual(self);
  });

  test("of a pure folder knows no clock, no chance and no environment", () => {
    const pure = /^(?:plan|session|handoff|prompt|runtimes|views|guard|web\/model)$/;
    const impure =
      /\bDate\.now\(|\bDate\(\)|\bMath\.random\(|\brandom(?:UUID|Bytes)\b|\bgetRandomValues\b|\bperformance\.|\bprocess\.\w|\} = process\b|\bset(?:Timeout|Interval|Immediate)\(/;
    const isPure = ({ folder, path }: (typeof own)[number]) => pure.test(folder) || pure.test(dirname(path));
    expect(own.filter(isPure).length).toBeGreaterThan(50);
    expect(among(own.filter((file) => isPure(file) && impure.test(file.text)))).toEqual([]);
  });
});

describe("AGENTS.md", () => {
  const agents = readFileSync(join(root, "AGENTS.md"), "utf8");
  const tree = /```\n([\s\S]*?)```/.exec(agents)?.[1]?.trimEnd().split("\n") ?? [];
  /** The folders that the lines name before their description; two spaces at least stand between them. */
  const named = (lines: string[]) =>
    lines
      .flatMap(
        (line) =>
          line
            .trim()
            .split(/ {2,}/)[0]
            ?.match(/[\w.-]+(?=\/)/g) ?? [],
      )
      .sort();
  const tracked = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = tracked.stdout
    .trim()
    .split("\n")
    .filter((file) => existsSync(join(root, file)));
  const folders = (path: string) =>
    [
      ...new Set(
        files
          .filter((file) => file.startsWith(path))
          .flatMap((file) => file.slice(path.length).match(/^[^/]+(?=\/)/) ?? []),
      ),
    ].sort();

  test("names every folder of the repository, and no other", () => {
    expect(named(tree.filter((line) => !line.startsWith(" ")))).toEqual(folders(""));
  });

  test("names every folder of src/, and no other", () => {
    expect(named(tree.filter((line) => line.startsWith("  ")))).toEqual(folders("src/"));
  });

  test("names for each rule a check that exists", () => {
    const rules = agents.split(/^## Rules\b.*$/m)[1]?.match(/^\d+\. .*(?:\n(?!\d+\. ).+)*/gm) ?? [];
    expect(rules.length).toBeGreaterThan(5);
    for (const rule of rules) {
      const checks = [...(/Checked by\s(.*)\.$/s.exec(rule)?.[1] ?? "").matchAll(/`([^`]+)`/g)].map(
        (match) => match[1],
      );
      expect(checks.length, rule).toBeGreaterThan(0);
      for (const check of checks) expect(existsSync(join(root, check ?? "")), `${rule}: ${check}`).toBe(true);
    }
  });
});

describe("CHANGELOG.md", () => {
  const headings = [...readFileSync(join(root, "CHANGELOG.md"), "utf8").matchAll(/^(##|###) (.*)$/gm)];
  const titles = (level: string) => headings.filter(([, marks]) => marks === level).map(([, , title]) => title);

  test("has a part for what is not released yet, and a dated one for this version", () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(titles("##")[0]).toBe("[Unreleased]");
    expect(titles("##")).toContainEqual(expect.stringMatching(new RegExp(`^\\[${version}\\] - \\d{4}-\\d\\d-\\d\\d$`)));
  });

  test("sorts changes by the kinds of Keep a Changelog only", () => {
    const kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    expect(titles("###").filter((title) => !kinds.includes(title ?? ""))).toEqual([]);
  });
});

describe("the repository", () => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

  test("pins every dependency exactly (X255, C44)", () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies }) as string[];
    expect(versions.filter((version) => !/^(?:npm:[a-z]+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  test("is a server of TypeScript on the official SDK with zod and yaml, started as dist/mcp.js (X255, C44)", () => {
    const { mcpServers } = JSON.parse(readFileSync(join(root, "gemini-extension.json"), "utf8"));
    expect(mcpServers.maestro.command).toBe("node");
    expect(mcpServers.maestro.args).toEqual([expect.stringMatching(/^\$\{extensionPath\}\/dist\/mcp\.js$/)]);
    const libraries = ["@modelcontextprotocol/server", "zod", "yaml"];
    const imported = sources
      .filter((path) => !path.endsWith(".test.ts"))
      .map((path) => readFileSync(join(root, "src", path), "utf8"));
    const used = (library: string) => imported.some((text) => text.includes(`from "${library}"`));
    expect(libraries.filter((library) => manifest.devDependencies[library] === undefined || !used(library))).toEqual(
      [],
    );
    expect(sources.filter((path) => path.startsWith("mcp/") && !path.endsWith(".ts"))).toEqual([]);
  });

  test("has scripts to build, watch and check types, and no script whose file is missing (X258)", () => {
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(["build", "dev", "typecheck"]));
    const lines = Object.values(manifest.scripts) as string[];
    const named = lines.flatMap((line) => [...line.matchAll(/\bnode ([\w./-]+)/g)].map((match) => match[1] as string));
    expect(named).toContain("tools/build.js");
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("has a lock file that is complete for every platform: npm ci refuses another one", () => {
    const entries = Object.entries(lock.packages) as [string, { optionalDependencies?: Record<string, string> }][];
    const missing = entries.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in lock.packages || `${path}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  // The registry that the lock was made with does not have these builds for other platforms; npm ci fetches them nowhere else.
  const unhashed = /^node_modules\/@(?:biomejs\/cli|oxc-parser\/binding|rolldown\/binding)-/;
  const onLinux = /-linux-(?:x64|arm64)(?:-(?:gnu|musl))?$/;

  test("has a lock file that knows the content of every package (T16)", () => {
    const entries = Object.entries(lock.packages) as [string, { integrity?: string; link?: true; inBundle?: true }][];
    const missing = entries
      .filter(([path, { integrity, link, inBundle }]) => path !== "" && !link && !inBundle && integrity === undefined)
      .map(([path]) => path);
    expect(missing.filter((path) => !unhashed.test(path) || onLinux.test(path))).toEqual([]);
    expect(missing.length).toBeLessThanOrEqual(33);
  });

  test("has a lock file without download addresses", () => {
    const entries = Object.entries(lock.packages) as [string, { resolved?: string }][];
    expect(entries.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([]);
  });

  const built = readdirSync(join(root, "dist")).map(
    (name) => [name, readFileSync(join(root, "dist", name), "utf8")] as const,
  );

  test("needs nothing but itself at run time (X257)", () => {
    expect(manifest.dependencies).toBeUndefined();
    for (const [name, bundle] of built) {
      // A comment in the scripts that BullMQ sends to Redis speaks of code from another script.
      const imported = [...bundle.matchAll(/(?<!code )(?:from|import|require\()\s*"([\w./:@-]+)"/g)].map(
        (match) => match[1] as string,
      );
      const isOwn = (path: string) => path.startsWith("./") && built.some(([other]) => path === `./${other}`);
      const foreign = imported.filter(
        (path) => !path.startsWith("node:") && !builtinModules.includes(path) && !isOwn(path),
      );
      expect(foreign, name).toEqual([]);
    }
  });

  test("starts a hook with little to read, and without schema library, YAML or command line parser", () => {
    const hooks = built.filter(([name]) => name.startsWith("hook"));
    expect(hooks.length).toBeGreaterThan(1);
    const usual = hooks.filter(([name]) => name !== "hook-adopting.cjs");
    for (const [name, bundle] of usual) expect(bundle, name).not.toMatch(/ZodError|YAMLParseError|Commander/);
    const sizes = Object.fromEntries(hooks.map(([name, bundle]) => [name, bundle.length]));
    expect(sizes["hook.cjs"]).toBeLessThan(32_000);
  });
});

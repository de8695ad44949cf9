import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { judgeCommand, judgeToolCall } from "../../src/guard/judge.ts";
import { quickest } from "../support/guard.ts";
import { root } from "../support/project.ts";
import { rewritesOf, seeded } from "./rewrites.ts";

type Verdict = ReturnType<typeof judgeCommand>;

interface ShellCase {
  id: string;
  command: string;
  /** Judge it while a session is active. */
  session?: true;
  /** Temporary directories that this user has made. */
  own?: string[];
  /** Links that exist, each with its target. */
  links?: Record<string, string>;
}

interface ToolCase {
  id: string;
  tool_name: string;
  tool_input: Record<string, unknown>;
}

type AllowCase = ShellCase | ToolCase;

type DenyCase = AllowCase & {
  tier: "literal" | "normal" | "hard";
  rule: string;
  /** Other correct rules: a shell write into a sensitive file breaks two. */
  also?: string[];
};

const ground = {
  projectRoot: "/work/project",
  home: "/home/dev",
  tmpdir: "/tmp",
  stateDir: "/work/project/.gemini",
  extensionRoot: "/home/dev/.gemini/extensions/maestro",
};
const REWRITES_PER_CASE = 5;
const SEED = 20_260_214;

const deny = load<DenyCase>("deny.jsonl").map((entry) => ({ ...entry, verdict: judge(entry) }));
const allow = load<AllowCase>("allow.jsonl").map((entry) => ({ ...entry, verdict: judge(entry) }));

describe("the corpus", () => {
  test("has at least 600 cases to deny and 900 to allow", () => {
    expect(deny.length).toBeGreaterThanOrEqual(600);
    expect(allow.length).toBeGreaterThanOrEqual(900);
  });

  test("contains no id and no call twice", () => {
    const all = [...deny, ...allow];
    expect(repeated(all.map(({ id }) => id))).toEqual([]);
    expect(repeated(all.map(shown))).toEqual([]);
  });
});

describe("the guard on the corpus", () => {
  test("denies every pattern of the design documents (S235, S236, S237, S238, Y286, Y287, Y288, Y289, Y290)", () => {
    expect(missed("literal")).toEqual([]);
  });

  test("denies at least 98 % of ordinary spellings and evasions (P13)", () => {
    expectShare(missed("normal"), tier("normal").length, 0.98);
  });

  test("gives a verdict for every case of real evasion", () => {
    expect(tier("hard").filter(({ verdict }) => verdict.verdict !== "allow" && verdict.verdict !== "deny")).toEqual([]);
    const total = tier("hard").length;
    console.info(`Real evasion (encodings, indirection): ${total - missed("hard").length} of ${total} denied`);
  });

  // The rule of a hard case is what the command would do; a judge that cannot see that may name any rule.
  test("names the right rule in at least 98 % of its denials", () => {
    const denied = deny.filter((entry) => entry.tier !== "hard" && entry.verdict.verdict === "deny");
    const wrong = denied.flatMap((entry) => {
      const named = ruleOf(entry.verdict);
      return [entry.rule, ...(entry.also ?? [])].includes(named) ? [] : [`${line(entry)}\n    named ${named}`];
    });
    expectShare(wrong, denied.length, 0.98);
  });

  test("denies at most 0.5 % of ordinary developer commands (P13, S240)", () => {
    const wrong = allow.flatMap((entry) =>
      entry.verdict.verdict === "allow" ? [] : [`${line(entry)}\n    ${entry.verdict.reason}`],
    );
    expectShare(wrong, allow.length, 0.995);
  });

  test("distinguishes a throw-away copy from a path that leads out of it, without exception (S235, S240)", () => {
    const wrong = [...allow, ...deny].filter(
      (entry) =>
        entry.id.startsWith("scratch-") && entry.verdict.verdict !== (entry.id.includes("out") ? "deny" : "allow"),
    );
    expect(wrong.map(line)).toEqual([]);
  });

  test("gives a reason with every denial, and the right tool with a denied shell write (S239)", () => {
    const silent = deny.filter(({ verdict }) => {
      if (verdict.verdict === "allow") return false;
      return verdict.rule === "shell-write" ? !/write_file|replace/.test(verdict.reason) : verdict.reason.trim() === "";
    });
    expect(silent.map(line)).toEqual([]);
  });
});

describe("meaning-preserving rewrites", () => {
  test("of a denied command stay denied in at least 98 %", { timeout: 120_000 }, () => {
    const tried = rewritten(deny.filter(({ verdict }) => verdict.verdict === "deny"));
    expectShare(tried.filter(({ verdict }) => verdict === "allow").map(lineOfRewrite), tried.length, 0.98);
  });

  test("of an allowed command stay allowed in at least 99.5 %", { timeout: 120_000 }, () => {
    const tried = rewritten(allow.filter(({ verdict }) => verdict.verdict === "allow"));
    expectShare(tried.filter(({ verdict }) => verdict === "deny").map(lineOfRewrite), tried.length, 0.995);
  });
});

describe("commands crafted to break the guard", () => {
  const REFUSED: [string, string][] = [
    ["10,000 open substitutions", "$(".repeat(10_000)],
    ["10,000 nested substitutions", `echo ${nested("$(", "ls", ")", 10_000)}`],
    ["70 nested substitutions", nested("echo $(", "ls", ")", 70)],
    ["10,000 open parentheses", "(".repeat(10_000)],
    ["10,001 backticks", "`".repeat(10_001)],
    ["1 MB of escaped quotes", '\\"'.repeat(500_000)],
    ["1 MB of quoted, escaped quotes", `echo "${'\\"'.repeat(500_000)}"`],
    ["300 kB of short words", `ls ${"a ".repeat(150_000)}`],
    ["300 kB in one word", `ls ${"a".repeat(300_000)}`],
    ["an open quote", 'echo "hi'],
    ["an if without its end", "if true; then ls"],
    ["a list without its end", "ls &&"],
    ["a stray parenthesis", "ls )"],
    ["100 kB of nested braces", `ls ${nested("{a,", "b", "}", 25_000)}`],
    ["100 kB of open braces before a removal", `ls ${"{a,".repeat(33_000)}; rm -rf /`],
    ["a product of 20,000 braces before a removal", `ls ${"{a,b}".repeat(20_000)}; rm -rf /`],
    ["a range of a billion before a removal", "ls {1..1000000000}; rm -rf /"],
    ["a removal in 70 subshells", nested("( ", "rm -rf /", " )", 70)],
    ["a removal in 70 groups", nested("{ ", "rm -rf /", "; }", 70)],
    ["a removal in 70 conditions", nested("if true; then ", "rm -rf /", "; fi", 70)],
    ["a removal behind 70 evals", `${"eval ".repeat(70)}rm -rf /`],
    ["a removal behind 1,000 times env", `${"env ".repeat(1_000)}rm -rf /`],
    ["a removal in shells within shells", nestedShells("rm -rf /", 200_000)],
    ["a removal in 70 shells fed by here-documents", nestedDocuments("rm -rf /", 70)],
    ["a removal behind variables that double 60 times", `a=xx; ${"a=$a$a; ".repeat(60)}ls $a; rm -rf /`],
    ["a removal behind a function that calls itself", "f() { f; f; }; f; rm -rf /"],
    ["a removal behind a text that evaluates itself", 'x=\'eval "$x"\'; eval "$x"; rm -rf /'],
    ["a pipeline of 10,000 programs into tee", `${"cat | ".repeat(10_000)}tee out.txt`],
    ["a removal behind 20,000 commands", `${"ls;".repeat(20_000)}rm -rf /`],
  ];

  test.each(REFUSED)("are denied with a reason within 200 ms: %s", (_, command) => {
    const { verdict, milliseconds } = timed(command);
    expect(verdict).toMatchObject({ verdict: "deny", reason: expect.stringMatching(/\w/) });
    expect(milliseconds).toBeLessThan(200);
  });

  const HARMLESS: [string, string][] = [
    ["a commit message of 200 kB", `git commit -m '${"a > b; rm -rf / ".repeat(13_000)}'`],
    ["20 nested subshells", nested("( ", "ls", " )", 20)],
    ["10 nested substitutions", nested("echo $(", "ls", ")", 10)],
    ["5 shells within shells", nestedShells("ls", 500)],
    ["500 commands in a row", Array(500).fill("npm test").join(" && ")],
    ["2,000 arguments", `npx eslint ${Array.from({ length: 2_000 }, (_, i) => `src/file-${i}.ts`).join(" ")}`],
  ];

  test.each(HARMLESS)("are distinguished from harmless long and deep ones: %s", (_, command) => {
    const { verdict, milliseconds } = timed(command);
    expect(verdict).toMatchObject({ verdict: "allow" });
    expect(milliseconds).toBeLessThan(200);
  });
});

function load<T>(name: string): T[] {
  const text = readFileSync(join(root, "test/guard", name), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((entry) => JSON.parse(entry) as T);
}

function judge(entry: AllowCase): Verdict {
  try {
    if ("command" in entry) {
      const { command, session, own = [], links = {} } = entry;
      return judgeCommand(command, {
        ...ground,
        hasSession: () => session === true,
        isOwnScratch: (directory) => own.includes(directory),
        realpath: (path) => throughLinks(path, links),
      });
    }
    return judgeToolCall(entry.tool_name, entry.tool_input, ground);
  } catch (cause) {
    throw new Error(`The guard threw on ${line(entry)}`, { cause });
  }
}

function throughLinks(path: string, links: Record<string, string>): string {
  const link = Object.keys(links).find((one) => path === one || path.startsWith(`${one}/`));
  return link === undefined ? path : (links[link] as string) + path.slice(link.length);
}

function tier(name: DenyCase["tier"]) {
  return deny.filter((entry) => entry.tier === name);
}

function missed(name: DenyCase["tier"]): string[] {
  return tier(name)
    .filter(({ verdict }) => verdict.verdict === "allow")
    .map(line);
}

function ruleOf(verdict: Verdict): string {
  return verdict.verdict === "deny" ? verdict.rule : "none";
}

function rewritten(entries: AllowCase[]) {
  const random = seeded(SEED);
  return entries.flatMap((entry) => {
    if (!("command" in entry)) return [];
    return rewritesOf(entry.command, REWRITES_PER_CASE, random).map(({ name, command }) => ({
      id: entry.id,
      name,
      command,
      verdict: judge({ ...entry, id: `${entry.id}, rewritten (${name})`, command }).verdict,
    }));
  });
}

function expectShare(wrong: string[], total: number, atLeast: number): void {
  expect(total).toBeGreaterThan(0);
  const right = (total - wrong.length) / total;
  expect(right, `${wrong.length} of ${total} are wrong:\n${wrong.join("\n")}\n`).toBeGreaterThanOrEqual(atLeast);
}

function line(entry: AllowCase): string {
  return `${entry.id}  ${shown(entry)}`;
}

function lineOfRewrite({ id, name, command }: { id: string; name: string; command: string }): string {
  return `${id} (${name})  ${command}`;
}

function shown(entry: AllowCase): string {
  return "command" in entry ? entry.command : `${entry.tool_name} ${JSON.stringify(entry.tool_input)}`;
}

function repeated(values: string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

function timed(command: string): { verdict: Verdict; milliseconds: number } {
  let verdict: Verdict = { verdict: "allow" };
  const milliseconds = quickest(200, () => {
    verdict = judgeCommand(command, ground);
  });
  return { verdict, milliseconds };
}

function nested(open: string, core: string, close: string, depth: number): string {
  return open.repeat(depth) + core + close.repeat(depth);
}

/** As many levels of bash -c as fit: quoting makes every level three times as long. */
function nestedShells(core: string, limit: number): string {
  const outer = `bash -c '${core.replaceAll("'", "'\\''")}'`;
  return outer.length > limit ? core : nestedShells(outer, limit);
}

function nestedDocuments(core: string, depth: number): string {
  const opened = Array.from({ length: depth }, (_, level) => `bash <<'E${level}'\n`).join("");
  const closed = Array.from({ length: depth }, (_, level) => `\nE${depth - 1 - level}`).join("");
  return opened + core + closed;
}

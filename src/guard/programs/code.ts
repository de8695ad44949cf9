// Finds out what code in Python, JavaScript, Perl, Ruby, PHP and others does to files: writes, recursive removals, shell commands.

import type { Inner } from "../shell/call.ts";
import { FILLED } from "../shell/shape.ts";
import { type CodeCall, callsIn, literal, literalList } from "./code-calls.ts";

export interface CodeEffects {
  /** Files that it writes; undefined for a computed path. */
  writes: (string | undefined)[];
  /** Commands that it runs, including removals and copies expressed as commands. */
  commands: Inner[];
}

export function effectsOf(code: string, language: string, home: string): CodeEffects {
  const writes: (string | undefined)[] = [];
  const commands: Inner[] = [];
  for (const call of callsIn(code)) {
    const written = writtenBy(call, language);
    if (written !== undefined) writes.push(written.path);
    const command = commandOf(call, home);
    if (command !== undefined) commands.push(command);
  }
  if (writesByOperator(code, language) || (writes.length === 0 && unmistakable.test(code))) {
    writes.push(undefined);
  }
  for (const shell of shellIn(code, language)) commands.push({ code: shell, isGuess: true });
  return { writes, commands };
}

/** Whether the code prints a text literal. */
export function printsLiteral(code: string): boolean {
  return /(?:\b(?:print|puts|echo|say|printf|println|console\.log|stdout\.write|io\.write|cat)\s{0,9}\(?|^)\s{0,9}[fbru]?["'`]/.test(
    code,
  );
}

const openers = new Set(["open", "fopen", "openSync", "fdopen"]);
const writingMode = /^(?:[wax][bt]?\+?[bt]?|r[bt]?\+[bt]?)(?::[\w-]+)?$/;

const writers = new Set(
  "writeFile writeFileSync appendFile appendFileSync createWriteStream outputFile outputFileSync outputJson outputJsonSync outputJSON writeJson writeJsonSync writeJSON writeTextFile writeTextFileSync file_put_contents binwrite write_file truncateSync ftruncate writeAllText spit saveRDS FileWriter PrintWriter".split(
    " ",
  ),
);
/** Methods of an object that represents a file. */
const methods = new Set(["write_text", "write_bytes", "writeText", "appendText", "spew", "spew_utf8"]);
const namedWriters =
  /^(?:File|IO|Bun|Deno|::File)(?:\.|::)write!?$|^write\.(?:csv|csv2|table)$|^io\.output$|^os\.truncate$/;

function writtenBy({ name, method, args }: CodeCall, language: string): { path: string | undefined } | undefined {
  if (openers.has(method) || name === "File.new") return opened(name, method, args);
  if (methods.has(method)) return { path: undefined };
  if (writers.has(method)) return { path: path(args[0]) };
  if (namedWriters.test(name) && args.length > 0) return { path: path(args[0]) };
  if (/^(?:fileinput\.)?(?:input|FileInput)$/.test(name) && args.some((arg) => /^inplace\s*=\s*(?:True|1)/.test(arg))) {
    return { path: path(args[0]) };
  }
  if (language === "R" && (name === "writeLines" || name === "write") && args.length > 1)
    return { path: path(args[1]) };
  if (language === "R" && name === "cat" && args.some((arg) => /^file\s*=/.test(arg))) return { path: undefined };
  if (language === "R" && name === "sink" && args.length > 0) return { path: path(args[0]) };
  return language === "julia" && name === "write" && args.length > 1 ? { path: path(args[0]) } : undefined;
}

function opened(name: string, method: string, args: readonly string[]): { path: string | undefined } | undefined {
  if (/^(?:tarfile|zipfile|ZipFile|webbrowser|Image|PIL)\b/.test(name)) return undefined;
  if (args.some((arg) => /\bO_(?:WRONLY|RDWR|CREAT|TRUNC)\b|File::(?:CREAT|WRONLY|RDWR)\b/.test(arg)))
    return { path: path(args[0]) };
  const modes = args.slice(1).map((arg) => literal(arg.replace(/^mode\s*[=:]\s*/, "")));
  if (modes.some((mode) => mode !== undefined && writingMode.test(mode))) return { path: path(args[0]) };
  // `Path("f").open("w")`, `p.open(mode="w")`.
  const own = literal(args[0]?.replace(/^mode\s*=\s*/, ""));
  const isMethod = method !== name || name.startsWith(".");
  return isMethod && own !== undefined && writingMode.test(own) ? { path: undefined } : undefined;
}

/** The path in an argument, if it is a literal. */
function path(arg: string | undefined): string | undefined {
  return literal(arg) ?? literal(/^(?:\w+\.)*Path\((.*)\)$/s.exec(arg ?? "")?.[1]);
}

/** Names that always mean writing, however they are used: `fs["writeFileSync"](...)`, `const { writeFileSync: w } = fs`. */
const unmistakable =
  /\b(?:(?:write|append)File(?:Sync)?|createWriteStream|write_text|write_bytes|file_put_contents|writeTextFile(?:Sync)?|outputFile(?:Sync)?)\b/;

/** Whether the code decodes text and then runs it. */
export function hidesCode(code: string): boolean {
  return (
    /\b(?:b64decode|fromhex|unhexlify|atob|decode64|unpack|base64_decode|frombase64string)\b|["']base64["']/i.test(
      code,
    ) && /\b(?:exec|eval|Function|instance_eval|iex)\s?\(/.test(code)
  );
}

function writesByOperator(code: string, language: string): boolean {
  if (language === "perl") return /\bopen\b[^;]{0,200}?(?:["']|\bqq?\s?[({[|/!])\s{0,9}\+?>/.test(code);
  if (language === "groovy") return /new\s+File\s*\([^)]{0,200}\)\s*(?:<<|\.text\s*=|\.write\b|\.append\b)/.test(code);
  if (language === "emacs") return /\b(?:write-region|write-file|save-buffer)\b/.test(code);
  return language === "sql" && /\bwritefile\s*\(|^[ \t]*\.(?:output|once|excel)\s+\S/m.test(code);
}

const runners = new Set(
  "system popen popen2 popen3 exec execSync execFile execFileSync spawn spawnSync shell_exec passthru proc_open getoutput getstatusoutput execute capture2 capture2e capture3 execa execaSync execaCommand execaCommandSync check_call check_output Popen".split(
    " ",
  ),
);
const removers = new Set(
  "rmtree rmSync rimraf rimrafSync removeSync remove_tree rm_rf rm_r RemoveAll remove_dir_all deleteRecursively emptyDirSync removeDir".split(
    " ",
  ),
);
const copiers =
  /^(?:shutil|os|fs|fsp|fsPromises|promises|FileUtils|File|Deno|pathlib)\b.*[.:](?:copy2?|copyfile|copyFile|copyFileSync|cpSync|cp|move|mv|rename|renameSync|replace|symlink|symlinkSync|link|linkSync|ln_s|ln_sf)$/;

const movers =
  /^(?:(?:shutil|os|fs|fsp|fsPromises|promises|FileUtils|File|Deno)\b.*[.:](?:move|mv|replace)|.*\brename(?:Sync)?)$/;
const unlinkers =
  /^(?:(?:os|fs|fsp|fsPromises|promises|File|FileUtils|Deno)\b.*[.:](?:remove|rm|rm_f|delete)|.*\bunlink(?:Sync)?)$/;

function isNumber(arg: string): boolean {
  return /^-?\d+$/.test(arg);
}

function commandOf({ name, method, args }: CodeCall, home: string): Inner | undefined {
  if (runners.has(method) || /\bsubprocess\.(?:run|call)$/.test(name)) return started(args);
  const isRemoval =
    removers.has(method) ||
    (/^(?:\.|(?:fs|fsp|fsPromises|promises|Deno)\b)/.test(name) &&
      /^(?:rm|rmdir|rmdirSync|remove|removeSync)$/.test(method));
  if (isRemoval) {
    const target = place(args[0], home);
    return target === undefined ? undefined : { argv: ["rm", "-rf", target] };
  }
  if (/^(?:os|process|posix|Process)\.kill(?:pg)?$/.test(name))
    return { argv: ["kill", "--", ...args.filter(isNumber)] };
  if (unlinkers.test(name)) {
    const target = place(args[0], home);
    return target === undefined ? undefined : { argv: ["rm", "-f", target] };
  }
  const [source, destination] = args.map(literal);
  if (movers.test(name) && source !== undefined) return { argv: ["mv", source, destination ?? FILLED] };
  return copiers.test(name) && destination !== undefined ? { argv: ["cp", FILLED, destination] } : undefined;
}

function started(args: readonly string[]): Inner | undefined {
  const list = literalList(args[0]);
  if (list !== undefined) return list.length === 0 ? undefined : { argv: list };
  const first = literal(args[0]);
  if (first === undefined) return undefined;
  const more = literalList(args[1]) ?? args.slice(1).flatMap((arg) => literal(arg) ?? []);
  return more.length > 0 ? { argv: [first, ...more] } : { code: first, isGuess: true };
}

const homes =
  /^(?:os\.)?homedir\(\)$|^(?:pathlib\.)?Path\.home\(\)$|^process\.env\.HOME$|^(?:os\.)?(?:environ|ENV)\[["']HOME["']\]$|^Dir\.home$|^(?:os\.)?getenv\(["']HOME["']\)$|^require\(["'](?:node:)?os["']\)\.homedir\(\)$/;

/** A path in the code: a literal, the home directory or the working directory. */
function place(arg: string | undefined, home: string): string | undefined {
  const expanded = /^(?:os\.path\.)?expanduser\((.*)\)$/s.exec(arg ?? "");
  const text = path(expanded?.[1] ?? arg);
  if (text !== undefined) return text.replace(/^~(?=\/|$)/, home);
  if (homes.test(arg ?? "")) return home;
  return /^(?:process\.cwd\(\)|os\.getcwd\(\)|(?:pathlib\.)?Path\.cwd\(\)|Dir\.pwd)$/.test(arg ?? "") ? "." : undefined;
}

function shellIn(code: string, language: string): string[] {
  if (language === "osascript")
    return [...code.matchAll(/do shell script "((?:[^"\\]|\\.)*)"/g)].map((found) => found[1] ?? "");
  if (!["perl", "ruby", "php"].includes(language)) return [];
  const ticks = [...code.matchAll(/`([^`]*)`/g)].map((found) => found[1] ?? "");
  const quotes = [...code.matchAll(/(?:%x|\bqx)\s*[({[|/]([^)}\]|/]*)/g)].map((found) => found[1] ?? "");
  const bare = [...code.matchAll(/\b(?:system|exec)\s+(["'])((?:(?!\1).)*)\1/g)].map((found) => found[2] ?? "");
  return [...ticks, ...quotes, ...bare];
}

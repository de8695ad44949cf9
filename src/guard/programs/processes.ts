// Which processes a name or a pattern matches, and whether the agent's own CLI, the engine or the user's programs are among them.
// Process ids that a command prints (`pgrep node`) carry a mark, so that `kill` can identify the processes however the ids reach it.

import type { Machine } from "../machine.ts";
import { baseName, normal } from "../paths.ts";
import { knownPart } from "../shell/shape.ts";

/** `name`: a pattern in the name; `exact`: the whole name; `line`: a pattern in the command line; `parent`: the shell's parent. */
type Selection = "name" | "exact" | "line" | "parent";

export interface Processes {
  by: Selection;
  /** All of them must match; empty: every process. */
  patterns: readonly string[];
}

export const everyProcess: Processes = { by: "line", patterns: [] };

const MARK = "\uE006";
const marked = /\uE006([a-z]+):([0-9a-f,]*)\uE006/g;

/** A word that represents the ids of these processes. */
export function idsOf({ by, patterns }: Processes): string {
  return `${MARK}${by}:${patterns.map((pattern) => Buffer.from(pattern).toString("hex")).join(",")}${MARK}`;
}

export function hasIds(text: string): boolean {
  return text.includes(MARK);
}

export function processesIn(text: string): Processes[] {
  return [...text.matchAll(marked)].map(([, by = "", patterns = ""]) => ({
    by: by as Selection,
    patterns: patterns.split(",").flatMap((hex) => (hex === "" ? [] : Buffer.from(hex, "hex").toString())),
  }));
}

/** Keeps only the ids of processes whose command line also matches this pattern. */
export function narrowed(text: string, pattern: string): string {
  return text.replace(marked, (ids) => {
    const [found = everyProcess] = processesIn(ids);
    return found.by === "line" ? idsOf({ by: "line", patterns: [...found.patterns, pattern] }) : ids;
  });
}

/** Runtimes, shells, agents, terminals, editors, browsers: the agent did not start all of their processes. */
const names = (
  "node nodejs npm npx yarn pnpm bun deno python ruby java php perl dotnet electron python3 python3.12 node22 " +
  "bash sh zsh fish dash ksh tmux screen login sshd ssh sudo init systemd launchd dbus-daemon " +
  "gemini gemini-cli maestro claude codex aider cursor opencode copilot " +
  "code code-insiders vim nvim emacs idea git docker dockerd containerd " +
  "xorg xwayland gnome-shell gnome-terminal konsole kitty alacritty wezterm xterm iterm2 terminal " +
  "chrome google-chrome firefox safari finder dock loginwindow"
).split(" ");

/** The name of a protected process that matches; undefined when the pattern is specific enough. */
export function reaches({ by, patterns }: Processes, machine: Machine): string | undefined {
  if (by === "parent") return "the process that runs this shell";
  const [pattern = ""] = patterns;
  if (by === "exact") return names.find((name) => isNamed(pattern, name));
  const texts = patterns.map(knownPart);
  if (texts.every((text) => text.replace(/[^\p{L}\p{N}]/gu, "").length < 3)) return "every process";
  const tests = texts.map(expression);
  const lines = by === "name" ? names : [...names, ...linesOf(machine)];
  return lines.find((line) => tests.every((test) => test(line)));
}

function isNamed(given: string, name: string): boolean {
  const plain = knownPart(given)
    .toLowerCase()
    .replace(/\.exe$/, "")
    .replaceAll(" ", "-");
  return plain === name || plain.replace(/[\d.]+$/, "") === name;
}

/** Command lines of the agent's own processes and of the session, as `ps` shows them. */
function linesOf({ extensionRoot, projectRoot, home }: Machine): string[] {
  const extension = normal(extensionRoot ?? "/usr/lib/node_modules/maestro");
  const lines = [
    "/usr/bin/node /usr/local/bin/gemini",
    "node /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js",
    `node ${extension}/dist/maestro.js run`,
    `node ${extension}/dist/mcp.js`,
    `/bin/bash -c cd ${normal(projectRoot)}`,
    "python3",
    "-bash",
    "npm exec @google/gemini-cli",
  ];
  const user = baseName(home ?? "/root");
  return [...lines, ...lines.map((line) => `${user} 98642 0.3 1.1 987654 65432 pts/0 Sl+ 0:07 ${line}`)];
}

const MAX_PATTERN = 256;
/** The matching time of an expression grows with the line length to this power. */
const MAX_REPEATS = 2;

/** Compiles a pattern of grep or pgrep; an invalid expression is matched as plain text. */
function expression(pattern: string): (line: string) => boolean {
  const text = pattern.replace(/\\([|(){}+?])/g, "$1");
  const pieces = repeats(text) > MAX_REPEATS ? text.split(".*") : [text];
  // An expression that would take too long counts as matching everything.
  if (pattern.length > MAX_PATTERN || pieces.some((piece) => repeats(piece) > MAX_REPEATS)) return () => true;
  const tests = pieces.map(compiled);
  return (line) => tests.every((test) => test(line));
}

function repeats(text: string): number {
  const isNested = /[*+}?]\)*[*+{]/.test(text);
  return isNested ? Number.POSITIVE_INFINITY : (text.match(/[*+{]/g)?.length ?? 0);
}

function compiled(text: string): (line: string) => boolean {
  try {
    const found = new RegExp(text, "i");
    return (line) => found.test(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return (line) => line.toLowerCase().includes(text.toLowerCase());
  }
}

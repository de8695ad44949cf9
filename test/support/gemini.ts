// The real Gemini CLI with a home of its own and a scripted model: started by hand, or by `maestro`.

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { programOf, versions } from "../../tools/nodes.js";
import { type Background, background, childrenOf, spawned } from "./processes.ts";
import { Project, type Run, root } from "./project.ts";

const cli = join(root, "node_modules", ".bin", "gemini");
const newest = programOf(versions.at(-1) ?? "");
/** The CLI needs a third less time on a Node that keeps compiled code. Its hooks and MCP server run on the Node of the tests. */
const node = existsSync(newest) ? newest : process.execPath;
const compiled = join(root, "node_modules", ".cache", "maestro-test", "compiled");

function geminiEnvironment(modelUrl: string): Record<string, string> {
  return { GEMINI_API_KEY: "a-key-that-is-long-enough-to-look-real", GOOGLE_GEMINI_BASE_URL: modelUrl };
}

/** The user's settings of the CLI: how to sign in, and whatever else. */
export function writeSettings(project: Project, settings: object = {}): void {
  const signIn = { security: { auth: { selectedType: "gemini-api-key" } } };
  project.write(".home/.gemini/settings.json", JSON.stringify({ ...signIn, ...settings }));
}

/** Installs what git tracks (and what is about to be), as a user's `gemini extensions install` does. */
export async function installExtension(project: Project, modelUrl: string): Promise<Run> {
  writeSettings(project);
  const listed = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const checkout = join(project.path, ".checkout");
  for (const file of listed.stdout
    .trim()
    .split("\n")
    .filter((name) => !name.startsWith("test/") && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true });
    cpSync(join(root, file), join(checkout, file));
  }
  return gemini(project, modelUrl, ["extensions", "install", checkout, "--consent", "--skip-settings"]);
}

/** The extension as it is installed, copied from the first installation of this run of the tests: the CLI takes seconds for it. */
export async function haveExtension(project: Project, modelUrl: string): Promise<void> {
  const template = join(process.env.VITEST_TEMPLATES ?? "", "extension");
  if (!existsSync(template)) await installTemplate(template, modelUrl);
  const home = join(project.path, ".home");
  cpSync(template, home, { recursive: true });
  // Where the user's home is tells the CLI whether the extension is enabled.
  const enabled = { maestro: { overrides: [`${home}/*`] } };
  project.write(".home/.gemini/extensions/extension-enablement.json", JSON.stringify(enabled));
}

async function installTemplate(path: string, modelUrl: string): Promise<void> {
  const draft = new Project();
  const { code, stderr } = await installExtension(draft, modelUrl);
  if (code !== 0) throw new Error(stderr);
  // What belongs to that one project.
  for (const name of ["projects.json", "history", "tmp"]) {
    rmSync(join(draft.path, ".home/.gemini", name), { recursive: true, force: true });
  }
  try {
    renameSync(join(draft.path, ".home"), path);
  } catch (error) {
    // Another worker was quicker.
    if (!existsSync(path)) throw error;
  }
  draft.remove();
}

export function gemini(project: Project, modelUrl: string, args: string[]): Promise<Run> {
  return startGemini(project, modelUrl, args).ended;
}

/** The CLI without waiting for it. It finds itself on its PATH, for an engine that is started from its shell. */
export function startGemini(
  project: Project,
  modelUrl: string,
  args: string[],
  env: Record<string, string> = {},
): Background {
  const trusting = { GEMINI_CLI_NO_RELAUNCH: "true", GEMINI_CLI_TRUST_WORKSPACE: "true" };
  return spawned(project, node, [cli, ...args], {
    NODE_COMPILE_CACHE: compiled,
    ...geminiEnvironment(modelUrl),
    ...trusting,
    ...ownPath(project),
    ...env,
  });
}

export interface OnTerminal {
  /** Everything that was shown. */
  shown: () => string;
  ended: Promise<unknown>;
  /** Kills the CLI and its process group: its MCP server and its hooks. */
  kill: () => void;
}

/** The CLI draws the whole frame of a dialog again and again, so the end of what it has shown contains all of it. */
const SCREEN_LENGTH = 20_000;

/** The CLI on a terminal of its own, with a user: `answers` gets the end of what was shown since its last answer, and returns what the user types. */
export function geminiOnTerminal(
  project: Project,
  modelUrl: string,
  args: string[],
  answers: (shown: string) => string | undefined,
): OnTerminal {
  const words = [node, cli, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = project.start("script", ["-qefc", `stty cols 160 rows 50; exec ${words}`, "/dev/null"], {
    TERM: "xterm",
    NODE_COMPILE_CACHE: compiled,
    ...geminiEnvironment(modelUrl),
    GEMINI_CLI_NO_RELAUNCH: "true",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    // Without a model, each agent first asks which one to use, and asks again and again when the answer is not one.
    MAESTRO_DEFAULT_MODEL: "gemini-2.5-flash",
    MAESTRO_STAGGER_DELAY: "0",
    ...ownPath(project),
  });
  let shown = "";
  let incomplete = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const text = plainText(incomplete + chunk);
    const end = text.lastIndexOf("\u001b");
    // One that is longer than any the CLI writes is not a sequence.
    const cut = text.length - end < 1000 ? end : -1;
    shown += cut === -1 ? text : text.slice(0, cut);
    incomplete = cut === -1 ? "" : text.slice(cut);
  });
  child.stdin.on("error", () => undefined);
  const timer = setInterval(() => {
    const typed = answers(shown.slice(Math.max(seen, shown.length - SCREEN_LENGTH)));
    if (typed === undefined) return;
    seen = shown.length;
    child.stdin.write(typed);
  }, 400);
  const ended = new Promise((resolve) => child.once("close", resolve)).then(() => clearInterval(timer));
  const kill = () => {
    // The terminal makes the CLI the leader of a group, and closes with it.
    const [leader] = childrenOf(child.pid ?? 0);
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
    child.kill("SIGKILL");
  };
  return { shown: () => shown, ended, kill };
}

/** Without colours and movements of the cursor. An escape sequence whose end has not arrived stays. */
function plainText(shown: string): string {
  return shown.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-Z\\^-_=>78])/g, "");
}

/** One prompt without a user to answer, and every tool call approved. */
export function headless(prompt: string, mode = "yolo"): string[] {
  return ["-m", "gemini-2.5-flash", `--approval-mode=${mode}`, "-o", "json", "-p", prompt];
}

function ownPath(project: Project): Record<string, string> {
  const launch = `NODE_COMPILE_CACHE='${compiled}' exec '${node}' '${cli}' "$@"`;
  const launcher = `#!/bin/sh\nprintf '%s\\n' "$*" >>"$0.launches"\n${launch}\n`;
  chmodSync(project.write(".bin/gemini", launcher), 0o755);
  // The CLI writes whole conversations there when the provider fails.
  const temporary = join(project.path, ".tmp");
  mkdirSync(temporary, { recursive: true });
  return { TMPDIR: temporary, PATH: [join(project.path, ".bin"), process.env.PATH].join(delimiter) };
}

/** The user's key and the address of the model in a file of the home, where people keep them, instead of in exported variables. */
export function keepAtHome(project: Project, modelUrl: string): void {
  const lines = Object.entries(geminiEnvironment(modelUrl)).map(([name, value]) => `${name}=${value}\n`);
  project.write(".home/.gemini/.env", lines.join(""));
}

/**
 * Starts `maestro` with the CLI on its PATH. The caller must not block, because the model runs in this process. Without an address nothing of the
 * model is exported.
 */
export function maestroWithGemini(
  project: Project,
  modelUrl: string | null,
  args: string[],
  env: Record<string, string> = {},
): Background {
  return background(project, args, {
    ...(modelUrl === null ? {} : geminiEnvironment(modelUrl)),
    ...ownPath(project),
    MAESTRO_STAGGER_DELAY: "0",
    MAESTRO_EXECUTION_MODE: "parallel",
    MAESTRO_MAX_CONCURRENT: "2",
    MAESTRO_DEFAULT_MODEL: "gemini-2.5-flash",
    ...env,
  });
}

/** What `maestro` has started the CLI with: a line of arguments each. */
export function launches(project: Project): string[] {
  return project.read(".bin/gemini.launches").trimEnd().split("\n");
}

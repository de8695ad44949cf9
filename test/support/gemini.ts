// The real Gemini CLI with a home of its own and a scripted model: started by hand, or by `maestro`.

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Background, background, spawned } from "./processes.ts";
import { Project, type Run, root } from "./project.ts";

const cli = join(root, "node_modules", ".bin", "gemini");

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
  return spawned(project, process.execPath, [cli, ...args], {
    ...geminiEnvironment(modelUrl),
    ...trusting,
    ...ownPath(project),
    ...env,
  });
}

/** One prompt without anybody to answer, and every tool call approved. */
export function headless(prompt: string, mode = "yolo"): string[] {
  return ["-m", "gemini-2.5-flash", `--approval-mode=${mode}`, "-o", "json", "-p", prompt];
}

function ownPath(project: Project): Record<string, string> {
  const launcher = `#!/bin/sh\nprintf '%s\\n' "$*" >>"$0.launches"\nexec '${process.execPath}' '${cli}' "$@"\n`;
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
 * Starts `maestro` with the CLI on its PATH. Nobody may block meanwhile: the model lives in this process. Without an address nothing of the
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

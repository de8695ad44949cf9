// The real Gemini CLI with a home of its own, our extension installed, and a scripted model.

import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Project, type Run, root } from "./project.ts";

const cli = join(root, "node_modules", ".bin", "gemini");

function geminiEnvironment(project: Project, modelUrl: string): NodeJS.ProcessEnv {
  return project.environment({
    GEMINI_API_KEY: "a-key-that-is-long-enough-to-look-real",
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    GEMINI_CLI_NO_RELAUNCH: "true",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  });
}

/** Installs what git tracks (and what is about to be), as a user's `gemini extensions install` does. */
export async function installExtension(project: Project, modelUrl: string): Promise<Run> {
  const home = join(project.path, ".home", ".gemini");
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, "settings.json"),
    JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } } }),
  );
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

export function gemini(project: Project, modelUrl: string, args: string[]): Promise<Run> {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: project.path,
    env: geminiEnvironment(project, modelUrl),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  return new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr })));
}

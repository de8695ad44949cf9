// Files of a project that agents must not change on their own: they hold secrets, keep the guard in place, or start programs on the user's
// machine. One table for the guard, for requests for more files, and for work merged into a project.

export type Sensitivity = "secret" | "guard" | "startup";

/** What such a file does, for a message. */
export const sensitivityReasons: Record<Sensitivity, string> = {
  secret: "holds secrets",
  guard: "decides what agents and git may do",
  startup: "starts programs by itself",
};

const harmlessEnv = new Set([".env.example", ".env.sample", ".env.template"]);
const secretEndings = [".pem", ".key", ".credentials"];

/** `name` is in lower case. */
export function isSecretName(name: string): boolean {
  if (secretEndings.some((ending) => name.endsWith(ending))) return true;
  return (name === ".env" || name.startsWith(".env.")) && !harmlessEnv.has(name);
}

/** In a `.gemini` directory: what Gemini CLI loads and obeys. */
export const geminisOwn: readonly string[] = [
  "settings.json",
  "hooks",
  "policies",
  "agents",
  "extensions",
  "trustedfolders.json",
  "oauth_creds.json",
];

/** By name, in any directory: version managers and shells read them on `cd`, and package managers take programs from where they say. */
const startupNames = new Set([
  ...[".envrc", ".mcp.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".gitmodules"],
  ...[".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml"],
]);

/** By directory: git hooks, editor tasks, settings of other agents. Undefined means everything in it. */
const startupDirectories = new Map<string, readonly string[] | undefined>([
  [".husky", undefined],
  [".githooks", undefined],
  [".devcontainer", undefined],
  [".vscode", ["tasks.json", "settings.json", "launch.json"]],
  [".claude", ["settings.json", "settings.local.json", "hooks", "agents", "commands"]],
  [".codex", undefined],
  [".qwen", undefined],
  [".opencode", undefined],
  [".cursor", ["mcp.json", "hooks.json", "hooks"]],
]);

/** Why a file of the project is sensitive, by its relative path with `/`; undefined when it is not. Ignores case. */
export function sensitivityOfFile(path: string): Sensitivity | undefined {
  const names = path.normalize("NFC").toLowerCase().split("/");
  if (isSecretName(names.at(-1) ?? "")) return "secret";
  for (const [at, name] of names.entries()) {
    const inner = names[at + 1];
    if (name === ".git") return "guard";
    if (name === ".gemini" && (inner === undefined || geminisOwn.includes(inner))) return "guard";
    if (name === "hooks" && inner === "hooks.json" && at === 0) return "guard";
    if (startupDirectories.has(name)) {
      const parts = startupDirectories.get(name);
      if (parts === undefined || inner === undefined || parts.includes(inner)) return "startup";
    }
  }
  return startupNames.has(names.at(-1) ?? "") ? "startup" : undefined;
}

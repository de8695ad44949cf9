// Which files must not be written: secrets, login files, and the files that keep the guard in place. Decided by name and place only.

import { geminisOwn, isSecretName } from "../../secrets/sensitive-files.ts";
import type { Machine } from "../machine.ts";
import { baseName, isInside, normal, pathSegments } from "../paths.ts";
import { canBe, isKnown, knownPart, shown } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";

type Sensitivity = "secret" | "guard" | "login";

/** Denies writing to this place, which is a located shape. */
export function refuseDestination(path: string, machine: Machine): Denial | undefined {
  for (const place of new Set([path, machine.through?.(path) ?? path])) {
    const kind = sensitivityOf(place, machine);
    if (kind !== undefined) return refusal(place, kind);
  }
  if (machine.realpath === undefined || !isKnown(path) || !path.startsWith("/")) return undefined;
  const real = machine.realpath(path);
  const hidden = real === path ? undefined : sensitivityOf(real, machine);
  return hidden === undefined ? undefined : refusal(`${path} -> ${real}`, hidden);
}

/** Denies removing the guard's own files and login files. Removing a secret file is allowed. */
export function refuseRemoval(path: string, machine: Machine): Denial | undefined {
  // The owner of a fresh clone may remove its repository; places.ts protects the project's own.
  if (/\/\.(?:git|gemini)$/i.test(path)) return undefined;
  const name = path.toLowerCase();
  if (isLogin(name, machine)) return refusal(path, "login");
  return isGuardFile(name, machine) ? refusal(path, "guard") : undefined;
}

export function sensitivityOf(path: string, machine: Machine): Sensitivity | undefined {
  if (isSecret(baseName(path).toLowerCase())) return "secret";
  if (isLogin(path.toLowerCase(), machine)) return "login";
  return isGuardFile(path.toLowerCase(), machine) ? "guard" : undefined;
}

function refusal(path: string, kind: Sensitivity): Denial {
  return deny("sensitive-file", `${shown(path)} ${reasons[kind]}`);
}

const reasons: Record<Sensitivity, string> = {
  secret:
    "holds secrets and must not be written by an agent. Put names without values into .env.example, or ask the user to change it.",
  login: "is the user's own login file or key. Ask the user to change it.",
  guard:
    "belongs to the guard, the session or git's own settings and must not be changed by an agent. Use the maestro commands for state, or ask the user.",
};

/** `name` is in lower case. A hole in it may make it a secret. */
function isSecret(name: string): boolean {
  if (isSecretName(name)) return true;
  // A fully known name that is harmless.
  if (isKnown(name) && name.startsWith(".env.")) return false;
  if (!name.startsWith(".") || isKnown(name) || knownPart(name) === ".") return false;
  return canBe(name, ".env") || canBe(name, ".env.local");
}

/** Settings of git and Gemini CLI, the session's state, the extension. */
function isGuardFile(path: string, machine: Machine): boolean {
  const segments = pathSegments(path);
  return (
    segments.some((name, i) => name === ".git" && isGitSetting(segments.slice(i + 1))) ||
    segments.some((name, i) => name === ".gemini" && isGeminiSetting(segments.slice(i + 1))) ||
    isState(path, machine) ||
    isExtension(path, machine) ||
    isInside(path, "/etc/gemini-cli") ||
    path === "/etc/gitconfig"
  );
}

function isGitSetting([first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  if (!isKnown(first)) return canBe(first, "hooks") || canBe(first, "config");
  if (first === "hooks") return true;
  if (first === "config" || first === "config.worktree") return rest.length === 0;
  // Submodules and worktrees have their own settings.
  return (
    (first === "modules" || first === "worktrees") && rest.some((name) => name === "hooks" || /^config/.test(name))
  );
}

function isGeminiSetting([first]: readonly string[]): boolean {
  if (first === undefined) return true;
  return isKnown(first) ? geminisOwn.includes(first) : geminisOwn.some((name) => canBe(first, name));
}

/** Agents write plans and prompts, but not the journal, the session or results. */
function isState(path: string, { stateDir }: Machine): boolean {
  const root = normal(stateDir).toLowerCase();
  if (!isInside(path, root)) return false;
  const [first, , third] = pathSegments(path.slice(root.length));
  if (first === undefined || first === "state") return true;
  return first === "parallel" && third !== "prompts" && third !== undefined;
}

const extensionParts = ["hooks", "policies", "agents", "dist", "gemini-extension.json"];
const ownPolicies = /^policies\/(?:safety-baseline|agent-(?:read-only|read-shell|read-write|full-access))\.toml$/;

function isOwnPolicy(path: string): boolean {
  return path.startsWith("policies/") && ownPolicies.test(path);
}

function isExtension(path: string, machine: Machine): boolean {
  const project = normal(machine.projectRoot).toLowerCase();
  const inProject = isInside(path, project) ? path.slice(project.length + 1) : undefined;
  if (inProject === "hooks/hooks.json" || isOwnPolicy(inProject ?? "")) return true;
  if (machine.extensionRoot === undefined) return false;
  const root = normal(machine.extensionRoot).toLowerCase();
  if (!isInside(path, root)) return false;
  // The project is the extension itself: only the parts in use are protected.
  if (isInside(project, root)) return extensionParts.includes(pathSegments(path.slice(root.length))[0] ?? "");
  return true;
}

const loginFile =
  /^(?:\.ssh\/(?:authorized_keys2?|config|rc|environment|id_[\w-]+)|\.netrc|\.aws\/credentials|\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.bash_aliases|\.profile|\.zshrc|\.zshenv|\.zprofile|\.zlogin|\.gitconfig|\.config\/git\/config|\.config\/fish\/config\.fish)$/;

/** Files that a login reads, and its keys. In .ssh, an unknown name may be one of them. */
function isLogin(path: string, { home }: Machine): boolean {
  const homes = home === undefined ? [] : [normal(home).toLowerCase()];
  const [top, name, ...rest] = pathSegments(path);
  if (top === "root") homes.push("/root");
  if ((top === "home" || top === "users") && rest.length > 0) homes.push(`/${top}/${name}`);
  return homes.some((root) => {
    const inside = isInside(path, root) ? path.slice(root.length + 1) : "";
    return (inside.startsWith(".") && loginFile.test(inside)) || (inside.startsWith(".ssh/") && !isKnown(inside));
  });
}

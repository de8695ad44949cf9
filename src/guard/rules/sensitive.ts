// Which files must not be written: secrets, and the files that keep the guard itself in place. By name and place only.

import { geminisOwn, isSecretName } from "../../secrets/sensitive-files.ts";
import type { Ground } from "../machine.ts";
import { baseName, isInside, normal, segmentsOf } from "../paths.ts";
import { canBe, isKnown, knownPart, shown } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";

type Sensitivity = "secret" | "guard" | "login";

/** A refusal when something is to be written at this place; a located shape. */
export function refuseDestination(path: string, ground: Ground): Denial | undefined {
  for (const place of new Set([path, ground.through?.(path) ?? path])) {
    const kind = sensitivityOf(place, ground);
    if (kind !== undefined) return refusal(place, kind);
  }
  if (ground.realpath === undefined || !isKnown(path) || !path.startsWith("/")) return undefined;
  const real = ground.realpath(path);
  const hidden = real === path ? undefined : sensitivityOf(real, ground);
  return hidden === undefined ? undefined : refusal(`${path} -> ${real}`, hidden);
}

/** A refusal when something of the guard's own is to be taken away. Removing one's own secrets is nobody's concern. */
export function refuseRemoval(path: string, ground: Ground): Denial | undefined {
  // The repository of a fresh clone is its owner's to remove; the project's own is a matter of `places.ts`.
  if (/\/\.(?:git|gemini)$/i.test(path)) return undefined;
  const name = path.toLowerCase();
  if (isLogin(name, ground)) return refusal(path, "login");
  return isGuards(name, ground) ? refusal(path, "guard") : undefined;
}

export function sensitivityOf(path: string, ground: Ground): Sensitivity | undefined {
  if (isSecret(baseName(path).toLowerCase())) return "secret";
  if (isLogin(path.toLowerCase(), ground)) return "login";
  return isGuards(path.toLowerCase(), ground) ? "guard" : undefined;
}

function refusal(path: string, kind: Sensitivity): Denial {
  return deny("sensitive-file", `${shown(path)} ${reasons[kind]}`);
}

const reasons: Record<Sensitivity, string> = {
  secret:
    "holds secrets and must not be written by an agent. Put names without values into .env.example, or ask the user to change it.",
  login: "is the user's own: what a login reads, or the keys it is made with. Ask the user to change it.",
  guard:
    "belongs to the guard, the session or git's own settings and must not be changed by an agent. Use the maestro commands for state, or ask the user.",
};

/** The name in lower case; a hole in it may be what makes it a secret. */
function isSecret(name: string): boolean {
  if (isSecretName(name)) return true;
  // Known through and through, and harmless.
  if (isKnown(name) && name.startsWith(".env.")) return false;
  if (!name.startsWith(".") || isKnown(name) || knownPart(name) === ".") return false;
  return canBe(name, ".env") || canBe(name, ".env.local");
}

/** Settings of git and of Gemini CLI, the state of the session, the extension. */
function isGuards(path: string, ground: Ground): boolean {
  const segments = segmentsOf(path);
  return (
    segments.some((name, i) => name === ".git" && isGitsOwn(segments.slice(i + 1))) ||
    segments.some((name, i) => name === ".gemini" && isGeminisOwn(segments.slice(i + 1))) ||
    isState(path, ground) ||
    isExtension(path, ground) ||
    isInside(path, "/etc/gemini-cli") ||
    path === "/etc/gitconfig"
  );
}

function isGitsOwn([first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  if (!isKnown(first)) return canBe(first, "hooks") || canBe(first, "config");
  if (first === "hooks") return true;
  if (first === "config" || first === "config.worktree") return rest.length === 0;
  // Submodules and worktrees have settings of their own.
  return (
    (first === "modules" || first === "worktrees") && rest.some((name) => name === "hooks" || /^config/.test(name))
  );
}

function isGeminisOwn([first]: readonly string[]): boolean {
  if (first === undefined) return true;
  return isKnown(first) ? geminisOwn.includes(first) : geminisOwn.some((name) => canBe(first, name));
}

/** Plans and prompts are written by agents; the journal, the session and results are not. */
function isState(path: string, { stateDir }: Ground): boolean {
  const root = normal(stateDir).toLowerCase();
  if (!isInside(path, root)) return false;
  const [first, , third] = segmentsOf(path.slice(root.length));
  if (first === undefined || first === "state") return true;
  return first === "parallel" && third !== "prompts" && third !== undefined;
}

const extensionParts = ["hooks", "policies", "agents", "dist", "gemini-extension.json"];
const ownPolicies = /^policies\/(?:safety-baseline|agent-(?:read-only|read-shell|read-write|full-access))\.toml$/;

function isOwnPolicy(path: string): boolean {
  return path.startsWith("policies/") && ownPolicies.test(path);
}

function isExtension(path: string, ground: Ground): boolean {
  const project = normal(ground.projectRoot).toLowerCase();
  const inProject = isInside(path, project) ? path.slice(project.length + 1) : undefined;
  if (inProject === "hooks/hooks.json" || isOwnPolicy(inProject ?? "")) return true;
  if (ground.extensionRoot === undefined) return false;
  const root = normal(ground.extensionRoot).toLowerCase();
  if (!isInside(path, root)) return false;
  // Somebody works on the extension itself: only what is running is out of reach.
  if (isInside(project, root)) return extensionParts.includes(segmentsOf(path.slice(root.length))[0] ?? "");
  return true;
}

const loginFile =
  /^(?:\.ssh\/(?:authorized_keys2?|config|rc|environment|id_[\w-]+)|\.netrc|\.aws\/credentials|\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.bash_aliases|\.profile|\.zshrc|\.zshenv|\.zprofile|\.zlogin|\.gitconfig|\.config\/git\/config|\.config\/fish\/config\.fish)$/;

/** What a login reads, and the keys it is made with. Among keys, a name that nobody knows may be one of them. */
function isLogin(path: string, { home }: Ground): boolean {
  const homes = home === undefined ? [] : [normal(home).toLowerCase()];
  const [top, name, ...rest] = segmentsOf(path);
  if (top === "root") homes.push("/root");
  if ((top === "home" || top === "users") && rest.length > 0) homes.push(`/${top}/${name}`);
  return homes.some((root) => {
    const inside = isInside(path, root) ? path.slice(root.length + 1) : "";
    return loginFile.test(inside) || (inside.startsWith(".ssh/") && !isKnown(inside));
  });
}

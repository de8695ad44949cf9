// discard-work: git commands that delete what lost work is recovered from: stashes, main branches, reflogs, other worktrees.

import { isInside, locate, normal } from "../../paths.ts";
import type { Call } from "../../shell/call.ts";
import { isUnknown, MANY, PRINTED } from "../../shell/shape.ts";
import { type Denial, deny } from "../../verdict.ts";
import { Options } from "../options.ts";
import type { GitCommand } from "./command.ts";

export const protectedBranches = ["main", "master"];

export function judgeRefs(git: GitCommand, call: Call): Denial | undefined {
  switch (git.verb) {
    case "stash":
      return judgeDrop(git);
    case "branch":
      return judgeBranch(git, call);
    case "update-ref":
      return judgeUpdateRef(git, call);
    case "reflog":
      return judgeReflog(git);
    case "gc":
    case "prune":
      return judgePrune(git, call);
    case "worktree":
      return judgeWorktree(git, call);
    case "submodule": {
      const options = new Options(git.args);
      const isAll = options.operands[0] === "deinit" && options.has("--all") && options.has("f", "--force");
      return isAll ? lost("git submodule deinit --all --force", "Name the submodule.") : undefined;
    }
    default:
      return undefined;
  }
}

function judgeDrop({ args }: GitCommand): Denial | undefined {
  const [verb] = new Options(args, "m", ["--message"]).operands;
  if (verb !== "drop" && verb !== "clear") return undefined;
  return lost(`git stash ${verb}`, "Stashes are the user's. Say in your report which one can be deleted.");
}

function judgeBranch({ args }: GitCommand, { branch }: Call): Denial | undefined {
  const options = new Options(args, "u", ["--set-upstream-to", "--sort", "--format", "--contains", "--points-at"]);
  if (options.has("r", "--remotes")) return undefined;
  const isForced = options.has("D") || (options.has("d", "--delete") && options.has("f", "--force"));
  const target = isForced
    ? options.operands.find((name) => isMain(name) || name === branch || isList(name))
    : undefined;
  if (target === undefined) return undefined;
  const what = isList(target) ? "unknown branches" : target;
  return lost(
    `git branch -D of ${what}`,
    'Delete only named branches of your own: "git branch -D <branch>", or "git branch -d <branch>" if it is merged.',
  );
}

function judgeUpdateRef({ args }: GitCommand, { stdin, machine }: Call): Denial | undefined {
  const options = new Options(args, "m");
  const deleted = options.has("--stdin")
    ? [...stdin.text.matchAll(/^delete[ \0]+(\S+)/gm)].map((found) => found[1] ?? "")
    : options.has("d", "--delete")
      ? options.operands.slice(0, 1)
      : [];
  const isSession = (ref: string) => ref.startsWith("refs/maestro/") && machine.hasSession?.() === true;
  const target = deleted.find(
    (ref) => isMain(ref) || ref === "HEAD" || ref === "refs/stash" || isList(ref) || isSession(ref),
  );
  return target === undefined
    ? undefined
    : lost(
        "git update-ref -d of a main branch, the stash or the session's work",
        "Delete only references of your own.",
      );
}

function isMain(ref: string): boolean {
  return protectedBranches.includes(ref.replace(/^(?:refs\/)?heads\//, ""));
}

function judgeReflog({ args }: GitCommand): Denial | undefined {
  const [verb] = new Options(args).operands;
  const isSoon = args.some(
    (arg, i) => isExpiry(arg) && !isOld(arg.includes("=") ? arg.replace(/^[^=]*=/, "") : args[i + 1]),
  );
  if (verb !== "delete" && verb !== "drop" && !(verb === "expire" && isSoon)) return undefined;
  return lost(`git reflog ${verb}`, "Lost commits are recovered from the reflog. Do not change it.");
}

function isExpiry(arg: string): boolean {
  return /^--(?:expire|expire-unreachable|prune)(?:=|$)/.test(arg);
}

/** `never`, `90.days`, `2.weeks.ago`: keeps recent work. */
function isOld(when = ""): boolean {
  return /^(?:never|false|\d+[. ](?:weeks?|months?|years?)|\d{2,}[. ]days?)/.test(when);
}

/** Unreferenced objects may belong to a running attempt. */
function judgePrune({ verb, args }: GitCommand, { machine }: Call): Denial | undefined {
  const given = args.filter(isExpiry).map((arg, i) => (arg.includes("=") ? arg.replace(/^[^=]*=/, "") : args[i + 1]));
  if (new Options(args).has("n", "--dry-run")) return undefined;
  // `git gc --prune` keeps two weeks by default; `git prune` deletes everything unreachable.
  const isAll = given.length === 0 ? verb === "prune" : given.some((when) => when !== undefined && !isOld(when));
  if (!isAll || machine.hasSession?.() !== true) return undefined;
  return lost(`git ${verb} of everything unreachable`, 'A session is active. Run "git gc" without --prune=now.');
}

/** The directory where the engine creates the worktrees of attempts. */
const worktreesOfSession = /\/(?:\.cache|Caches)\/maestro(?:\/|$)/;

function judgeWorktree({ args, cwd }: GitCommand, { machine }: Call): Denial | undefined {
  const options = new Options(args);
  const [verb, ...paths] = options.operands;
  if (verb !== "remove" || !options.has("f", "--force")) return undefined;
  const isForeign = (path: string) => {
    const place = locate(path, cwd);
    return isList(path) || isInside(normal(machine.projectRoot), place) || worktreesOfSession.test(place);
  };
  return paths.some(isForeign)
    ? lost("git worktree remove --force of a foreign worktree", "Remove only worktrees that you added, by their path.")
    : undefined;
}

function isList(word: string): boolean {
  return isUnknown(word) && (word.includes(MANY) || word.includes(PRINTED));
}

function lost(command: string, instead: string): Denial {
  return deny("discard-work", `"${command}" destroys work that cannot be recovered. ${instead}`);
}

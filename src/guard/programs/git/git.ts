// git: force-push, hard-reset, and the commands that git runs (aliases, foreach, exec).

import { judgeRemoval } from "../../rules/removal.ts";
import { type Call, type Inner, quotedWord } from "../../shell/call.ts";
import { canBe, isKnown, knownPart, STAR, shown, UNKNOWN } from "../../shell/shape.ts";
import { type Denial, deny } from "../../verdict.ts";
import { Options } from "../options.ts";
import { type GitCommand, readGit } from "./command.ts";
import { judgeConfig } from "./config.ts";
import { judgeDiscard } from "./discard.ts";
import { judgeRefs, protectedBranches } from "./refs.ts";
import { judgeClean, judgeStash } from "./sweep.ts";

export function judgeGit(call: Call): Denial | undefined {
  const git = readGit(call);
  if (git === undefined) return undefined;
  return judgeVerb(git, call) ?? judgeDiscard(git, call) ?? judgeRefs(git, call);
}

function judgeVerb(git: GitCommand, call: Call): Denial | undefined {
  switch (git.verb) {
    case "push":
    case "send-pack":
      return judgePush(git.args, call.branch);
    case "reset":
      return judgeReset(git.args);
    case "rm":
      return judgeRm(git, call);
    case "mv":
      return judgeRemoval({ ...call, name: "mv", args: git.args, cwd: git.cwd });
    case "clean":
      return judgeClean(git, call.machine);
    case "stash":
      return judgeStash(git, call.machine);
    case "config":
      return judgeConfig(git, call.machine, (words) => judgeGit({ ...call, name: "git", args: words }));
    default:
      return undefined;
  }
}

/** Deletes the same files as `rm`; `--cached` keeps them. */
function judgeRm({ args, cwd }: GitCommand, call: Call): Denial | undefined {
  const options = new Options(args);
  if (options.has("--cached", "n", "--dry-run")) return undefined;
  // git expands patterns itself.
  return judgeRemoval({ ...call, name: "rm", args: args.map((arg) => arg.replaceAll("*", STAR)), cwd });
}

function judgeReset(args: readonly string[]): Denial | undefined {
  const end = args.indexOf("--");
  const options = end < 0 ? args : args.slice(0, end);
  if (!options.some((arg) => /^--h(?:a|ar|ard)?$/.test(knownPart(arg)))) return undefined;
  return deny(
    "hard-reset",
    '"git reset --hard" discards uncommitted work. Undo your own changes file by file: "git restore <file>".',
  );
}

function judgePush(args: readonly string[], branch: string | undefined): Denial | undefined {
  const options = new Options(args, "o", ["--push-option", "--repo", "--receive-pack", "--exec"]);
  if (options.has("n", "--dry-run")) return undefined;
  if (options.has("--mirror")) return forced("every branch (--mirror)");
  const isForced = options.has("f", "--force", "--force-with-lease");
  const isDeleting = options.has("d", "--delete");
  const refspecs = options.operands.slice(1);
  for (const refspec of refspecs) {
    if (!isForced && !isDeleting && !/^[+:]/.test(refspec)) continue;
    const fault = faultOf(refspec, branch);
    if (fault !== undefined) return forced(fault);
  }
  if (refspecs.length > 0 || !isForced) return undefined;
  if (options.has("--all", "--branches")) return forced("every branch");
  const isKnownBranch = branch !== undefined && !mayBeProtected(branch);
  return isKnownBranch || options.has("--tags") ? undefined : forced("an unnamed branch");
}

/** The destination of a forced refspec, if it is protected. */
function faultOf(refspec: string, branch: string | undefined): string | undefined {
  const plain = refspec.replace(/^\+/, "");
  const [source = "", target] = plain.split(":");
  if (target === "" && source === "") return "every matching branch";
  const named = (target || source).replace(/^(?:refs\/)?heads\//, "").replaceAll("*", STAR);
  const destination = named === "HEAD" || named === "@" ? branch : named;
  if (destination === undefined) return "an unnamed branch";
  if (!mayBeProtected(destination)) return undefined;
  return isKnown(destination) ? destination : `an unknown branch (${shown(refspec)})`;
}

function mayBeProtected(branch: string): boolean {
  return protectedBranches.some((name) => canBe(branch, name));
}

function forced(where: string): Denial {
  return deny(
    "force-push",
    `A forced push to ${where} can destroy other people's history. Push to a branch of your own: "git push origin <branch>", and say in your report what should be merged.`,
  );
}

/** The commands that git would run: an alias given with -c, a command for each submodule or commit, a pager. */
export function innerOfGit(call: Call): Inner[] {
  const git = readGit(call);
  if (git === undefined) return [];
  const { verb, args, cwd, settings } = git;
  const found: Inner[] = [];
  for (const [key, value] of settings) {
    if (key === `alias.${verb.toLowerCase()}`) found.push({ code: aliasCode(value, args), cwd });
    else if (runsCommand.test(key)) found.push({ code: value, cwd, isGuess: true });
  }
  if (verb === "submodule" && args.includes("foreach"))
    found.push(foreach(args.slice(args.indexOf("foreach") + 1), `${cwd}/${UNKNOWN}`));
  if (verb === "bisect" && args[0] === "run") found.push({ argv: args.slice(1), cwd });
  if (verb === "rebase")
    for (const code of new Options(args, "xsXC", ["--exec"]).all("x", "--exec")) found.push({ code, cwd });
  if (verb === "filter-branch") {
    const filters = args.filter((_, i) => /^--[a-z]+-filter$/.test(args[i - 1] ?? ""));
    for (const code of filters) found.push({ code, cwd, isGuess: true });
  }
  return found;
}

const runsCommand = /^(?:core\.(?:pager|fsmonitor|sshcommand|askpass|gitproxy)|pager\..*|diff\.external)$/;

function aliasCode(value: string, args: readonly string[]): string {
  const words = args.map(quotedWord).join(" ");
  return value.startsWith("!") ? `${value.slice(1)} ${words}` : `git ${value} ${words}`;
}

function foreach(words: readonly string[], cwd: string): Inner {
  const command = words.filter((word) => word !== "--recursive" && word !== "--quiet");
  return command.length === 1 ? { code: command[0] as string, cwd } : { argv: command, cwd };
}

/** The branch that the command checks out, if it names one. */
export function branchChosen(call: Call): string | undefined {
  const git = readGit(call);
  if (git === undefined || !/^(?:checkout|switch|branch)$/.test(git.verb) || git.cwd !== call.cwd) return undefined;
  const options = new Options(git.args, "bBcCM", ["--create", "--force-create", "--orphan"]);
  const created = options.all("b", "B", "c", "C", "M", "--create", "--force-create", "--orphan");
  if (created.length > 0) return created[0] as string;
  if (git.verb === "branch" || git.args.includes("--") || options.operands.length !== 1) return undefined;
  const [name = ""] = options.operands;
  // `checkout x.ts` is a file, `switch -` and `checkout HEAD~1` can be anything.
  const isBranch = /^[\w][\w/-]*$/.test(name) || (git.verb === "switch" && /^\w[\w/.-]*$/.test(name));
  return isBranch && name !== "HEAD" ? name : UNKNOWN;
}

// discard-work: git commands that discard all uncommitted work. Restoring a named file or a specific pattern is allowed.

import { isInside, normal } from "../../paths.ts";
import { isScratch } from "../../rules/places.ts";
import type { Call } from "../../shell/call.ts";
import { isUnknown, MANY, PRINTED } from "../../shell/shape.ts";
import { type Denial, deny } from "../../verdict.ts";
import { Options } from "../options.ts";
import type { GitCommand } from "./command.ts";
import { sweptBy } from "./paths.ts";

const oneFile = '"git restore <file>"';

export function judgeDiscard(git: GitCommand, call: Call): Denial | undefined {
  if (isElsewhere(git, call)) return undefined;
  switch (git.verb) {
    case "checkout":
      return judgeCheckout(git, call);
    case "restore":
      return judgeRestore(git, call);
    case "switch":
      return judgeSwitch(git);
    case "clean":
      return judgeWholeClean(git, call);
    case "read-tree": {
      const options = new Options(git.args, "", ["--prefix", "--index-output"]);
      const isReset = options.has("--reset") && options.has("u") && !options.has("n", "--dry-run");
      return isReset ? refusal("git read-tree --reset -u") : undefined;
    }
    case "checkout-index": {
      const options = new Options(git.args, "", ["--prefix", "--stage"]);
      const isWhole = options.has("a", "--all", "--stdin") || isSwept(options.operands, git, call);
      return isWhole && options.has("f", "--force") && !options.has("--prefix")
        ? refusal("git checkout-index -f over everything")
        : undefined;
    }
    default:
      return undefined;
  }
}

/** A clone below the temporary directory belongs to the agent. */
function isElsewhere({ cwd, isPointed }: GitCommand, { machine }: Call): boolean {
  return !isPointed && isScratch(cwd, machine);
}

const checkoutValues = ["--orphan", "--conflict", "--pathspec-from-file"];

function judgeCheckout(git: GitCommand, call: Call): Denial | undefined {
  const end = git.args.indexOf("--");
  const options = new Options(git.args, "bB", checkoutValues);
  const paths = end < 0 ? options.operands : git.args.slice(end + 1);
  if (isAnsweredByUser(options, call)) return undefined;
  const isForced = options.has("f", "--force");
  if (isForced && (end < 0 || paths.length === 0)) return refusal("git checkout --force");
  const isMerging = options.has("--ours", "--theirs");
  if (isSwept(paths, git, call) || (end >= 0 && !isMerging && paths.some(isList)) || isListFromInput(options, call)) {
    return refusal("git checkout over everything");
  }
  return isInteractive(options) && paths.length === 0
    ? refusal("git checkout --patch with answers fed to it")
    : undefined;
}

function judgeRestore(git: GitCommand, call: Call): Denial | undefined {
  const options = new Options(git.args, "s", ["--source", "--conflict", "--pathspec-from-file"]);
  const isIndexOnly = options.has("S", "--staged") && !options.has("W", "--worktree");
  if (isIndexOnly || isAnsweredByUser(options, call)) return undefined;
  const isMerging = options.has("--ours", "--theirs");
  const isAll = isSwept(options.operands, git, call) || (!isMerging && options.operands.some(isList));
  if (isAll || isListFromInput(options, call)) return refusal("git restore over everything");
  const isUnanswered = isInteractive(options) && options.operands.length === 0;
  return isUnanswered ? refusal("git restore --patch with answers fed to it") : undefined;
}

function judgeSwitch({ args }: GitCommand): Denial | undefined {
  const options = new Options(args, "cC", ["--create", "--force-create", "--orphan", "--conflict"]);
  // `--force-create` starts with `--force`.
  const isForced = args.some((arg) => arg.length > 4 && "--force".startsWith(arg)) || options.has("f");
  return isForced || options.has("--discard-changes") ? refusal("git switch --discard-changes") : undefined;
}

/** git clean works from its directory downwards; a directory below the project that the command has entered counts as named. */
function judgeWholeClean(git: GitCommand, call: Call): Denial | undefined {
  const options = new Options(git.args, "e", ["--exclude"]);
  if (options.has("n", "--dry-run", "h", "--help") || git.args.length === 0) return undefined;
  if (options.has("i", "--interactive") && call.stdin.origin === "terminal") return undefined;
  const project = normal(call.machine.projectRoot);
  const paths = options.operands;
  const place = paths.length === 0 || paths.some(isList) ? git.cwd : sweptBy(paths, git.cwd, project);
  if (place === undefined || (place !== project && isInside(place, project))) return undefined;
  return deny(
    "discard-work",
    '"git clean" would delete every untracked file here, including new files of the user. Delete your own files by name: "rm <file>".',
  );
}

/** Interactive, with a user who answers for each hunk. */
function isAnsweredByUser(options: Options, { stdin }: Call): boolean {
  return isInteractive(options) && stdin.origin === "terminal";
}

function isInteractive(options: Options): boolean {
  return options.has("p", "--patch");
}

function isSwept(paths: readonly string[], { cwd }: GitCommand, { machine }: Call): boolean {
  return sweptBy(paths, cwd, normal(machine.projectRoot)) !== undefined;
}

/** `$(git diff --name-only)`, `| xargs`: a list of whatever has changed. */
function isList(path: string): boolean {
  return isUnknown(path) && (path.includes(MANY) || path.includes(PRINTED));
}

/** A list of paths from standard input. */
function isListFromInput(options: Options, { stdin, feedOf }: Call): boolean {
  return options.all("--pathspec-from-file").some((path) => {
    const feed = path === "-" ? stdin : feedOf(path);
    if (feed === undefined) return false;
    return isUnknown(feed.text) || sweptBy(feed.text.split(/[\n\0]/).filter(Boolean), "/", "/") !== undefined;
  });
}

function refusal(command: string): Denial {
  return deny(
    "discard-work",
    `"${command}" discards uncommitted work, including the user's. Undo your own changes file by file: ${oneFile}.`,
  );
}

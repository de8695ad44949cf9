// git config: allows ordinary settings; denies those that run code, disable hooks or hide a forced push.

import type { Machine } from "../../machine.ts";
import { locate } from "../../paths.ts";
import { sensitivityOf } from "../../rules/sensitive.ts";
import { shown } from "../../shell/shape.ts";
import { type Denial, deny } from "../../verdict.ts";
import { Options } from "../options.ts";

const verbs = new Set(["get", "set", "unset", "list", "edit", "rename-section", "remove-section"]);
const reading = ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--list", "l"];

/** `judgeWords` judges a git command, because an alias stands for one. */
export function judgeConfig(
  git: { args: readonly string[]; cwd: string },
  machine: Machine,
  judgeWords: (words: string[]) => Denial | undefined,
): Denial | undefined {
  const options = new Options(git.args, "f", ["--file", "--blob", "--type", "--default", "--comment", "--value"]);
  const verb = verbs.has(options.operands[0] ?? "") ? options.operands[0] : undefined;
  const [key = "", ...values] = verb === undefined ? options.operands : options.operands.slice(1);
  if (verb === "get" || verb === "list" || options.has(...reading)) return undefined;
  const isUnset = verb === "unset" || options.has("--unset", "--unset-all");
  if (values.length === 0 && !isUnset) return undefined;
  for (const file of options.all("f", "--file")) {
    if (sensitivityOf(locate(file, git.cwd), machine) === "secret") return refusal(file, "is a secret file");
  }
  return judgeSetting(key.toLowerCase(), isUnset ? undefined : values.join(" "), judgeWords);
}

const switches = /^(?:core\.hookspath|include\.path|includeif\..*\.path|init\.templatedir)$/;
const commands =
  /^(?:core\.(?:pager|editor|sshcommand|askpass|gitproxy|fsmonitor)|sequence\.editor|pager\..+|diff\.external|diff\..+\.(?:command|textconv)|(?:difftool|mergetool|browser|man)\..+\.cmd|merge\..+\.driver|filter\..+\.(?:clean|smudge|process)|gpg\.(?:.+\.)?program|credential\.(?:.+\.)?helper|remote\..+\.(?:uploadpack|receivepack|vcs)|submodule\..+\.update|uploadpack\.packobjectshook|trailer\..+\.(?:command|cmd))$/;

function judgeSetting(
  key: string,
  value: string | undefined,
  judgeWords: (words: string[]) => Denial | undefined,
): Denial | undefined {
  if (switches.test(key)) return refusal(key, "decides which hooks and settings git uses");
  if (value === undefined) return undefined;
  if (key.startsWith("alias.")) {
    if (value.startsWith("!")) return refusal(key, "would run a shell command");
    return judgeWords(value.split(/\s+/));
  }
  return commands.test(key) && !isPlainCommand(value) ? refusal(key, "would run shell code") : undefined;
}

/** `less -R`, `code --wait`, `git-lfs clean -- %f`: a program with arguments, and nothing that a shell would interpret. */
function isPlainCommand(value: string): boolean {
  return (
    !/[;&|<>$`()!\n]/.test(value) && !/^(?:\S*\/)?(?:ba|da|z|k)?sh\s/.test(value) && !/^\/tmp\/|\s-[ec]\s/.test(value)
  );
}

function refusal(what: string, why: string): Denial {
  return deny(
    "sensitive-file",
    `git config: ${shown(what)} ${why} and must not be changed by an agent. Ordinary settings such as user.name are fine; ask the user for this one.`,
  );
}

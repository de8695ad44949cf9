// What no agent may do, as patterns that the policy engine of Gemini CLI can match. Each must be certain: it may miss a command, but must
// not match one that the guard allows. The CLI rejects a pattern of more than 2,048 characters, or with a repeated group that contains a
// quantifier.
import type { DenyRule } from "./policy-file.ts";

const PRIORITY = 900;

// Unquoted text of one simple command, without characters that could end the command, redirect, expand to commands or start a comment.
const special = String.raw`\\"'<>|&;()$#`;
const text = `[^${special}]*`;
const fewText = `[^${special}]{0,99}`;
const wordStart = `[^- ${special}]`;
const fewWord = `[^ ${special}]{0,99}`;
const someWord = `[^ ${special}]{1,99}`;
const wordEnd = String.raw`([ ;&|"]|\\n)`;
const commandEnd = String.raw`([;&|"]|\\n)`;

// Quoted text: in double quotes (\" in JSON) without command substitutions, or in single quotes.
const insideDouble = String.raw`([^\\"$\x60]|\$[^\\"(\x60]|\\[bfnrtu]|\\\\[^\\"]|\\\\\\.)*`;
const insideSingle = String.raw`([^'\\"]|\\.)*`;
const quotation = String.raw`(\\"${insideDouble}\\"|'${insideSingle}')`;

/** Text with up to `quotations` quoted parts; its unquoted parts exclude the characters of `none` (and $' and $"). */
function mixed(none: string, quotations: number, also = ""): string {
  const unquoted = String.raw`([^${none}]|\$[^${none}]${also})*`;
  return quotations === 0 ? unquoted : `${unquoted}(|${quotation}${mixed(none, quotations - 1, also)})`;
}

const args = mixed(special, 4);
const argsAndTargets = mixed(special.replace(">", ""), 1);
/** Where a simple command begins: at the start, or after other commands that are simple enough to be sure. */
const commandStart = String.raw`(|${mixed(String.raw`\\"'<()$#[`, 2, String.raw`|\\n`)}(;|&&|\|\||\\n) *(|do |then |else ))`;
// The guard allows content in a throw-away directory, which a pattern cannot recognise. At the end, because the CLI takes a lookahead before
// a repeated group for an unsafe pattern.
const notTemporary = "(?<!(tmp|TMP).*)(?!.*(tmp|TMP))";
// Excludes devices, where nothing is stored, and variables, which may hold a throw-away directory.
const file = String.raw`(\\"|'|)(?![^ ]{0,5}/dev/)[\w.~/-]`;

const remove = `(|sudo )rm(?= )(?!${text} -- [^;|&]*-)(?=${text} -(-recursive|[A-Za-z]*[rR]))${text} `;
const systemPlace = String.raw`/(|bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var)(|/)(|\*)`;
const home = String.raw`\$(HOME|\{HOME\})`;
const everythingIn = String.raw`(|/|/\*)`;
const git = `git(| -[cC] ${someWord})(| -[cC] ${someWord})`;
// Excludes a dry run (-n) and an option with a value (-o), of this or a later command: the CLI also checks each simple command separately.
const inEarnest = "(?!.* -([no]|[^- ][^ ]{0,9}[no]|-dry-run))";
/** The remote (the first word that is not an option) and what may come before the refspec. */
const remote = `${fewText} ${wordStart}${fewWord}(| ${fewText}) `;
const toMain = `(|[^- :${special}][^ :${special}]{0,99}:)(|refs/heads/)(main|master)${wordEnd}`;

const path = String.raw`"file_path":"(|[^"]*[\\/])`;
const below = String.raw`(|[\\/][^"]*)"`;

/** Content through the shell: denied to agents. In other conversations it depends on the session, which only the guard knows (C47). */
export const contentRules: readonly DenyRule[] = [
  shell(
    "echo or printf into a file, also after other commands: cd x && echo hi > f",
    String.raw`${commandStart}(echo|printf) ${args}(|&)(?<![02-9])>(|>|\|) *${file}${notTemporary}`,
    "Write file content with write_file or replace: the shell corrupts it.",
  ),
  shell(
    "cat with a heredoc, but not with a here-string",
    `${commandStart}cat ${argsAndTargets}<<[^<]${notTemporary}`,
    "Write file content with write_file or replace: a heredoc corrupts it.",
  ),
];

/** Damage: denied in every conversation. */
export const damageRules: readonly DenyRule[] = [
  shell(
    "recursive deletion of / or a system directory",
    String.raw`${remove}(${systemPlace}|\\"${systemPlace}\\"|'${systemPlace}')${wordEnd}`,
    "That would delete the system. Name the directory of the project to delete.",
  ),
  shell(
    "recursive deletion of the home directory",
    String.raw`${remove}(~${everythingIn}|${home}${everythingIn}|\\"${home}\\"${everythingIn}|\\"${home}${everythingIn}\\")${wordEnd}`,
    "That would delete the user's home. Name the directory of the project to delete.",
  ),
  shell(
    "a forced push to main or master",
    `${git} push(?= )(?=${text} (--force|-[A-Za-z]{0,5}f[A-Za-z]{0,5})${wordEnd})${inEarnest}${remote}${toMain}`,
    "No forced push to main or master. Push to a branch of your own and say in your report what should be merged.",
  ),
  shell(
    "a forced push by a refspec: git push origin +main",
    String.raw`${git} push(?= )${inEarnest}${remote}\+${toMain}`,
    "No forced push to main or master. Push to a branch of your own and say in your report what should be merged.",
  ),
  shell(
    "git reset --hard",
    `${git} reset(?!${text} -- ${text}--hard)(| ${text}) --hard${wordEnd}`,
    "git reset --hard discards work that is not yours. Undo your own changes file by file with replace.",
  ),
  shell(
    "git stash drop and clear",
    `${git} stash (drop|clear)${wordEnd}`,
    "Stashes are the user's. Say in your report which one can go.",
  ),
  shell(
    "deletion of main or master",
    `${git} branch -D (main|master)${commandEnd}`,
    "Agents must not delete main or master. Delete a branch of your own by name, or say in your report what should go.",
  ),
  shell(
    "a kill of every process",
    `(|sudo )kill( -9| -15| -KILL| -TERM| --| -9 --) -1${commandEnd}`,
    "That would kill every process. Kill your own child process by its id (kill $!), or say in your report what to stop.",
  ),
  shell(
    "a kill of every process of a runtime or an agent",
    `(|sudo )(pkill|killall)(| -9| -KILL) (node|python|python3|java|bash|gemini|maestro|claude)${commandEnd}`,
    "That would also kill the agent and the user's programs. Kill your own child process by its id (kill $!), or say in your report what to stop.",
  ),
  files(
    "a file of environment secrets, except its example",
    String.raw`${path}\.env(|\.(ci|dev|development|local|prod|production|secret|secrets|stage|staging|test|testing)(|\.local))"`,
    "Agents must not write secrets. Describe the variable in .env.example and say in your report that a value is needed.",
  ),
  files(
    "keys and credentials",
    String.raw`"file_path":"[^"]*\.(pem|key|credentials)"`,
    "Agents must not write keys. Say in your report which one is needed and where.",
  ),
  files(
    "files that configure Gemini CLI",
    String.raw`${path}\.gemini[\\/]+(settings\.json"|(agents|policies|extensions)${below})`,
    "Settings, agents, policies and extensions of Gemini CLI are the user's. Say in your report what should change.",
  ),
  files(
    "files that git runs or obeys",
    String.raw`${path}\.git[\\/]+(hooks|config)${below}`,
    "Hooks and configuration of git are the user's. Use git config for ordinary settings, or say in your report what should change.",
  ),
];

/** What an attempt is denied. */
export const baselineRules: readonly DenyRule[] = [...contentRules, ...damageRules];

function shell(why: string, commandRegex: string, denyMessage: string): DenyRule {
  return { why, toolName: "run_shell_command", commandRegex, priority: PRIORITY, denyMessage };
}

function files(why: string, argsPattern: string, denyMessage: string): DenyRule {
  return { why, toolName: ["write_file", "replace"], argsPattern, priority: PRIORITY, denyMessage };
}

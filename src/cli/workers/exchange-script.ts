// The hook of an exchange, and the shell script that creates or checks an exchange on the machine where it is. Pure; no secret is in either.

/** References below it are the whole exchange: orders in `in/`, deliveries in `out/`. */
export const EXCHANGE_REFS = "refs/maestro-exchange";

/** As large as one order or delivery may be. */
const MAX_INPUT = "1g";

/**
 * git's own settings do not protect these references: `denyNonFastForwards` and `denyDeletes` hold for branches alone. Two pushes that
 * create one reference at the same time both pass the hook; git's transaction then lets one of them through.
 */
const exchangeHook = `#!/bin/sh
# A reference of an exchange is created once, and may be deleted. Everything else is rejected. Written by "maestro exchange init".
ref=$1 old=$2 new=$3
reject() {
  echo "maestro: $1" >&2
  exit 1
}
case $ref in
${EXCHANGE_REFS}/in/?* | ${EXCHANGE_REFS}/out/?*) ;;
*) reject "$ref is not a reference of an exchange" ;;
esac
name=\${ref#${EXCHANGE_REFS}/}
name=\${name#*/}
case $name in
*[!0-9a-f-]*) reject "$ref is not the name of an attempt" ;;
esac
# An object id of zeros, in either length, stands for a reference that does not exist.
case $new in
*[!0]*) ;;
*) exit 0 ;;
esac
case $old in
*[!0]*) reject "$ref exists already and is never overwritten" ;;
esac
exit 0
`;

/** The settings of an exchange; each is set again when it differs. */
const settings: readonly (readonly [string, string])[] = [
  ["maestro.exchange", "1"],
  // A setting of the account must not lead to other hooks.
  ["core.hooksPath", "hooks"],
  ["core.logAllRefUpdates", "false"],
  ["receive.fsckObjects", "true"],
  ["receive.maxInputSize", MAX_INPUT],
  ["receive.denyDeletes", "false"],
  ["receive.denyNonFastForwards", "false"],
  // Objects of a push that has not created its reference yet are young; no attempt lasts two weeks.
  ["gc.pruneExpire", "2.weeks.ago"],
  // An attempt is fetched by its commit.
  ["uploadpack.allowTipSHA1InWant", "true"],
];

export type ExchangeTask = "init" | "check";

/** What the script says about an exchange. `faults`: what was, or is, different from what it should be. */
export interface ExchangeState {
  state: "created" | "current" | "repaired" | "stale" | "absent" | "foreign" | "failed";
  path: string;
  faults: string[];
}

/** The script for \`sh -s\`. The path reaches it inside the script, in quotes, so that no command line has to be quoted twice. */
export function exchangeScript(task: ExchangeTask, path: string): string {
  return [
    `task=${task}`,
    `place=${quoted(path)}`,
    preamble,
    ...settings.map(([name, value]) => `setting ${quoted(name)} ${quoted(value)}`),
    hookPart,
    conclusion,
  ].join("\n");
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Every answer begins with this, because a login shell may print a greeting of its own. */
const ANSWER = "maestro-exchange:";

const preamble = `
PATH=\${PATH:-/usr/local/bin:/usr/bin:/bin}
LC_ALL=C
export PATH LC_ALL
unset GIT_DIR GIT_WORK_TREE GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT
say() { printf '${ANSWER} %s\\n' "$*"; }
answer() { say "state $1"; say "path $place"; exit 0; }
fault() { found=1; say "fault $1"; }
case $place in '~') place=$HOME ;; '~/'*) place=$HOME/\${place#'~/'} ;; esac
command -v git >/dev/null 2>&1 || { say "fault git is not installed there"; answer failed; }
found=
created=
if [ -d "$place" ] && [ -n "$(ls -A -- "$place")" ]; then
  [ "$(git config --file "$place/config" maestro.exchange </dev/null 2>/dev/null)" = 1 ] || answer foreign
elif [ -e "$place" ] && [ ! -d "$place" ]; then
  answer foreign
elif [ "$task" = check ]; then
  answer absent
else
  # Only its owner reads an exchange: it has the files of every project that uses it.
  said=$(exec 2>&1; umask 077 && mkdir -p -- "$place" && chmod 700 -- "$place" && git init --quiet --bare --template= -- "$place" </dev/null) || {
    say "fault $(printf '%s' "$said" | tr '\\n' ' ')"
    answer failed
  }
  created=1
fi
cd -- "$place" || answer failed
place=$(pwd)
setting() {
  if [ -z "$created" ]; then
    [ "$(git config --file config "$1" </dev/null 2>/dev/null)" = "$2" ] && return
    fault "$1 is not $2"
  fi
  [ "$task" = check ] || git config --file config "$1" "$2" </dev/null || answer failed
}`;

/** The new hook replaces the old one in one step, so that no push finds half of it. */
const hookPart = `
mkdir -p hooks
hook=\${TMPDIR:-/tmp}/maestro-hook.$$
[ "$task" = check ] || hook=hooks/update.$$
trap 'rm -f -- "$hook"' EXIT
cat >"$hook" <<'END_OF_HOOK'
${exchangeHook}END_OF_HOOK
if ! cmp -s -- "$hook" hooks/update; then
  [ -n "$created" ] || fault "its update hook is not this version's"
  [ "$task" = check ] || { chmod 755 -- "$hook" && mv -f -- "$hook" hooks/update || answer failed; }
elif [ ! -x hooks/update ]; then
  fault "its update hook cannot be executed"
  [ "$task" = check ] || chmod 755 hooks/update || answer failed
fi`;

const conclusion = `
[ -n "$created" ] && answer created
[ -z "$found" ] && answer current
[ "$task" = check ] && answer stale
answer repaired
`;

/** Undefined when the script did not finish. */
export function readExchangeState(output: string): ExchangeState | undefined {
  const lines = output.split("\n").flatMap((line) => {
    const at = line.indexOf(ANSWER);
    return at === -1 ? [] : [line.slice(at + ANSWER.length + 1)];
  });
  const [state, path] = ["state ", "path "].map((key) => lines.find((line) => line.startsWith(key))?.slice(key.length));
  const known = ["created", "current", "repaired", "stale", "absent", "foreign", "failed"] as const;
  const read = known.find((one) => one === state);
  if (read === undefined || path === undefined) return undefined;
  const faults = lines.filter((line) => line.startsWith("fault ")).map((line) => line.slice("fault ".length));
  return { state: read, path, faults };
}

// Recognises secrets by their name: in printed assignments, and in variables of the environment. A name alone is not enough: the value must
// look like a secret, because code, types and prose use the same names.

/** Names of passwords, for which a short or plain value counts too. */
const passwordName = /(?:passw(?:or)?ds?|passphrases?|passcodes?|pwd)$/i;

// Endings of names. Each is searched separately, so that a long name costs nothing.
const endings = [
  "passw(?:or)?ds?",
  "passphrases?",
  "passcodes?",
  // PWD alone is the working directory.
  "(?<=[A-Za-z0-9]_|;[ ]?)pwd",
  "secrets?",
  "secret_?key(?:_?base)?",
  "(?:api|access|secret|private|account|signing|encryption|master|auth|application|license|shared_?access|storage|subscription)[_-]?keys?",
  "shared_?access_?signature",
  "token",
  "(?<=[A-Za-z0-9]_)pat",
  "credentials?",
  "(?<=[A-Za-z0-9]_|[:/]_|[\"'])auth",
  "dsn",
  "connection_?string",
  "webhook(?:_?url)?",
];

const quote = "\\\\{0,3}[\"'`]";
/** A comma or an ampersand belongs to the value unless another assignment follows it. */
const bare = "(?:[^\\s\"'`;,&<>(){}\\[\\]|\\\\]|[,&](?![\\w.-]{1,40}=|[\\s\"'\\\\]|$)){4,500}";

export const assignment = {
  /** The separator between a name and its value. */
  joint: /[=:]|--\w/,
  sign: /passw|passphrase|passcode|pwd|secret|key|token|_pat|credential|auth|dsn|connection_?string|webhook/i,
  form: new RegExp(
    `(?<name>${endings.join("|")})(?<gap>(?:${quote})?(?:[^\\S\\n]{0,4}(?:=>|:=|==?|:)[^\\S\\n]{0,4}|(?<=--[\\w-]{0,40})[^\\S\\n]{1,4}))` +
      `(?:(?<quote>${quote})(?<quoted>(?:\\\\.|[^\\n\\\\]){1,500}?)\\k<quote>|(?<bare>${bare})(?=(?<next>.?)))`,
    "gi",
  ),
};

/** `<password>value</password>`, and the same for the other names. */
export const element = {
  sign: /<\//,
  form: /(?<before><(?:[\w.:-]{0,40}(?:passw(?:or)?d|secret|token|api_?key|private_?key|passphrase))>)(?![$<{*\s])[^<\n]{4,500}(?<after><\/)/gi,
};

interface Assigned {
  name: string;
  gap: string;
  /** The value, and whether it is quoted. */
  value: string;
  isQuoted: boolean;
  /** The character after an unquoted value. */
  next: string;
}

/** Variables, placeholders, and values already redacted. */
const placeholder =
  /^(?:[$<{*]|%[\w{(]|\[redacted|\.{3}|your[_-]|x{4,}$|(?:undefined|null|none|true|false|string|number|boolean|required|optional|hidden|invalid|missing|expired|text)\b)/i;
const path = /^(?:~|\.{1,2}|[A-Za-z]:|\/[A-Za-z][a-z]+)[/\\]/;
const plainWord = /^(?:[A-Za-z][a-z]+|[A-Z]+)$/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const wholeAddress = /^[a-z][a-z0-9+.-]*:\/\//i;
/** `user.token`, `process.env.API_KEY`, `tokens2`: what code is made of. */
const identifier = /^[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)*[!?]?$/;

/** Whether a value printed under a telling name must be redacted. */
export function isPrintedSecret({ name, gap, value, isQuoted, next }: Assigned): boolean {
  if (placeholder.test(value) || path.test(value) || wholeAddress.test(value)) return false;
  const isTight = gap === "=";
  // A number in JSON stays, because the document must remain valid.
  if (!isQuoted && /^\\*["']/.test(gap) && /^[\d.e+-]+$/i.test(value)) return false;
  if (!isQuoted && !isTight && "([{".includes(next || " ")) return false;
  if (passwordName.test(name)) return isPrintedPassword(value, isQuoted, isTight, next);
  if (!isQuoted && identifier.test(value) && !looksRandom(value)) return false;
  if (uuid.test(value)) return true;
  return isMixed(value) && (looksRandom(value) || (value.length >= 16 && !/\s/.test(value)));
}

function isPrintedPassword(value: string, isQuoted: boolean, isTight: boolean, next: string): boolean {
  if (isQuoted) return value.length >= 4 && !/^[A-Z][a-z]+$/.test(value) && !passwordName.test(value);
  // f(password=pw, ...): an argument of a call.
  const isCode = identifier.test(value) && (/[(),.[]/.test(next || " ") || value.includes("."));
  if (isTight) return !isCode && !/^(?:passw(?:or)?d|pwd)$/.test(value);
  return (
    value.length >= 6 && !isCode && /[^A-Za-z_.]/.test(value) && !/^\d{1,3}$/.test(value) && !/passw|pwd/i.test(value)
  );
}

function isMixed(value: string): boolean {
  return value.length >= 8 && /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** Whether a run of letters and digits is longer than any word, or switches between kinds of characters more often. */
function looksRandom(value: string): boolean {
  return value.split(/[^A-Za-z0-9]+/).some((run) => {
    const pieces = run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
    return run.length >= 32 || (run.length >= 8 && run.length / pieces.length < 3);
  });
}

const MIN_VALUE_CHARS = 8;
const MIN_PASSWORD_CHARS = 6;

/** Names which say that the value itself is the secret. */
const telling =
  /(?:TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|(?:API|ACCESS|SECRET|PRIVATE)_?KEYS?|(?:^|_)PASS|_PWD|_PAT|DSN|CONNECTION_?STRING|WEBHOOK(?:_?UR[LI])?)$/;
/** Words in a name which suggest that the value is related to a secret. */
const suspect = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|KEY|WEBHOOK)S?$|AUTH$|^(?:PASS|PRIVATE)$/;

/** SSH_AUTH_SOCK, GIT_AUTHOR_NAME, KEYBOARD, AUTH_TYPE=oauth-personal and SORT_KEY=created_at are not secrets. */
function isSecretVariable(name: string, value: string): boolean {
  const known = name.toUpperCase();
  const isPassword = /(?:PASSWORDS?|PASSWD|PASSPHRASE|(?:^|_)PASS|_PWD)$/.test(known) && /[^A-Za-z]/.test(value);
  const least = isPassword ? MIN_PASSWORD_CHARS : MIN_VALUE_CHARS;
  if (value.length < least || path.test(value) || plainWord.test(value)) return false;
  if (wholeAddress.test(value)) return /DSN|WEBHOOK/.test(known) && /:\/\/[^/]+\/[^/]/.test(value);
  if (telling.test(known) && known !== "OLD_PWD") return true;
  const parts = known.split(/[^A-Z0-9]+/);
  if (suspect.test(parts.at(-1) ?? "") && isMixed(value)) return true;
  return parts.some((part) => suspect.test(part)) && looksRandom(value);
}

const userInfo = /^[a-z][a-z0-9+.-]{0,30}:\/\/([^/?#@\s:]{0,200}):(\S{1,500})@[^@/]/i;

/** Settings of Maestro that are secrets whatever they look like. */
const ownSecrets = /^MAESTRO_(?:WORKER_KEY|QUEUE_PASSWORD)$/;

/** What to redact because this variable holds it: the value, and a password inside it in its plain form. */
export function secretsOf(name: string, given: string): string[] {
  const value = given.trim();
  const isOwn = ownSecrets.test(name) && value.length >= MIN_PASSWORD_CHARS;
  const found = isOwn || isSecretVariable(name, value) ? [value] : [];
  const password = userInfo.exec(value)?.[2];
  if (password === undefined) return found;
  const spelled = [password, decoded(password)].filter(
    (one) => one.length >= MIN_PASSWORD_CHARS && !plainWord.test(one),
  );
  return [...found, value, ...spelled];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not percent-encoded, or malformed: returned unchanged.
    return text;
  }
}

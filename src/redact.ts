// Takes secrets out of text before it is written down: key shapes that everybody knows, and the values of variables with telling
// names. Linear in the text, no library. What it does not know it does not find: it is the last net, not the first.

import { join } from "node:path";
import { readEnvFile } from "./setting-layers.ts";

const mark = "[redacted]";

/** For everything that is logged, recorded, shown or put into a prompt by a process with this environment. */
export function makeRedactor(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const values = secretValues(env);
  return (text) => {
    let clean = text;
    for (const value of values) clean = clean.replaceAll(value, mark);
    for (const shape of shapes) if (shape.sign.test(clean)) clean = clean.replace(shape.form, shape.by);
    return clean;
  };
}

/** Knows the secrets of the environment and of the project's own .env, which Gemini CLI reads too. */
export function projectRedactor(
  projectRoot: string,
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  return makeRedactor({ ...readEnvFile(join(projectRoot, ".env")), ...env });
}

// Every repetition has an upper limit: an endless one overflows the stack of the regular expression on a long enough text.
/** Where a word begins; `\n` in a JSON string does not belong to the word behind it. */
const start = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))`;
/** The same for words that may have hyphens in them: they are tried once, not at every hyphen. */
const strictStart = String.raw`(?:(?<![\w-])|(?<=\\[nrt]))`;

const words = [
  // Google: API keys, access tokens.
  `${start}AIza[\\w-]{30,500}`,
  `${start}ya29\\.[\\w-]{20,2000}`,
  // OpenAI, Anthropic, OpenRouter and those who write keys as they do. Not "sk-learn" and not a name with many hyphens.
  `${start}sk-(?:(?:proj|ant|or|svcacct|admin)-[\\w-]{20,500}|[A-Za-z0-9]{20,500})`,
  // GitHub, GitLab, npm.
  `${start}gh[opsur]_[A-Za-z0-9]{20,500}`,
  `${start}github_pat_\\w{20,500}`,
  `${start}glpat-[\\w-]{20,500}`,
  `${start}npm_[A-Za-z0-9]{36,500}`,
  // AWS key ids, Slack, Stripe.
  `${start}(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])`,
  `${start}xox[abeoprs]-[A-Za-z0-9-]{10,500}`,
  `${start}[rs]k_(?:live|test)_[A-Za-z0-9]{16,500}`,
  // JSON web tokens.
  `${strictStart}eyJ[\\w-]{8,9999}\\.eyJ[\\w-]{8,9999}(?:\\.[\\w-]{0,9999})?`,
];

/** What every one of the words has in it; looking for it costs a fraction of looking for them. */
const sign =
  /AIza|ya29\.|(?:\b|\\[nrt])sk-|gh[opsur]_|github_pat_|glpat-|npm_|AKIA|ASIA|xox[abeoprs]-|[rs]k_(?:live|test)_|eyJ/;

const keyName = "[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----";

const shapes: readonly { sign: RegExp; form: RegExp; by: string }[] = [
  // A block ends at the next row of hyphens; one without an end is as long as its lines look like a key.
  {
    sign: /PRIVATE KEY/,
    form: new RegExp(`-----BEGIN ${keyName}(?:[^-]|-(?!----)){0,20000}-----END ${keyName}`, "g"),
    by: mark,
  },
  {
    sign: /PRIVATE KEY/,
    form: new RegExp(`-----BEGIN ${keyName}(?:(?:\\s|\\\\[nr]){0,20}[A-Za-z0-9+/=]{16,200}){1,500}`, "g"),
    by: mark,
  },
  { sign, form: new RegExp(words.join("|"), "g"), by: mark },
  // A word behind "Bearer" is a token when it has a digit or is long: "Bearer authentication" is prose.
  {
    sign: /Authorization/i,
    form: /(\bAuthorization[\\"']{0,4}\s{0,8}[:=]\s{0,8}[\\"']{0,4}(?:Bearer|Basic|Token)\s{1,8})(?=[\w.~+/=-]{0,19}\d|[\w.~+/=-]{20})[\w.~+/=-]{6,9999}/gi,
    by: `$1${mark}`,
  },
];

const MIN_VALUE_CHARS = 8;

/** Longest first, so that no value hides a part of another. */
function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = new Set<string>();
  for (const [name, given] of Object.entries(env)) {
    const value = given?.trim() ?? "";
    if (!isSecret(name, value)) continue;
    values.add(value);
    // As it stands in JSON, which is what agents answer with.
    values.add(JSON.stringify(value).slice(1, -1));
  }
  return [...values].sort((a, b) => b.length - a.length);
}

/** Names that say that the value itself is the secret. */
const telling = /(?:TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|(?:API|ACCESS|SECRET|PRIVATE)_?KEYS?|(?:^|_)PASS)$/;
/** Words of a name that say that the value has to do with one. */
const suspect = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|KEY)S?$|AUTH$|^(?:PASS|PRIVATE)$/;

const path = /^(?:~|\.{1,2}|[A-Za-z]:|\/[A-Za-z][a-z]+)[/\\]/;
const plainWord = /^(?:[A-Za-z][a-z]+|[A-Z]+)$/;

/** SSH_AUTH_SOCK, GIT_AUTHOR_NAME, KEYBOARD, AUTH_TYPE=oauth-personal and SORT_KEY=created_at are none. */
function isSecret(name: string, value: string): boolean {
  if (value.length < MIN_VALUE_CHARS || path.test(value) || plainWord.test(value)) return false;
  const known = name.toUpperCase();
  if (telling.test(known)) return true;
  const parts = known.split(/[^A-Z0-9]+/);
  if (suspect.test(parts.at(-1) ?? "") && /\d/.test(value) && /[A-Za-z]/.test(value)) return true;
  return parts.some((part) => suspect.test(part)) && looksRandom(value);
}

/** Whether a run of letters and digits is longer than any word, or changes between kinds of character more often. */
function looksRandom(value: string): boolean {
  return value.split(/[^A-Za-z0-9]+/).some((run) => {
    const pieces = run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
    return run.length >= 32 || (run.length >= 8 && run.length / pieces.length < 3);
  });
}

// Reads what an agent says about its own success. Only a clear word counts: a template, a hedge or a denial is not a status.
import { type Item, paragraphsOf } from "./markdown/fields.ts";
import { isNone, words } from "./markdown/words.ts";

export type Status = "success" | "partial" | "failure";
export type Validation = "pass" | "fail" | "skipped";

const statusWords = new Map<string, Status>([
  ["success", "success"],
  ["successful", "success"],
  ["succeeded", "success"],
  ["partial", "partial"],
  ["partially", "partial"],
  ["failure", "failure"],
  ["failed", "failure"],
  ["fail", "failure"],
]);

/** One status for all status fields of a report; null when there is none, it is unclear, or the fields contradict each other. */
export function statusOf(claims: readonly (readonly Item[])[]): Status | null {
  const said = new Set(claims.map(statusOfClaim));
  const [status = null] = said;
  return said.size === 1 ? status : null;
}

function statusOfClaim(items: readonly Item[]): Status | null {
  const paragraphs = paragraphsOf(items);
  const boxes = paragraphs.filter(({ checked }) => checked !== null);
  const chosen = boxes.length > 0 ? boxes.filter(({ checked }) => checked === true) : paragraphs;
  const [first = null, ...others] = chosen.map(({ text }) => readStatus(text));
  // "- success / - partial / - failure" is an unfilled menu, not an answer.
  return others.some((other) => other !== null && other !== first) ? null : first;
}

const badSigns = /[❌✗✘✖🚫⛔🔴⚠]/u;

function readStatus(value: string): Status | null {
  // Characters that negate, strike out or mark a placeholder must not precede the word.
  const [, lead = "", word = "", rest = ""] = /^([^\p{L}\p{N}!¬≠~<{$-]{0,20})(\p{L}+)(.*)$/su.exec(value) ?? [];
  const status = statusWords.get(word.toLowerCase());
  if (status === undefined || value.length > 2000) return null;

  const tail = rest.replace(/^[\s*_`"'”’)\]]+|\\$/gu, "");
  const offersChoice = /^(?:[|/\\,;]+|or\b)[\s*_`"'([]*(?:or\s+)?(?:success|partial|failure)\b/iu.test(tail);
  if (offersChoice || /^[?~|/\\<>{}&+%]/.test(tail) || /^[\p{M}\p{N}]/u.test(rest)) return null;
  if (/^[\s:=—–-]*(?:false|no|none|not)\b/i.test(tail)) return null;
  if (status !== "success") return status;
  return badSigns.test(lead + rest) || /^[\p{L}\p{N}]/u.test(tail) || hedges(tail) ? null : "success";
}

const reassurance =
  /\b(?:no|0|zero|without|any|none|fix(?:ed|es)?|resolved|repaired)\s(?:\w+\s){0,2}(?:fail\w*|broken|errors?|issues?|warnings?|problems?|regressions?)/g;
const doubt =
  /\b(?:but|except\w*|however|although|though|unless|until|pending|partial\w*|fail\w*|false|not|never|cannot|would|should|assuming|hopefully|mostly|almost|nearly|todo|tbd|incomplete|unverified|untested|unsuccessful|blocked|broken|if)\b|(?<!\bas )\bexpected\b|n['’]t\b/;

/** Whether the text after "success" takes it back. */
function hedges(explanation: string): boolean {
  return doubt.test(explanation.toLowerCase().replace(reassurance, ""));
}

/** The agent's claim about validation; one failed check fails it. Undefined when nothing clear is said. */
export function validationOf(items: readonly Item[]): Validation | undefined {
  const said = paragraphsOf(items).map(({ text }) => readValidation(text.slice(0, 2000)));
  return said.includes("fail") ? "fail" : said.find((one) => one !== undefined);
}

const menu = /^(?:(?:pass|passed|fail|failed|skip|skipped|partial|or) ?){2,}$/;

function readValidation(text: string): Validation | undefined {
  const said = words(text);
  if (menu.test(said)) return undefined;
  if (/\b[1-9]\d* fail(?:ed|ures?)\b|(?<!\d )\bfailed [1-9]/.test(said) || /^fail/.test(said)) return "fail";
  if (/^pass/.test(said)) return "pass";
  if (/(?<!\b(?:0|no|zero|none|without|never) )\bfail(?:s|ed|ures?)?\b|\b(?:not|n t) pass/.test(said)) return "fail";
  if (/\bpass/.test(said)) return "pass";
  return /\bskip|\bnot run\b/.test(said) || isNone(text) ? "skipped" : undefined;
}

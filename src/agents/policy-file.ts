// Writes policy files of Gemini CLI as text: a list of rules. Other files decide what they deny or allow. The CLI drops a file that it
// cannot parse and continues without it, so nothing here may need escaping: `ruleText` rejects text that would.
import { MaestroError } from "../errors.ts";

/** The highest priority the CLI accepts: above everything else of its tier. */
export const MAX_PRIORITY = 999;

interface RuleMatch {
  /** The purpose of the rule, in one line. */
  why?: string;
  toolName: string | readonly string[];
  /** The agent whose calls the rule applies to; absent for all agents. */
  subagent?: string;
  /** Matched from the start of every simple command, against its JSON text. */
  commandRegex?: string;
  /** Matched against the JSON text of all arguments. */
  argsPattern?: string;
  priority: number;
}

export interface DenyRule extends RuleMatch {
  /** What the model reads: the right tool, or what to do. */
  denyMessage: string;
}

/** `ask_user` keeps the CLI's own question, below which another rule may allow the rest of the tool's calls. */
export interface AllowRule extends RuleMatch {
  decision: "allow" | "ask_user";
}

export type PolicyRule = DenyRule | AllowRule;

/** The file: a head comment, then the rules. */
export function policyText(head: readonly string[], rules: readonly PolicyRule[]): string {
  return `${[head.map((line) => `# ${line}\n`).join(""), ...rules.map(ruleText)].filter((part) => part !== "").join("\n")}`;
}

export function ruleText(rule: PolicyRule): string {
  const { why, toolName, subagent, commandRegex, argsPattern, priority } = rule;
  const lines = [
    why === undefined ? undefined : `# ${why}`,
    "[[rule]]",
    subagent === undefined ? undefined : `subagent = ${basic(subagent)}`,
    `toolName = ${typeof toolName === "string" ? basic(toolName) : `[${toolName.map(basic).join(", ")}]`}`,
    commandRegex === undefined ? undefined : `commandRegex = ${literal(commandRegex)}`,
    argsPattern === undefined ? undefined : `argsPattern = ${literal(argsPattern)}`,
    `decision = ${basic("decision" in rule ? rule.decision : "deny")}`,
    `priority = ${priority}`,
    "denyMessage" in rule ? `denyMessage = ${basic(rule.denyMessage)}` : undefined,
  ];
  return `${lines.filter((line) => line !== undefined).join("\n")}\n`;
}

function basic(text: string): string {
  return quoted('"', text, /["\\\p{Cc}]/u);
}

/** Backslashes and quotes are literal, as a regular expression needs. */
function literal(text: string): string {
  return quoted("'''", text, /'''|'$|\p{Cc}/u);
}

function quoted(mark: string, text: string, refused: RegExp): string {
  if (refused.test(text)) throw new MaestroError("config", `Cannot be written into a policy file as it is: ${text}`);
  return `${mark}${text}${mark}`;
}

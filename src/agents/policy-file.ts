// Policy files of Gemini CLI as text: rules that deny, one after the other. What they deny is decided elsewhere.
// The CLI drops a file that it cannot read and goes on without it, so nothing here may need escaping: `ruleText` refuses what would.
import { MaestroError } from "../errors.ts";

/** The highest the CLI takes: above everything else of its tier. */
export const MAX_PRIORITY = 999;

export interface DenyRule {
  /** What the rule is for, in one line. */
  why?: string;
  toolName: string | readonly string[];
  /** Whose calls are meant; without it everybody's. */
  subagent?: string;
  /** Matched from the start of every simple command, against its JSON text. */
  commandRegex?: string;
  /** Matched against the JSON text of all arguments. */
  argsPattern?: string;
  priority: number;
  /** What the model reads: it names the right tool, or what to do. */
  denyMessage: string;
}

/** The file: a comment at its head, then the rules. */
export function policyText(head: readonly string[], rules: readonly DenyRule[]): string {
  return `${[head.map((line) => `# ${line}\n`).join(""), ...rules.map(ruleText)].filter((part) => part !== "").join("\n")}`;
}

export function ruleText({
  why,
  toolName,
  subagent,
  commandRegex,
  argsPattern,
  priority,
  denyMessage,
}: DenyRule): string {
  const lines = [
    why === undefined ? undefined : `# ${why}`,
    "[[rule]]",
    subagent === undefined ? undefined : `subagent = ${basic(subagent)}`,
    `toolName = ${typeof toolName === "string" ? basic(toolName) : `[${toolName.map(basic).join(", ")}]`}`,
    commandRegex === undefined ? undefined : `commandRegex = ${literal(commandRegex)}`,
    argsPattern === undefined ? undefined : `argsPattern = ${literal(argsPattern)}`,
    'decision = "deny"',
    `priority = ${priority}`,
    `denyMessage = ${basic(denyMessage)}`,
  ];
  return `${lines.filter((line) => line !== undefined).join("\n")}\n`;
}

function basic(text: string): string {
  return quoted('"', text, /["\\\p{Cc}]/u);
}

/** Backslashes and quotes stand for themselves, as a regular expression needs it. */
function literal(text: string): string {
  return quoted("'''", text, /'''|'$|\p{Cc}/u);
}

function quoted(mark: string, text: string, refused: RegExp): string {
  if (refused.test(text)) throw new MaestroError("config", `Cannot be written into a policy file as it is: ${text}`);
  return `${mark}${text}${mark}`;
}

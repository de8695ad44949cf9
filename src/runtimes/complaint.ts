// Extracts the actual complaint from everything a program wrote to stderr.
import { stripControls } from "../text.ts";

/** Startup noise of Gemini CLI, stack traces and the rest of a printed error: present in every run, or useless to the user. */
const chatter = [
  /^\s+at /,
  /^(?:Warning: )?256-color support/,
  /^Warning: \d+-color support/,
  /^Warning: (?:True|Limited) color /,
  /^Warning: Basic terminal detected/,
  /^Warning: Could not read directory .*\.lock:/,
  /^YOLO mode is enabled/,
  /^Ripgrep is not available/,
  /^Loaded cached credentials/,
  /^\[STARTUP\] /,
  // Messages of the shell that started the agent.
  /^(?:Terminated|Killed|Hangup)$/,
  /^Approval mode overridden/,
  /^\(node:\d+\)|^\(Use `node /,
  /^\s*[{}\])]+,?\s*$/,
];

/** The last useful lines, at most `limit` characters; empty when there are none. A line is cut only when it alone exceeds the limit. */
export function complaintIn(stderr: string, limit: number): string {
  const plain = stripControls(stderr);
  const help = plain.search(/^Usage: gemini\b/m);
  const lines = (help < 0 ? plain : plain.slice(0, help))
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !chatter.some((sign) => sign.test(line)));
  let start = lines.length;
  let room = limit;
  while (start > 0 && (lines[start - 1] ?? "").length < room) {
    start -= 1;
    room -= (lines[start] ?? "").length + 1;
  }
  if (start === lines.length && lines.length > 0) return clipComplaint(lines.at(-1) ?? "", limit);
  return lines.slice(start).join("\n").trim();
}

/** The beginning of a text, at most `limit` characters. */
export function clipComplaint(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Removes half a surrogate pair, which is not a character.
  return `${text.slice(0, limit - 4).replace(/[\uD800-\uDBFF]$/, "")} ...`;
}

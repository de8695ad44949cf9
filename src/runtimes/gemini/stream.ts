// What a running Gemini CLI does, from the events it prints (`stream-json`): for the live table and for people who read its log. The prompt,
// which comes back as the first message, is never part of it. Must never throw, whatever was printed.

import { isSaid, type StreamEvent, streamEvents } from "../../handoff/output/stream-json.ts";
import { isObject } from "../../shape.ts";
import { stripControls } from "../../text.ts";
import type { Progress, Shown } from "../runtime.ts";

/** Much longer than what is shown: the caller redacts before it cuts. */
const MAX_LINE = 1_200;
const MAX_TEXT = 4_000;

/** Adds whole lines that the CLI has printed since to what is known. */
export function geminiProgress(known: Progress, lines: string): Progress {
  let progress = known;
  for (const event of streamEvents(lines)) progress = after(progress, event);
  return progress;
}

function after(known: Progress, event: StreamEvent): Progress {
  if (isSaid(event)) {
    const text = endOf(`${known.text}${stripControls(String(event.content))}`);
    return { ...known, text, activity: lastLine(text) || known.activity };
  }
  if (event.type === "init") return { ...known, conversation: conversationIn(event) };
  if (event.type === "tool_use") return { ...known, text: "", activity: callText(event) };
  return event.type === "error" ? { ...known, activity: `error: ${brief(event.message)}` } : known;
}

function conversationIn({ session_id }: StreamEvent): string | null {
  return typeof session_id === "string" && /^[0-9a-f]{8}-[0-9a-f-]{1,64}$/.test(session_id) ? session_id : null;
}

/** Starts with a whole word: half of a secret would not be recognised. */
function endOf(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(-MAX_TEXT).replace(/^\S+/, "");
}

/**
 * Whole lines of the stream as a person reads them: text as it is, and a line for each tool call, failed result and error. `isMidLine` says
 * whether the text shown before ended without a line break. Null when no line is an event.
 */
export function shownStream(lines: string, isMidLine: boolean): Shown | null {
  if (streamEvents(lines).next().done === true) return null;
  let text = "";
  let isOpen = isMidLine;
  const line = (said: string) => {
    text += `${isOpen ? "\n" : ""}${said}\n`;
    isOpen = false;
  };
  for (const event of streamEvents(lines)) {
    if (isSaid(event)) {
      const said = stripControls(String(event.content));
      text += said;
      if (said !== "") isOpen = !said.endsWith("\n");
    } else if (event.type === "tool_use") line(`> ${callText(event)}`);
    else if (event.type === "tool_result" && event.status === "error") line(`  failed: ${failure(event)}`);
    else if (event.type === "error") line(`error: ${brief(event.message)}`);
    else if (event.type === "result" && isObject(event.error)) line(`error: ${brief(event.error.message)}`);
  }
  return { text, isMidLine: isOpen };
}

function failure({ error, output }: StreamEvent): string {
  return brief(isObject(error) ? error.message : output);
}

/** The arguments that say what a call is about, the best first. */
const telling = ["file_path", "command", "path", "dir_path", "pattern", "query", "url", "prompt", "name", "title"];

/** A tool and its main argument, on one line. */
function callText({ tool_name, parameters }: StreamEvent): string {
  const name = brief(tool_name);
  if (!isObject(parameters)) return name;
  const key = telling.find((one) => typeof parameters[one] === "string") ?? Object.keys(parameters)[0];
  const value = key === undefined ? undefined : parameters[key];
  return typeof value === "string" && value.trim() !== "" ? `${name} ${shortened(brief(value))}` : name;
}

/** Agents name files by their absolute paths, of which only the end tells something. */
function shortened(argument: string): string {
  const parts = argument.split("/");
  return argument.startsWith("/") && !argument.includes(" ") && parts.length > 4
    ? `…/${parts.slice(-3).join("/")}`
    : argument;
}

function lastLine(text: string): string {
  return brief(text.trimEnd().split("\n").at(-1) ?? "");
}

function brief(text: unknown): string {
  if (typeof text !== "string") return "";
  // Cut first: stripping megabytes for one line would take longer than a tick.
  return stripControls(text.slice(0, MAX_LINE)).replace(/\s+/g, " ").trim();
}

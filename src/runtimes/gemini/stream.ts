// What a running Gemini CLI does, from the events it prints (`stream-json`): for the live table and for people who read its log. The prompt,
// which comes back as the first message, is never part of it. Must never throw, whatever was printed.

import { isSaid, type StreamEvent, streamEvents } from "../../handoff/output/stream-json.ts";
import { isObject } from "../../shape.ts";
import { stripControls } from "../../text.ts";
import { briefly, callLine, endOfWords, lastLine } from "../activity.ts";
import type { Progress, Shown } from "../runtime.ts";

/** Adds whole lines that the CLI has printed since to what is known. */
export function geminiProgress(known: Progress, lines: string): Progress {
  let progress = known;
  for (const event of streamEvents(lines)) progress = after(progress, event);
  return progress;
}

function after(known: Progress, event: StreamEvent): Progress {
  if (isSaid(event)) {
    const text = endOfWords(`${known.text}${stripControls(String(event.content))}`);
    return { ...known, text, activity: lastLine(text) || known.activity };
  }
  if (event.type === "init") return { ...known, conversation: conversationIn(event) };
  if (event.type === "tool_use")
    return { ...known, text: "", activity: callLine(event.tool_name, event.parameters, telling) };
  return event.type === "error" ? { ...known, activity: `error: ${briefly(event.message)}` } : known;
}

function conversationIn({ session_id }: StreamEvent): string | null {
  return typeof session_id === "string" && /^[0-9a-f]{8}-[0-9a-f-]{1,64}$/.test(session_id) ? session_id : null;
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
    } else if (event.type === "tool_use") line(`> ${callLine(event.tool_name, event.parameters, telling)}`);
    else if (event.type === "tool_result" && event.status === "error") line(`  failed: ${failure(event)}`);
    else if (event.type === "error") line(`error: ${briefly(event.message)}`);
    else if (event.type === "result" && isObject(event.error)) line(`error: ${briefly(event.error.message)}`);
  }
  return { text, isMidLine: isOpen };
}

function failure({ error, output }: StreamEvent): string {
  return briefly(isObject(error) ? error.message : output);
}

/** The arguments that say what a call is about, the best first. */
const telling = ["file_path", "command", "path", "dir_path", "pattern", "query", "url", "prompt", "name", "title"];

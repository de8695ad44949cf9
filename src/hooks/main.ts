// dist/hook.cjs <event>: reads one JSON document, writes one, exits 0. An internal error never blocks the call (C39); it is one line on
// standard error. Runs for every tool call and every request to the model, so each part is compiled only when its event occurs.

import { writeSync, writevSync } from "node:fs";
import { normalizeAgentName } from "../agents/names.ts";
import { errno } from "../errors.ts";
import { judgedAs } from "../guard/judged-tools.ts";
import { areHarmless, plainCommands } from "../guard/quick/harmless.ts";
import { plainJson, revealed, stripControls } from "../text.ts";
import { now } from "./clock.ts";
import { fastPath, isUnheard } from "./fast-path.ts";
import { type HookInput, readHookInput, recordOf, textValue } from "./input.ts";
import { keepParts, loadPart } from "./parts.ts";
import { allow, proceed, type Reply, unconcerned } from "./reply.ts";
import type { Rest } from "./session-events.ts";
import { isOurs, type Surroundings, surroundingsOf } from "./surroundings.ts";
import { selectTools } from "./tool-selection.ts";

/** Far below the CLI's own time limit for hooks. */
const DEADLINE_MS = 2000;
/** Time left to answer when no input arrives. */
const RESERVED_MS = 200;

// Loaded on first use: separate files in dist/ (tools/build.js).
const part = (name: string): unknown => loadPart(name, __dirname, require);
const sessionEvents = () => part("session-events") as typeof import("./session-events.ts");
const toolCall = () => part("tool-call") as typeof import("./tool-call.ts");
const delegation = () => part("delegation") as typeof import("./delegation.ts");
const guard = () => part("guard") as typeof import("./guard.ts");
const rest: Rest = {
  session: () => part("make-checkpoint") as typeof import("./make-checkpoint.ts"),
  status: () => part("status") as typeof import("./status.ts"),
  recording: () => part("recording") as typeof import("./recording.ts"),
  adopting: () => part("adopting") as typeof import("./adopting.ts"),
};

type Answer = Reply | Promise<Reply>;

const events: Record<string, (input: HookInput, here: Surroundings) => Answer> = {
  SessionStart: (input, here) => fastPath("SessionStart", input, here) ?? sessionEvents().beginConversation(here, rest),
  SessionEnd: (input, here) => fastPath("SessionEnd", input, here) ?? sessionEvents().endConversation(here, rest),
  BeforeAgent: (input, here) => fastPath("BeforeAgent", input, here) ?? sessionEvents().beginTurn(input, here, rest),
  AfterAgent: (input, here) => (concernsReport(input, here) ? delegation().judgeAnswer(input, here) : proceed),
  BeforeTool: beforeTool,
  AfterTool: afterTool,
  BeforeToolSelection: selectTools,
  PreCompress: (input, here) => fastPath("PreCompress", input, here) ?? sessionEvents().preserve(here, rest),
};

function beforeTool(input: HookInput, here: Surroundings): Answer {
  const tool = textValue(input.tool_name);
  const judged = judgedAs(tool);
  if (judged !== undefined) return judge(input, judged, here);
  switch (tool) {
    case "invoke_agent":
      if (concernsUs(input, here)) return delegation().delegate(input, here);
      return isUnheard("other begins", here) ? allow : sessionEvents().beginOther(input, here);
    case "complete_task":
      // When the fast path can answer, no delegation is running.
      if (fastPath("AfterTool", input, here) !== undefined) return allow;
      return sessionEvents().isAwaited(here) ? delegation().judgeCompletion(input, here) : allow;
    default:
      // hooks.json registers no other tool.
      return rest.adopting().listBaseline(input, here);
  }
}

/** Most commands only run programs, and need nothing else. Whether a dispatched agent may run any depends on its tier. */
function judge(input: HookInput, judged: "command" | "file", here: Surroundings): Answer {
  const { command, dir_path, directory } = recordOf(input.tool_input);
  const isElsewhere = dir_path !== undefined || directory !== undefined;
  const plain = judged === "file" || isElsewhere ? [] : plainCommands(textValue(command));
  if (here.attempt === null && areHarmless(plain)) return allow;
  return toolCall().answerToolCall(input, judged, here, { guard, plain });
}

function afterTool(input: HookInput, here: Surroundings): Answer {
  if (textValue(input.tool_name) !== "invoke_agent") return proceed;
  const ours = concernsUs(input, here);
  if (isUnheard(ours ? "ours ends" : "other ends", here)) return proceed;
  return ours ? delegation().recordHandback(input, here) : sessionEvents().endOther(input, here);
}

function concernsUs(input: HookInput, here: Surroundings): boolean {
  return isOurs(normalizeAgentName(textValue(recordOf(input.tool_input).agent_name)), here);
}

/** Filters early, because most answers are the TechLead's own. */
function concernsReport(input: HookInput, here: Surroundings): boolean {
  return here.attempt !== null || textValue(input.prompt).startsWith("Agent: ");
}

function answer(event: string, deadline: number): Answer {
  const respond = Object.hasOwn(events, event) ? events[event] : undefined;
  if (respond === undefined) return complain(event, "unknown event");
  const input = readHookInput(deadline - RESERVED_MS);
  if (typeof input === "string") return complain(event, input);
  const here = surroundingsOf(input, process.env, {
    cwd: workingDirectory(),
    programRoot: `${__dirname}/..`,
    clock: () => new Date(),
    deadline,
    log: (line) => log(event, line),
  });
  return respond(input, here);
}

/** Falls back to the root, which is never a project, when the directory was deleted; the input's `cwd` takes precedence anyway. */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return "/";
  }
}

function complain(event: string, problem: string): Reply {
  log(event, problem);
  return unconcerned(event);
}

/** Escapes control characters in the fields that a terminal shows. The model's other fields stay exact: they may hold file names. */
function harmless(reply: Reply): string {
  const { reason, systemMessage } = reply;
  return JSON.stringify({
    ...reply,
    reason: reason && shown(reason),
    systemMessage: systemMessage && shown(systemMessage),
  });
}

function shown(text: string): string {
  return revealed(stripControls(text));
}

function log(event: string, line: string): void {
  try {
    writeSync(2, `maestro hook ${event}: ${shown(line).replace(/\s+/g, " ")}\n`);
  } catch (error) {
    // Standard error is closed: answering matters more than logging.
    if (errno(error) === undefined) throw error;
  }
}

function main(event: string): void {
  // Stack traces are never shown here, and creating one costs more than the failing call.
  Error.stackTraceLimit = 0;
  const failed = (error: unknown) => complain(event, error instanceof Error ? error.message : String(error));
  try {
    const reply = answer(event, now() + DEADLINE_MS);
    // Awaiting every reply would cost each hook a turn of the event loop.
    if ("then" in reply) void reply.catch(failed).then(send);
    else send(reply);
  } catch (error) {
    send(failed(error));
  }
}

/** process.stdout would add a tenth to Node's start-up time; writev shares compiled code with the readv of standard input. */
function send(reply: Reply): void {
  try {
    for (let rest = Buffer.from(plainJson(harmless(reply))); rest.length > 0; )
      rest = rest.subarray(writevSync(1, [rest]));
  } catch (error) {
    // The CLI has closed standard output, so the error cannot be reported either.
    if (errno(error) === undefined) throw error;
  }
  keepParts(__dirname, require);
  leave();
}

/** Skips the `exit` event of process.exit, which no code here listens to and which takes a seventh of a millisecond. */
function leave(): void {
  (process as { reallyExit?: (code: number) => never }).reallyExit?.(0);
  process.exit(0);
}

main(process.argv[2] ?? "");

// maestro guard check: what the guard says to a command, or to many tool calls, one JSON object a line.

import { resolve } from "node:path";
import { realPath } from "../../disk/real-path.ts";
import { MaestroError } from "../../errors.ts";
import { EXTENSION_PATH } from "../../extension-path.ts";
import { judgeCommand, judgeToolCall } from "../../guard/judge.ts";
import type { Machine } from "../../guard/machine.ts";
import type { Verdict } from "../../guard/verdict.ts";
import { programRoot } from "../../program-root.ts";
import { resolveStateDirectory } from "../../setting-layers.ts";
import { hasSession } from "../../store/journal/journal-file.ts";
import { plainJson } from "../../text.ts";
import { type Io, printJson } from "../io.ts";

export interface GuardOptions {
  jsonl?: boolean;
  json?: boolean;
}

export async function guardCheck(io: Io, command: string | undefined, options: GuardOptions): Promise<number> {
  if (options.jsonl) return checkLines(io, command);
  const verdict = judgeCommand(await commandOf(io, command), groundOf(io));
  const said = published(verdict);
  if (options.json) printJson(io, said);
  else io.out(verdict.verdict === "allow" ? "allow\n" : `deny ${said.rule}: ${said.reason}\n`);
  return verdict.verdict === "allow" ? 0 : 1;
}

async function commandOf(io: Io, command: string | undefined): Promise<string> {
  if (command !== undefined && command !== "-") return command;
  if (command === undefined && io.interactive) {
    throw new MaestroError("usage", "There is no command to judge", {
      hint: 'Usage: maestro guard check "<command>", or the command on standard input.',
    });
  }
  return new TextDecoder().decode(await io.readStdin());
}

/** Every line is answered with a line; one that cannot be read is an error that does not stop the others. */
async function checkLines(io: Io, command: string | undefined): Promise<number> {
  if (command !== undefined && command !== "-") {
    throw new MaestroError("usage", "--jsonl reads standard input and takes no command");
  }
  const ground = groundOf(io);
  const lines = new TextDecoder().decode(await io.readStdin()).split("\n");
  const answers: string[] = [];
  let faults = 0;
  for (const [i, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const answer = answerOf(line, ground);
    if (answer.verdict === "error") {
      faults++;
      io.err(`ERROR: Line ${i + 1}: ${answer.reason}\n`);
    }
    answers.push(`${plainJson(JSON.stringify(answer))}\n`);
  }
  io.out(answers.join(""));
  return faults === 0 ? 0 : 1;
}

interface Answer {
  id: unknown;
  verdict: "allow" | "deny" | "error";
  rule: string;
  reason: string;
}

function answerOf(line: string, ground: Machine): Answer {
  const asked = parsed(line);
  if (asked === undefined) return fault(null, "not a JSON object");
  const id = asked.id ?? null;
  if (typeof asked.command === "string") return { id, ...published(judgeCommand(asked.command, ground)) };
  const { tool_name: tool, tool_input: input } = asked;
  if (typeof tool !== "string" || !isObject(input))
    return fault(id, 'neither "command" nor "tool_name" and "tool_input"');
  return { id, ...published(judgeToolCall(tool, input, ground)) };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fault(id: unknown, reason: string): Answer {
  return { id, verdict: "error", rule: "none", reason };
}

function published(verdict: Verdict): { verdict: "allow" | "deny"; rule: string; reason: string } {
  if (verdict.verdict === "allow") return { verdict: "allow", rule: "none", reason: "" };
  return { verdict: "deny", rule: verdict.rule, reason: verdict.reason };
}

function groundOf(io: Io): Machine {
  const installed = io.env[EXTENSION_PATH]?.trim() || programRoot;
  const stateDir = resolve(io.cwd, resolveStateDirectory(io.cwd, io.env));
  return {
    projectRoot: io.cwd,
    home: io.env.HOME,
    tmpdir: io.env.TMPDIR,
    stateDir,
    extensionRoot: installed,
    realpath: realPath,
    hasSession: () => hasSession(stateDir),
  };
}

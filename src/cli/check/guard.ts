// maestro guard check: prints the guard's verdict on a command, or on many tool calls given as JSON Lines.

import { resolve } from "node:path";
import { isOwnScratch } from "../../disk/own-scratch.ts";
import { realPath } from "../../disk/real-path.ts";
import { MaestroError } from "../../errors.ts";
import { judgeCommand, judgeToolCall } from "../../guard/judge.ts";
import type { Machine } from "../../guard/machine.ts";
import type { Verdict } from "../../guard/verdict.ts";
import { extensionRoot } from "../../program-root.ts";
import { resolveStateDirectory } from "../../setting-layers.ts";
import { isObject } from "../../shape.ts";
import { hasSession } from "../../store/journal/journal-file.ts";
import { plainJson } from "../../text.ts";
import { type Io, printJson } from "../io.ts";

export interface GuardOptions {
  jsonl?: boolean;
  json?: boolean;
}

export async function guardCheck(io: Io, command: string | undefined, options: GuardOptions): Promise<number> {
  if (options.jsonl) return checkLines(io, command);
  const verdict = judgeCommand(await commandOf(io, command), machineFor(io));
  const said = published(verdict);
  if (options.json) printJson(io, said);
  else io.out(verdict.verdict === "allow" ? "allow\n" : `deny ${said.rule}: ${said.reason}\n`);
  return verdict.verdict === "allow" ? 0 : 1;
}

async function commandOf(io: Io, command: string | undefined): Promise<string> {
  if (command !== undefined && command !== "-") return command;
  if (command === undefined && io.interactive) {
    throw new MaestroError("usage", "No command given", {
      hint: 'Usage: maestro guard check "<command>", or pass the command on standard input.',
    });
  }
  return new TextDecoder().decode(await io.readStdin());
}

/** Answers every line with a line; a line that cannot be read is reported as an error and does not stop the rest. */
async function checkLines(io: Io, command: string | undefined): Promise<number> {
  if (command !== undefined && command !== "-") {
    throw new MaestroError("usage", "--jsonl reads standard input and does not take a command");
  }
  const machine = machineFor(io);
  const lines = new TextDecoder().decode(await io.readStdin()).split("\n");
  const answers: string[] = [];
  let faults = 0;
  for (const [i, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const answer = answerOf(line, machine);
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

function answerOf(line: string, machine: Machine): Answer {
  const asked = parsed(line);
  if (asked === undefined) return fault(null, "not a JSON object");
  const id = asked.id ?? null;
  if (typeof asked.command === "string") return { id, ...published(judgeCommand(asked.command, machine)) };
  const { tool_name: tool, tool_input: input } = asked;
  if (typeof tool !== "string" || !isObject(input))
    return fault(id, 'neither "command" nor "tool_name" and "tool_input"');
  return { id, ...published(judgeToolCall(tool, input, machine)) };
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

function fault(id: unknown, reason: string): Answer {
  return { id, verdict: "error", rule: "none", reason };
}

function published(verdict: Verdict): { verdict: "allow" | "deny"; rule: string; reason: string } {
  if (verdict.verdict === "allow") return { verdict: "allow", rule: "none", reason: "" };
  return { verdict: "deny", rule: verdict.rule, reason: verdict.reason };
}

function machineFor(io: Io): Machine {
  const stateDir = resolve(io.cwd, resolveStateDirectory(io.cwd, io.env));
  return {
    projectRoot: io.cwd,
    home: io.env.HOME,
    tmpdir: io.env.TMPDIR,
    stateDir,
    extensionRoot: extensionRoot(io.env),
    realpath: realPath,
    isOwnScratch,
    hasSession: () => hasSession(stateDir),
  };
}

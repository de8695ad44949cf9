// What a delegated agent used, from the transcript that Gemini CLI 0.61 writes of it: one JSON line per message, and a message again when
// its tool calls have ended. Pure. Unknown is null, never 0.

import { isObject } from "../../shape.ts";
import { stripControls } from "../../text.ts";
import { parseJson } from "./json.ts";
import { type ModelTokens, tokensOf } from "./tokens.ts";

export interface Transcript {
  /** When the agent started; null when it is not recorded. */
  started: string | null;
  /** When the last message was recorded. */
  ended: string | null;
  /** Per model; null when no answer of a model is recorded with its tokens. */
  usage: ModelTokens[] | null;
}

/** `header`: the lines with which the agent's prompt begins. Undefined when the transcript is of another prompt, or of no delegated agent. */
export function readTranscript(text: string, header: string): Transcript | undefined {
  const lines = text.split("\n").filter((line) => line !== "");
  const first = parseJson(lines[0] ?? "");
  if (!isObject(first) || first.kind !== "subagent") return undefined;
  const prompt = lines.find((line) => isObject(parseJson(line)) && line.includes('"type":"user"'));
  if (prompt === undefined || !textsIn(parseJson(prompt)).some((part) => startsWith(part, header))) return undefined;
  const answers = new Map<string, Record<string, unknown>>();
  let ended: string | null = null;
  for (const line of lines) {
    const message = parseJson(line);
    if (!isObject(message) || typeof message.timestamp !== "string") continue;
    ended = message.timestamp;
    if (message.type === "gemini") answers.set(String(message.id), message);
  }
  return { started: typeof first.startTime === "string" ? first.startTime : null, ended, usage: usageOf(answers) };
}

/** What one answer of the model used, from a line of a transcript; null for any other line. */
export function messageTokens(line: string): { id: string; used: ModelTokens } | null {
  if (!line.includes('"type":"gemini"') || !line.includes('"tokens":{')) return null;
  const message = parseJson(line);
  if (!isObject(message) || message.type !== "gemini") return null;
  const used = spent(message.tokens);
  return used === null ? null : { id: String(message.id), used: { model: modelIn(message), ...used } };
}

/** The CLI puts its own context before the prompt, in a part of its own or in the same one. */
function startsWith(part: string, header: string): boolean {
  return part.startsWith(header) || part.includes(`\n${header}`);
}

function textsIn(message: unknown): string[] {
  const content = isObject(message) ? message.content : undefined;
  const parts = Array.isArray(content) ? content : [{ text: content }];
  return parts.flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : []));
}

function usageOf(answers: ReadonlyMap<string, Record<string, unknown>>): ModelTokens[] | null {
  const byModel = new Map<string | null, ModelTokens>();
  for (const { model, tokens } of answers.values()) {
    const used = spent(tokens);
    if (used === null) continue;
    const name = modelIn({ model });
    const sum = byModel.get(name) ?? { model: name, input: 0, output: 0, cached: 0, thoughts: 0 };
    byModel.set(name, {
      model: name,
      input: sum.input + used.input,
      output: sum.output + used.output,
      cached: sum.cached + used.cached,
      thoughts: sum.thoughts + used.thoughts,
    });
  }
  return byModel.size === 0 ? null : [...byModel.values()];
}

function modelIn({ model }: Record<string, unknown>): string | null {
  return typeof model === "string" ? stripControls(model) : null;
}

/** In a transcript `input` includes the cached tokens, unlike in the statistics of a run. */
function spent(tokens: unknown): Omit<ModelTokens, "model"> | null {
  if (!isObject(tokens)) return null;
  const known = tokensOf({ input_tokens: tokens.input, output_tokens: tokens.output, cached: tokens.cached });
  if (known === null) return null;
  const thoughts = tokensOf({ output_tokens: tokens.thoughts })?.output ?? 0;
  return { ...known, thoughts };
}

// Turns an agent's updates, and the end of its turn, into events of the bridge. Pure.

import type * as acp from "@agentclientprotocol/sdk/unstable";
import type { AgentUsage, BridgeEvent } from "../runtimes/acp/acp.ts";
import { countOf, member, wordsOf } from "../runtimes/event-stream.ts";

export function saidIn(update: acp.SessionUpdate): BridgeEvent[] {
  if (update.sessionUpdate === "agent_message_chunk") {
    return update.content.type === "text" ? [{ type: "text", text: update.content.text }] : [];
  }
  if (update.sessionUpdate === "tool_call") {
    return [{ type: "call", tool: update.kind ?? "tool", input: update.locations?.[0]?.path ?? update.title }];
  }
  if (update.sessionUpdate !== "tool_call_update" || update.status !== "failed") return [];
  return [{ type: "failed", message: textsIn(update.content ?? []) || (update.title ?? "a tool call") }];
}

function textsIn(content: readonly acp.ToolCallContent[]): string {
  return content
    .flatMap((part) => (part.type === "content" && part.content.type === "text" ? [part.content.text] : []))
    .join(" ");
}

/** In the protocol's own field, or where Gemini CLI puts them; empty when the agent reports none. */
export function usageIn({ usage, _meta }: Pick<acp.PromptResponse, "usage" | "_meta">): AgentUsage[] {
  if (usage !== undefined && usage !== null) return [ofProtocol(usage)];
  const byModel = member(_meta, "quota", "model_usage");
  const rows = Array.isArray(byModel) ? byModel : [];
  return rows.map((row) => {
    const count = (name: string) => countOf(member(row, "token_count", name));
    const model = wordsOf(member(row, "model")) || null;
    return { model, input: count("input_tokens"), cached: 0, output: count("output_tokens"), thoughts: 0 };
  });
}

/** Some agents count cached tokens as input and some do not; the total shows which. */
function ofProtocol(usage: acp.Usage): AgentUsage {
  const { inputTokens, outputTokens, totalTokens } = usage;
  const cached = countOf(usage.cachedReadTokens);
  const written = countOf(usage.cachedWriteTokens);
  const isApart = totalTokens >= inputTokens + outputTokens + cached + written;
  const thoughts = Math.min(countOf(usage.thoughtTokens), outputTokens);
  const input = countOf(inputTokens) + (isApart ? cached + written : 0);
  return { model: null, input, cached, output: countOf(outputTokens) - thoughts, thoughts };
}

// BeforeToolSelection: offers a delegated agent only the tools of its tier. Gemini CLI passes the list on to the model without enforcing it;
// the policies enforce it.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { normalizeAgentName } from "../agents/names.ts";
import { agentTiers, tierTools } from "../agents/tiers.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { proceed, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** Without this tool a delegated agent could not return its result. */
const ALWAYS = "complete_task";
/** The header of a delegation prompt is in its first lines. */
const HEAD_LENGTH = 400;
const MEMORY_END = "</loaded_context>";
const header = /^Agent:[ \t]*([\w-]{1,64})[ \t]*$/m;

export function selectTools(input: HookInput, here: Surroundings): Reply {
  // A dispatched agent ends with text, and mode ANY would force it to call tools forever.
  if (here.attempt !== null) return proceed;
  const agent = normalizeAgentName(delegatedAgent(recordOf(input.llm_request).messages) ?? "");
  const tier = agentTiers.get(agent);
  if (tier === undefined || tier === "full") return proceed;
  // The provider accepts a list of names only with mode ANY, and only names that were declared to it.
  const declared = declaredTools(agent, here);
  const offered = tierTools[tier].filter((tool) => declared === undefined || declared.includes(tool));
  const toolConfig = { mode: "ANY", allowedFunctionNames: [...offered, ALWAYS] };
  return { ...proceed, hookSpecificOutput: { hookEventName: "BeforeToolSelection", toolConfig } };
}

/** The agent named in the most recent delegation prompt; undefined in a turn of the TechLead. */
function delegatedAgent(messages: unknown): string | undefined {
  if (!Array.isArray(messages)) return undefined;
  if (contentOf(messages[0]).startsWith("<session_context>")) return undefined;
  for (const message of messages.toReversed()) {
    if (textValue(recordOf(message).role) !== "user") continue;
    const found = header.exec(promptOf(contentOf(message)).slice(0, HEAD_LENGTH))?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Gemini CLI puts its memory directly in front of a delegation prompt, without a line break. */
function promptOf(content: string): string {
  if (!content.trimStart().startsWith("<loaded_context>")) return content;
  const end = content.indexOf(MEMORY_END);
  return end === -1 ? "" : content.slice(end + MEMORY_END.length);
}

function contentOf(message: unknown): string {
  const { content } = recordOf(message);
  if (!Array.isArray(content)) return textValue(content);
  return content.map((part) => textValue(recordOf(part).text) || textValue(part)).join("\n");
}

/** The tool list in the agent's file; undefined when it has none. The files are simple enough to read without a YAML parser. */
function declaredTools(agent: string, { extensionRoot }: Surroundings): string[] | undefined {
  const file = join(extensionRoot, "agents", `${agent}.md`);
  const list = existsSync(file) ? /^tools:\n((?:[ \t]+- .+\n)+)/m.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  return list?.match(/[\w*]+/g) ?? undefined;
}

// One turn with an agent that speaks the Agent Client Protocol: sends the prompt, prints events, and answers the agent's requests according
// to its tier.

import { setTimeout } from "node:timers/promises";
import type * as acp from "@agentclientprotocol/sdk/unstable";
import { client, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk/unstable";
import type { Tier } from "../agents/tiers.ts";
import { MaestroError, reasonOf } from "../errors.ts";
import type { BridgeEvent } from "../runtimes/acp/acp.ts";
import { member, wordsOf } from "../runtimes/event-stream.ts";
import type { AgentProcess } from "./agent-process.ts";
import { readFor, writeFor } from "./files.ts";
import { guardRefusal } from "./ground.ts";
import { insideOf, optionFor, refusalOf } from "./permission.ts";
import { Terminals } from "./terminals.ts";
import { saidIn, usageIn } from "./updates.ts";

declare const MAESTRO_VERSION: string;

export interface Turn {
  root: string;
  tier: Tier;
  /** Empty: the agent chooses. */
  model: string;
  prompt: string;
  print: (event: BridgeEvent) => void;
  warn: (message: string) => void;
}

const MAX_TERMINAL_BYTES = 1024 * 1024;
/**
 * Writing and running are offered in every tier: an agent to which they are not offered would do them itself, past our refusals. Reading is
 * left to the agent: agents disagree about the answer for a missing file, and Gemini CLI then writes no new one.
 */
const offered = { fs: { readTextFile: false, writeTextFile: true }, terminal: true };
/** How long the end of the agent may come after that of the connection. */
const LAST_WORDS_MS = 1_000;

/** Whether the agent ended its turn well. */
export async function takeTurn(agent: AgentProcess, turn: Turn): Promise<boolean> {
  const { print } = turn;
  const terminals = new Terminals();
  try {
    const stream = ndJsonStream(agent.input, agent.output);
    const app = clientFor(turn, terminals);
    const talk = app.connectWith(stream, (context) => converse(context, turn));
    const { stopReason, ...answer } = await talk;
    const usage = usageIn(answer);
    if (usage.length > 0) print({ type: "usage", usage });
    const good = stopReason === "end_turn";
    if (!good) print({ type: "error", message: `The agent stopped: ${stopReason}` });
    print({ type: "end", good });
    return good;
  } catch (error) {
    print({ type: "error", message: await errorText(error, agent) });
    print({ type: "end", good: false });
    return false;
  } finally {
    terminals.close();
  }
}

async function converse(agent: acp.ClientContext, turn: Turn): Promise<acp.PromptResponse> {
  const { root, prompt } = turn;
  await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "maestro", version: MAESTRO_VERSION },
    clientCapabilities: offered,
  });
  const session = await agent.request(methods.agent.session.new, { cwd: root, mcpServers: [] });
  await chooseModel(agent, turn, session);
  return agent.request(methods.agent.session.prompt, {
    sessionId: session.sessionId,
    prompt: [{ type: "text", text: prompt }],
  });
}

async function chooseModel(
  agent: acp.ClientContext,
  { model, warn }: Turn,
  session: acp.NewSessionResponse,
): Promise<void> {
  if (model === "") return;
  const { sessionId, configOptions } = session;
  const option = configOptions?.find(({ category }) => category === "model");
  if (option === undefined)
    return warn(`The agent cannot be given a model by name, so it chooses its own instead of ${model}`);
  await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value: model });
}

function clientFor(turn: Turn, terminals: Terminals) {
  const { root, tier, print } = turn;
  const { client: asked } = methods;
  return client({ name: "maestro" })
    .onNotification(asked.session.update, ({ params }) => {
      for (const event of saidIn(params.update)) print(event);
    })
    .onRequest(asked.session.requestPermission, ({ params }) => permission(params, turn))
    .onRequest(asked.fs.readTextFile, ({ params: { path, line, limit } }) =>
      answered(() => ({ content: readFor(root, path, line ?? 1, limit ?? Number.POSITIVE_INFINITY) })),
    )
    .onRequest(asked.fs.writeTextFile, ({ params: { path, content } }) =>
      answered(() => {
        const refusal = refusalOf({ kind: "edit", paths: [path] }, tier, root);
        if (refusal !== null) throw refused(turn, "write", path, refusal);
        writeFor(root, path, content);
        return {};
      }),
    )
    .onRequest(asked.terminal.create, ({ params }) =>
      answered(() => ({ terminalId: terminals.create(commandOf(params, turn)) })),
    )
    .onRequest(asked.terminal.output, ({ params }) => answered(() => terminals.output(params.terminalId)))
    .onRequest(asked.terminal.waitForExit, ({ params }) => answered(() => terminals.ended(params.terminalId)))
    .onRequest(asked.terminal.kill, ({ params }) => answered(() => done(() => terminals.kill(params.terminalId))))
    .onRequest(asked.terminal.release, ({ params }) =>
      answered(() => done(() => terminals.release(params.terminalId))),
    );
}

function permission({ toolCall, options }: acp.RequestPermissionRequest, turn: Turn): acp.RequestPermissionResponse {
  const { locations, content } = toolCall;
  const diffs = content?.flatMap((part) => (part.type === "diff" ? [part.path] : [])) ?? [];
  const asked = { kind: toolCall.kind ?? undefined, paths: [...(locations?.map(({ path }) => path) ?? []), ...diffs] };
  const command = asked.kind === "execute" ? wordsOf(member(toolCall.rawInput, "command")) : "";
  const refusal =
    refusalOf(asked, turn.tier, turn.root) ??
    (command === "" ? null : guardRefusal(command, turn.root, turn.root, turn.tier));
  const optionId = optionFor(options, refusal === null);
  if (refusal !== null) refused(turn, toolCall.title ?? asked.kind ?? "a tool", "", refusal);
  return { outcome: optionId === null ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
}

function commandOf({ command, args = [], env = [], cwd, outputByteLimit }: acp.CreateTerminalRequest, turn: Turn) {
  const { tier, root } = turn;
  const refusal = refusalOf({ kind: "execute", paths: [] }, tier, root);
  if (refusal !== null) throw refused(turn, "run", command, refusal);
  const place = cwd ?? root;
  if (place !== root && insideOf(root, place) === null)
    throw refused(turn, "run in", place, "it is outside the agent's directory");
  const words = [command, ...args];
  // The guard reads a command line as a shell does.
  const line = args.length === 0 ? command : words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const denied = guardRefusal(line, place, root, tier);
  if (denied !== null) throw refused(turn, "run", words.join(" "), denied);
  const bytes = Math.min(outputByteLimit ?? MAX_TERMINAL_BYTES, MAX_TERMINAL_BYTES);
  return { command, args, cwd: place, bytes, env: Object.fromEntries(env.map(({ name, value }) => [name, value])) };
}

/** Shown as a failed call: the agent continues. */
function refused({ print }: Turn, what: string, on: string, why: string): RequestError {
  print({ type: "failed", message: `not allowed: ${`${what} ${on}`.trim()}: ${why}` });
  return RequestError.invalidParams(undefined, why);
}

function done(act: () => void): Record<string, never> {
  act();
  return {};
}

/** Expected failures become answers that the agent can read. */
async function answered<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof MaestroError) {
      throw error.code === "not_found"
        ? RequestError.resourceNotFound()
        : RequestError.invalidParams(undefined, error.message);
    }
    throw error instanceof RequestError ? error : RequestError.internalError(undefined, reasonOf(error));
  }
}

/** An agent puts what its provider said into the data of an error. Without an answer, how the agent ended says more than a closed pipe. */
async function errorText(error: unknown, { ended }: AgentProcess): Promise<string> {
  if (!(error instanceof RequestError)) return Promise.race([ended, setTimeout(LAST_WORDS_MS, reasonOf(error))]);
  const data = error.data === undefined ? "" : ` ${JSON.stringify(error.data)}`;
  return `${error.message} (${error.code})${data}`;
}

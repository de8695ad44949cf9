// The protocols of the vendors: what a request of a program says, and how an answer is written for it.

export interface Call {
  tool: string;
  input: Record<string, unknown>;
}

export interface Counts {
  /** With the cached ones. */
  input: number;
  cached: number;
  output: number;
}

export interface Heard {
  model: string;
  /** Everything the user's side has said. */
  said: string;
  /** What came back from tools, in order. */
  results: string[];
  tools: string[];
}

export interface Protocol {
  /** Whether a request to that path is one for an answer. */
  isAsked: (path: string) => boolean;
  hear: (path: string, body: Json) => Heard;
  /** The body of a stream of events. */
  write: (answer: { text: string } | { call: Call }, counts: Counts, model: string) => string;
  refuse: (status: number, message: string) => object;
}

type Json = Record<string, unknown>;

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : list(content)
        .map((part) => text(part.text))
        .join("\n");
const named = (name: string, data: Json) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
const chunk = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
let made = 0;
function id(kind: string): string {
  made += 1;
  return `${kind}_${made}`;
}

const kinds: Record<number, string> = { 401: "authentication_error", 429: "rate_limit_error", 500: "api_error" };

export const anthropic: Protocol = {
  isAsked: (path) => path.endsWith("/v1/messages"),
  hear: (_, body) => {
    const parts = list(body.messages).filter(({ role }) => role === "user");
    const inside = parts.flatMap(({ content }) => list(content)).filter(({ type }) => type === "tool_result");
    return {
      model: text(body.model),
      said: parts.map(({ content }) => textOf(content)).join("\n"),
      results: inside.map(({ content }) => textOf(content)),
      tools: list(body.tools).map(({ name }) => text(name)),
    };
  },
  write: (answer, { input, cached, output }, model) => {
    const usage = { input_tokens: input - cached, cache_read_input_tokens: cached, cache_creation_input_tokens: 0 };
    const isCall = "call" in answer;
    const message = { id: id("msg"), type: "message", role: "assistant", model, content: [], stop_reason: null };
    const block = isCall
      ? { type: "tool_use", id: id("toolu"), name: answer.call.tool, input: {} }
      : { type: "text", text: "" };
    const delta = isCall
      ? { type: "input_json_delta", partial_json: JSON.stringify(answer.call.input) }
      : { type: "text_delta", text: answer.text };
    const stop = { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null };
    return [
      named("message_start", { message: { ...message, usage: { ...usage, output_tokens: 1 } } }),
      named("content_block_start", { index: 0, content_block: block }),
      named("content_block_delta", { index: 0, delta }),
      named("content_block_stop", { index: 0 }),
      named("message_delta", { delta: stop, usage: { ...usage, output_tokens: output } }),
      named("message_stop", {}),
    ].join("");
  },
  refuse: (status, message) => ({ type: "error", error: { type: kinds[status] ?? "api_error", message } }),
};

const openaiRefusal = (status: number, message: string) => ({
  error: { message, type: kinds[status] ?? "server_error", code: status === 401 ? "invalid_api_key" : null },
});

export const responses: Protocol = {
  isAsked: (path) => path.endsWith("/responses"),
  hear: (_, body) => {
    const input = list(body.input);
    return {
      model: text(body.model),
      said: input
        .filter(({ role }) => role === "user")
        .map(({ content }) => textOf(content))
        .join("\n"),
      results: input.filter(({ type }) => /_output$/.test(text(type))).map(({ output }) => JSON.stringify(output)),
      tools: list(body.tools).map(({ name, type }) => text(name) || text(type)),
    };
  },
  write: (answer, { input, cached, output }) => {
    const response = { id: id("resp"), object: "response" };
    const item =
      "call" in answer
        ? {
            type: "function_call",
            call_id: id("call"),
            name: answer.call.tool,
            arguments: JSON.stringify(answer.call.input),
          }
        : {
            type: "message",
            role: "assistant",
            id: id("msg"),
            content: [{ type: "output_text", text: answer.text, annotations: [] }],
          };
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    };
    return [
      named("response.created", { response }),
      named("response.output_item.done", { output_index: 0, item }),
      named("response.completed", { response: { ...response, usage } }),
    ].join("");
  },
  refuse: openaiRefusal,
};

export const completions: Protocol = {
  isAsked: (path) => path.endsWith("/chat/completions"),
  hear: (_, body) => {
    const messages = list(body.messages);
    return {
      model: text(body.model),
      said: messages
        .filter(({ role }) => role === "user")
        .map(({ content }) => textOf(content))
        .join("\n"),
      results: messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content)),
      tools: list(body.tools).map(({ function: one }) => text((one as Json | undefined)?.name)),
    };
  },
  write: (answer, { input, cached, output }, model) => {
    const head = { id: id("chatcmpl"), object: "chat.completion.chunk", created: 1_700_000_000, model };
    const isCall = "call" in answer;
    const made = isCall
      ? { name: answer.call.tool, arguments: JSON.stringify(answer.call.input) }
      : { name: "", arguments: "" };
    const delta = isCall
      ? { role: "assistant", tool_calls: [{ index: 0, id: id("call"), type: "function", function: made }] }
      : { role: "assistant", content: answer.text };
    const usage = {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    };
    return [
      chunk({ ...head, choices: [{ index: 0, delta, finish_reason: null }] }),
      chunk({ ...head, choices: [{ index: 0, delta: {}, finish_reason: isCall ? "tool_calls" : "stop" }] }),
      chunk({ ...head, choices: [], usage }),
      "data: [DONE]\n\n",
    ].join("");
  },
  refuse: openaiRefusal,
};

export const google: Protocol = {
  isAsked: (path) => path.includes("enerateContent"),
  hear: (path, body) => {
    const contents = list(body.contents).filter(({ role }) => role === "user");
    const parts = contents.flatMap((one) => list(one.parts));
    return {
      model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
      said: parts.map((part) => text(part.text)).join("\n"),
      results: parts.flatMap(({ functionResponse }) => (functionResponse ? [JSON.stringify(functionResponse)] : [])),
      tools: list(body.tools).flatMap((one) => list(one.functionDeclarations).map(({ name }) => text(name))),
    };
  },
  write: (answer, { input, cached, output }) => {
    const part =
      "call" in answer ? { functionCall: { name: answer.call.tool, args: answer.call.input } } : { text: answer.text };
    const usageMetadata = {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    };
    const content = { role: "model", parts: [part] };
    return chunk({ candidates: [{ content, finishReason: "STOP", index: 0 }], usageMetadata });
  },
  refuse: (code, message) => ({ error: { code, message, status: code === 429 ? "RESOURCE_EXHAUSTED" : "SCRIPTED" } }),
};

import { PassThrough } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { TIMED } from "../../../test/support/timed.ts";
import { LineTransport, MAX_LINE_BYTES } from "./transport.ts";

/** A transport that records its messages and answers. */
async function open() {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new LineTransport(input, output);
  const messages: JSONRPCMessage[] = [];
  const state = { closed: false };
  transport.onmessage = (message) => void messages.push(message);
  transport.onclose = () => {
    state.closed = true;
  };
  await transport.start();
  const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const answers = () =>
    (output.read()?.toString("utf8") ?? "")
      .split("\n")
      .filter((line: string) => line !== "")
      .map((line: string) => JSON.parse(line));
  return { input, output, transport, messages, state, settle, answers };
}

const ping = (id: number | string) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;

describe("the transport", () => {
  test("splits messages however they arrive, and skips empty lines (F23)", async () => {
    const { input, messages, settle } = await open();
    const [one, two] = [ping(1).slice(0, 7), ping(1).slice(7)];
    input.write(one);
    await settle();
    expect(messages).toEqual([]);
    input.write(`${two}\r\n\n  \n${ping("b").trimEnd()}\r\n`);
    await settle();
    expect(messages.map((message) => ("id" in message ? message.id : null))).toEqual([1, "b"]);
  });

  test.each([
    ["half an object", '{"jsonrpc":"2.0",', -32700, null],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22]), -32700, null],
    ["a number", "42", -32600, null],
    ["a batch", `[${ping(1).trim()}]`, -32600, null],
    ["an object of another kind", '{"id":7,"hello":1}', -32600, 7],
    ["params that are not an object", '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":[1]}', -32600, "x"],
    ["another version", '{"jsonrpc":"1.0","id":3,"method":"ping"}', -32600, 3],
  ])("answers %s with an error and keeps running (F23)", async (_, line, code, id) => {
    const { input, messages, settle, answers } = await open();
    input.write(line);
    input.write(`\n${ping(9)}`);
    await settle();
    expect(answers()).toEqual([{ jsonrpc: "2.0", id, error: { code, message: expect.any(String) } }]);
    expect(messages).toHaveLength(1);
  });

  const filler = "x".repeat(MAX_LINE_BYTES);
  test.each([
    ["at its beginning", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"a":"${filler}"}}`, 5],
    ["after its method", `{"jsonrpc":"2.0","method":"tools/call","id":"q-1","params":{"a":"${filler}"}}`, "q-1"],
    ["at its end", `{"jsonrpc":"2.0","method":"tools/call","params":{"a":"${filler}"},"id":6}`, 6],
    ["only inside its params", `{"jsonrpc":"2.0","method":"m","params":{"id":7,"a":"${filler}","id":8}}`, null],
    ["nowhere", `${filler}x`, null],
  ])("does not keep a line over the limit, and finds its id %s (F23)", async (_, line, id) => {
    const { input, messages, settle, answers } = await open();
    input.write(`${line}\n${ping(1)}`);
    await settle();
    const message = expect.stringContaining(`${Buffer.byteLength(line)} bytes; the limit is ${MAX_LINE_BYTES}`);
    expect(answers()).toEqual([{ jsonrpc: "2.0", id, error: { code: -32600, message } }]);
    expect(messages).toHaveLength(1);
  });
});

describe("the end of the input", () => {
  test("closes the transport at once when no request is running", async () => {
    const { input, state, settle } = await open();
    input.end();
    await settle();
    expect(state.closed).toBe(true);
  });

  test("waits for running requests, and reads a last line without a newline", async () => {
    const { input, output, transport, messages, state, settle } = await open();
    input.write(ping(1));
    input.end(ping(2).trimEnd());
    await settle();
    expect([messages.length, state.closed]).toEqual([2, false]);
    await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
    expect(state.closed).toBe(false);
    await transport.send({ jsonrpc: "2.0", id: 2, result: {} });
    expect(state.closed).toBe(true);
    expect(output.read().toString().trim().split("\n")).toHaveLength(2);
  });

  test("does not wait for cancelled requests", async () => {
    const { input, state, settle } = await open();
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    input.end(`${ping(1)}${JSON.stringify(cancel)}\n`);
    await settle();
    expect(state.closed).toBe(true);
  });

  test("does not wait forever", TIMED, async () => {
    const { input, state } = await open();
    const began = performance.now();
    input.end(ping(1));
    while (!state.closed && performance.now() - began < 3000) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(state.closed).toBe(true);
    expect(performance.now() - began).toBeLessThan(1000);
  });

  test("is assumed when the client stops reading the answers (EPIPE)", async () => {
    const { output, state, settle } = await open();
    output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    await settle();
    expect(state.closed).toBe(true);
  });
});

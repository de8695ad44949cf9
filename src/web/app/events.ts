// Server-sent events, read from the answer to a fetch: it can send the token, which EventSource cannot.

export interface ServerEvent {
  /** "message" when the server names none. */
  kind: string;
  /** JSON; empty for a sign of life. */
  data: string;
}

/** Hands every event to `take` until the server ends the stream, or `take` returns true. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  take: (event: ServerEvent) => boolean | undefined,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) if (take(eventIn(block))) return reader.cancel();
  }
}

function eventIn(block: string): ServerEvent {
  let kind = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) kind = line.slice(7);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  return { kind, data };
}

// The MCP server: the official protocol over our transport, and the toolbox behind it. The toolbox is a program of its own that is read
// after the client has its first answer; only plain data crosses between the two.

import { Server, type Transport } from "@modelcontextprotocol/server";
import type { Toolbox } from "./toolbox.ts";

export interface ServerParts {
  version: string;
  /** Asked for again and again; it is made once. */
  toolbox: () => Promise<Toolbox>;
  /** Told of what went wrong outside of any call. */
  complain: (error: unknown) => void;
}

export async function serve(transport: Transport, { version, toolbox, complain }: ServerParts): Promise<void> {
  const server = new Server({ name: "maestro", version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({ tools: (await toolbox()).list() }));
  server.setRequestHandler("tools/call", async ({ params }) =>
    (await toolbox()).call(params.name, params.arguments ?? {}),
  );
  server.oninitialized = () => void toolbox().catch(complain);
  server.onerror = complain;
  await server.connect(transport);
}

// The MCP server: the official SDK over our transport, with the toolbox behind it. The toolbox is a separate bundle that the first call
// loads; only plain data passes between the two.

import { Server, type Transport } from "@modelcontextprotocol/server";
import type { Listed } from "./offered.ts";
import type { Toolbox } from "./toolbox.ts";

export interface ServerParts {
  version: string;
  tools: Listed[];
  /** Called for every call of a tool; creates the toolbox once. */
  toolbox: () => Promise<Toolbox>;
  /** Reports errors that happen outside of a call. */
  complain: (error: unknown) => void;
}

export async function serve(transport: Transport, { version, tools, toolbox, complain }: ServerParts): Promise<void> {
  const server = new Server({ name: "maestro", version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq: { signal, notify } }) => {
    const progressToken = params._meta?.progressToken;
    const tell = (progress: number, total: number, message: string) =>
      void notify({
        method: "notifications/progress",
        params: { progressToken: progressToken as string, progress, total, message },
      }).catch(complain);
    const wire = { signal, progress: progressToken === undefined ? undefined : tell };
    return (await toolbox()).call(params.name, params.arguments ?? {}, wire);
  });
  server.onerror = complain;
  await server.connect(transport);
}

// The tools as the server lists them to clients. The build computes the lists, so that a conversation without Maestro never loads the tools.

import { publishedSchema } from "./input.ts";
import { type Offered, toolTable } from "./tool-table.ts";

export type Caller = "techlead" | "attempts";

export interface Listed {
  [key: string]: unknown;
  name: string;
  description: string;
  inputSchema: { type: "object"; [key: string]: unknown };
}

export function toolsFor(caller: Caller): readonly Offered[] {
  return toolTable.filter(({ offeredTo }) => offeredTo === "all" || offeredTo === caller);
}

export function listFor(caller: Caller): Listed[] {
  return toolsFor(caller).map(({ tool, readOnly }) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: publishedSchema(tool),
    annotations: { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false },
  }));
}

// The list of all tools: which callers get each one, and whether it is read-only. Gemini CLI's plan mode allows only read-only tools.

import type { Tool } from "./tool.ts";
import { contextChainTool } from "./tools/context-chain.ts";
import { decideTool } from "./tools/decide.ts";
import { dispatchStatus } from "./tools/dispatch-status.ts";
import { progress } from "./tools/progress.ts";
import { requestScope } from "./tools/request-scope.ts";
import { runTool } from "./tools/run.ts";
import { sessionRead } from "./tools/session-read.ts";
import { sessionWrite } from "./tools/session-write.ts";
import { validatePlanTool } from "./tools/validate-plan.ts";
import { wait } from "./tools/wait.ts";

export interface Offered {
  tool: Tool;
  readOnly: boolean;
  /** The TechLead of a conversation, dispatched agents (attempts), or both. */
  offeredTo: "techlead" | "attempts" | "all";
}

export const toolTable: readonly Offered[] = [
  { tool: sessionRead, readOnly: true, offeredTo: "all" },
  { tool: sessionWrite, readOnly: false, offeredTo: "techlead" },
  { tool: progress, readOnly: false, offeredTo: "all" },
  { tool: validatePlanTool, readOnly: false, offeredTo: "techlead" },
  { tool: dispatchStatus, readOnly: true, offeredTo: "techlead" },
  { tool: contextChainTool, readOnly: true, offeredTo: "all" },
  { tool: runTool, readOnly: false, offeredTo: "techlead" },
  { tool: wait, readOnly: true, offeredTo: "techlead" },
  { tool: decideTool, readOnly: false, offeredTo: "techlead" },
  { tool: requestScope, readOnly: false, offeredTo: "attempts" },
];

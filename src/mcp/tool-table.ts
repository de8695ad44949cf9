// Every tool that there is, once: for whom it is, and whether it changes anything. Plan mode of Gemini CLI admits only what does not.

import type { Tool } from "./tool.ts";
import { contextChainTool } from "./tools/context-chain.ts";
import { decide } from "./tools/decide.ts";
import { dispatchStatus } from "./tools/dispatch-status.ts";
import { progress } from "./tools/progress.ts";
import { sessionRead } from "./tools/session-read.ts";
import { sessionWrite } from "./tools/session-write.ts";
import { validatePlanTool } from "./tools/validate-plan.ts";

export interface Offered {
  tool: Tool;
  readOnly: boolean;
  /** A dispatched specialist may use it. */
  forAttempts: boolean;
}

export const toolTable: readonly Offered[] = [
  { tool: sessionRead, readOnly: true, forAttempts: true },
  { tool: sessionWrite, readOnly: false, forAttempts: false },
  { tool: progress, readOnly: false, forAttempts: true },
  { tool: validatePlanTool, readOnly: true, forAttempts: false },
  { tool: dispatchStatus, readOnly: true, forAttempts: false },
  { tool: contextChainTool, readOnly: true, forAttempts: true },
  { tool: decide, readOnly: false, forAttempts: false },
];

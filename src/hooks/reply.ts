// The replies of a hook: the few forms that Gemini CLI accepts. Never `ask`: without a terminal it waits forever.

export interface Reply {
  decision?: "allow" | "deny";
  reason?: string;
  continue?: true;
  /** Shown to the user; the model does not see it. */
  systemMessage?: string;
  hookSpecificOutput?: { hookEventName: string; [field: string]: unknown };
}

export const proceed: Reply = { continue: true };
export const allow: Reply = { decision: "allow" };

export function denyReply(reason: string): Reply {
  return { decision: "deny", reason };
}

/** Adds text for the model to the prompt or the result; adds nothing when it is empty. */
export function withContext(hookEventName: string, additionalContext: string, systemMessage?: string): Reply {
  const reply = systemMessage === undefined ? proceed : { ...proceed, systemMessage };
  return additionalContext === "" ? reply : { ...reply, hookSpecificOutput: { hookEventName, additionalContext } };
}

/** The reply of a hook that failed: it does not block the call (C39). */
export function unconcerned(event: string): Reply {
  return event === "BeforeTool" ? allow : proceed;
}

export function waitingReply(waiting: string): Reply {
  return withContext("SessionStart", waiting, waiting);
}

/** PreCompress: what survives the compression of the conversation, and where the rest is. */
export function summaryReply(brief: string): Reply {
  return { ...proceed, systemMessage: `${brief} For more: maestro_session_read.`.replaceAll("\n", " ") };
}

export function turnReply(told: string): Reply {
  return withContext("BeforeAgent", told);
}

// Where the guard's rules apply (C47): all of them in agents and during a session, those against damage in every conversation.

import type { Settings } from "../settings.ts";

export interface Where {
  setting: Settings["MAESTRO_GUARD"];
  /** An attempt, or an agent of Maestro that a conversation has delegated to. */
  isAgent: () => boolean;
  hasSession: boolean;
}

/** `damage`: the shell may write file content. */
export function rulesThatHold({ setting, isAgent, hasSession }: Where): "all" | "damage" | "none" {
  if (setting === "always" || (setting === "auto" && hasSession) || isAgent()) return "all";
  return setting === "off" ? "none" : "damage";
}

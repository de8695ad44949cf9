// Which model an agent is played with, when anybody said so (E52, E53, G81).
import { normalizeAgentName } from "../agents/names.ts";

export interface ModelSettings {
  MAESTRO_DEFAULT_MODEL: string;
  MAESTRO_WRITER_MODEL: string;
}

/** Null: the runtime's own choice. `flag` is `--model`. */
export function modelFor(
  agent: { name: string; model?: string | undefined },
  settings: ModelSettings,
  flag: string | undefined,
): string | null {
  const isWriter = normalizeAgentName(agent.name) === "technical-writer";
  const own = given(agent.model);
  return (
    (isWriter ? given(settings.MAESTRO_WRITER_MODEL) : null) ??
    given(flag) ??
    given(settings.MAESTRO_DEFAULT_MODEL) ??
    // Gemini CLI's word for "the model of the conversation"; a process of its own has none.
    (own === "inherit" ? null : own)
  );
}

/** Empty is unset. */
function given(value: string | undefined): string | null {
  return value?.trim() || null;
}

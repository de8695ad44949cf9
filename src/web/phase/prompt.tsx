// The prompt that an attempt was given.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visible } from "../../views/text/visible.ts";
import { attemptPath, get } from "../app/api.ts";
import { sessionId, tell } from "../app/state.ts";
import { copy } from "../view/parts.tsx";

export function PromptOf({ phase, attempt }: { phase: string; attempt: number }) {
  const text = useSignal<string | null>(null);
  const session = sessionId.value;
  useEffect(() => {
    if (session === null) return;
    void load(attemptPath(session, phase, attempt, "prompt")).then((read) => {
      text.value = read;
    });
  }, [session, phase, attempt]);
  if (text.value === null) return <p class="empty">Reading the prompt.</p>;
  return (
    <div class="prompt">
      <div class="tools">
        <span class="dim">{text.value.length} characters</span>
        <span class="spacer" />
        <button type="button" onClick={() => void copy(text.value ?? "").then(() => tell("The prompt is copied."))}>
          Copy
        </button>
      </div>
      <pre class="message" tabIndex={0} role="region" aria-label="Prompt">
        {visible(text.value)}
      </pre>
    </div>
  );
}

async function load(path: string): Promise<string> {
  try {
    const answer = await get(path);
    if (answer.ok) return await answer.text();
    const { message } = (await answer.json()) as { message?: string };
    return message ?? "";
  } catch {
    return "The dashboard does not answer.";
  }
}

// The prompt that an attempt was given.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visible } from "../../views/text/visible.ts";
import { type Answered, attemptPath, getText } from "../app/api.ts";
import { sessionId } from "../app/state.ts";
import { copy } from "../view/parts.tsx";

export function PromptOf({ phase, attempt }: { phase: string; attempt: number }) {
  const read = useSignal<Answered | null>(null);
  const session = sessionId.value;
  useEffect(() => {
    if (session === null) return;
    void getText(attemptPath(session, phase, attempt, "prompt")).then((answer) => {
      read.value = answer;
    });
  }, [session, phase, attempt]);
  const shown = read.value;
  if (shown === null) return <p class="empty">Reading the prompt.</p>;
  if ("error" in shown) return <p class="empty">{shown.error}</p>;
  const { text } = shown;
  return (
    <div class="prompt">
      <div class="tools">
        <span class="dim">{text.length} characters</span>
        <span class="spacer" />
        <button type="button" onClick={() => copy("The prompt", text)}>
          Copy
        </button>
      </div>
      <pre class="message" tabIndex={0} role="region" aria-label="Prompt">
        {visible(text)}
      </pre>
    </div>
  );
}

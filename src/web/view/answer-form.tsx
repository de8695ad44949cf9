// The answers of maestro_decide as buttons, with the guidance that some of them take; only a page that was started with --control has them.

import { signal } from "@preact/signals";
import { decide } from "../app/api.ts";
import { connection, frame, overview, sessionId, tell } from "../app/state.ts";
import type { NeedAnswer } from "../model/needs.ts";

const told = signal<Record<string, string>>({});
const isSending = signal(false);

/** Decisions are taken in the present, and where the server takes them. */
export function mayDecide(): boolean {
  return overview.value?.control === true && connection.value === "live" && frame.value?.isLive === true;
}

/** `about`: what a text that was begun belongs to. */
export function AnswerForm({ about, answers }: { about: string; answers: readonly NeedAnswer[] }) {
  const text = told.value[about] ?? "";
  const asks = answers.some(({ asks: what }) => what !== undefined);
  return (
    <div class="answers">
      {asks && (
        <label class="guidance">
          Guidance for the next attempt
          <textarea
            rows={2}
            value={text}
            onInput={({ currentTarget }) => {
              told.value = { ...told.value, [about]: currentTarget.value };
            }}
          />
        </label>
      )}
      <div class="buttons">
        {answers.map((answer) => (
          <button
            key={answer.label}
            type="button"
            class={answer.isDangerous ? "danger" : answer === answers[0] ? "primary" : ""}
            disabled={isSending.value || (answer.asks === "guidance" && text.trim() === "")}
            onClick={() => send(answer, text)}
          >
            {answer.label}
          </button>
        ))}
      </div>
    </div>
  );
}

const questions: Partial<Record<NeedAnswer["action"], string>> = {
  abort: "Abort the session for good? It cannot be resumed.",
  stop: "Stop the engine? Its agents are interrupted; the session can be resumed.",
};

/** What happens next, in the words of the command line: the answers of maestro_decide are for a model. */
function nextStep(action: NeedAnswer["action"], isDriven: boolean): string {
  if (action === "abort") return "The session is aborted.";
  if (action === "stop") return 'The engine stops. Continue with "maestro resume".';
  return isDriven
    ? "Recorded. The engine acts on it."
    : 'Recorded. No engine is running: continue with "maestro resume".';
}

export async function send(answer: NeedAnswer, guidance = ""): Promise<void> {
  const session = sessionId.value;
  const question = questions[answer.action];
  if (session === null || (question !== undefined && !confirm(question))) return;
  isSending.value = true;
  const { action, phase, tree, timeout, asks } = answer;
  const hasGuidance = asks !== undefined && guidance.trim() !== "";
  try {
    const { refusal, isDriven } = await decide(session, {
      action,
      ...(phase === undefined ? {} : { phase_id: phase }),
      ...(tree === undefined ? {} : { tree }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(hasGuidance ? { guidance } : {}),
    });
    tell(refusal ?? nextStep(action, isDriven), refusal !== null);
  } catch {
    tell("The dashboard does not answer; nothing was decided.", true);
  } finally {
    isSending.value = false;
  }
}

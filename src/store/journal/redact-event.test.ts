import { expect, test } from "vitest";
import { frozenPhase, frozenPlan } from "../../../test/support/session.ts";
import type { SessionEvent } from "../../session/events.ts";
import { redactedEvent } from "./redact-event.ts";

const secret = "s3cr3t-w0rd";
const redact = (text: string) => text.replaceAll(secret, "[redacted]");

test("redacts a secret in every text of an event and keeps identifiers and paths", () => {
  const texts = { title: secret, description: secret, validation_criteria: [secret], validation: [`x ${secret}`] };
  const names = { files_created: [secret], blocked_by: [secret] };
  const event: SessionEvent = {
    type: "session.created",
    session_id: secret,
    task: secret,
    execution_mode: null,
    plan: { ...frozenPlan([frozenPhase(secret, { ...texts, ...names })]), hash: secret, path: secret },
  };
  expect(redactedEvent(event, redact)).toMatchObject({
    session_id: secret,
    task: "[redacted]",
    plan: {
      hash: secret,
      path: secret,
      phases: [
        {
          id: secret,
          title: "[redacted]",
          description: "[redacted]",
          validation_criteria: ["[redacted]"],
          validation: ["x [redacted]"],
          files_created: [secret],
          blocked_by: [secret],
        },
      ],
    },
  });
});

test("does not change the location fields of an attempt", () => {
  const place = { batch: secret, name: secret, prompt_bytes: 1, timeout_ms: 1 };
  const who = { phase: "1", attempt: 1, agent: "coder", run: secret, runtime: "gemini", model: secret };
  const event: SessionEvent = { type: "attempt.started", ...who, ...place };
  expect(redactedEvent(event, redact)).toEqual(event);
});

import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../test/support/session.ts";
import { escalationBlock } from "../views/decision/escalation.ts";
import { requirePhase } from "./decide/operation.ts";
import { recordFault } from "./events.ts";
import { applyEvent } from "./fold.ts";
import type { Session } from "./session.ts";

/** Journal lines from version 0.1.0, in which errors have no code. */
const lines = {
  conflict:
    '{"v":1,"seq":3,"ts":"2026-02-14T22:59:00.000Z","more":true,"type":"phase.error_added","phase":"1","error":{"agent":"coder","timestamp":"2026-02-14T22:59:00.000Z","type":"file_conflict","message":"src/a.ts (modified by coder and coder, phases 2 and 1)\\nsrc/b.ts (modified externally since phase start)","resolution":"pending","resolved":false},"crc":"5a0e1f37"}',
  scope:
    '{"v":1,"seq":3,"ts":"2026-02-14T22:59:00.000Z","more":true,"type":"phase.error_added","phase":"1","error":{"agent":"coder","timestamp":"2026-02-14T22:59:00.000Z","type":"validation","message":"Changed outside of its files:\\n- src/x.ts","resolution":"pending","resolved":false},"crc":"1c9be0d2"}',
  sensitive:
    '{"v":1,"seq":3,"ts":"2026-02-14T22:59:00.000Z","more":true,"type":"phase.error_added","phase":"1","error":{"agent":"coder","timestamp":"2026-02-14T22:59:00.000Z","type":"validation","message":"Changed outside of its files: only a person may decide about these.\\n- .env\\nThe change is not brought in.","resolution":"pending","resolved":false},"crc":"77d0a4b1"}',
};

function shown(line: string): string[] {
  const record = JSON.parse(line);
  expect(recordFault(record)).toBeUndefined();
  const running = sessionAfter([frozenPhase("1"), frozenPhase("2")], moved("1", "pending", "in_progress"));
  const session = applyEvent(running, record) as Session;
  return escalationBlock(session, requirePhase(session, "1"), { maxRetries: 2, program: "maestro" });
}

describe("an error in an old journal", () => {
  test("has its conflicting files read from the message", () => {
    expect(shown(lines.conflict)).toEqual(
      expect.arrayContaining([
        "File Conflict Detected",
        "- src/a.ts (modified by coder and coder, phases 2 and 1)",
        "- src/b.ts (modified externally since phase start)",
      ]),
    );
  });

  test("still gets the hints about the scope of its phase", () => {
    expect(shown(lines.scope).at(-1)).toMatch(/^ {2}To get only a warning about them: maestro retry 1/);
  });

  test("gets no hint about the scope when only the user may decide about the files", () => {
    expect(shown(lines.sensitive).join("\n")).not.toContain("To be warned of them only");
  });
});

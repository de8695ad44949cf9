import { describe, expect, test } from "vitest";
import {
  at,
  begin,
  end,
  fails,
  move,
  phase,
  place,
  plain,
  reported,
  runs,
  sessionOf,
  warn,
} from "../../test/support/sample-session.ts";
import { positionOf } from "../session/position.ts";
import { statusLines } from "./status.ts";
import { displayWidth } from "./text/width.ts";

describe("the status of a session", () => {
  test("aligns its columns, whatever the script of the names", () => {
    const names = ["Schema", "設計と実装", "Naïve café", "Launch 🚀", "x".repeat(80)];
    const session = sessionOf(
      names.map((title, index) => phase(String(index + 1), { title })),
      [],
    );
    const lines = statusLines(session, positionOf(session), null, at(9), plain);
    const columns = lines
      .filter((line) => line.includes("coder"))
      .map((line) => displayWidth(line.slice(0, line.indexOf("coder"))));
    expect(columns).toEqual(names.map(() => columns[0]));
  });

  test("does not ask to verify work that is not in the project yet", () => {
    const session = sessionOf(
      [phase("1", { validation: ["npm test"] })],
      [move(1, "1", "pending", "in_progress"), begin(1, "1"), place(1, "1"), end(9, "1", 8), reported(9, "1")],
    );
    const shown = (isDriven: boolean) =>
      statusLines(session, positionOf(session), null, at(9), plain, isDriven).join("\n");
    expect(shown(false)).toContain("agent done, to be integrated");
    expect(shown(false)).toContain('Done:    phase 1; "maestro resume" integrates their work into the project');
    expect(shown(false)).not.toMatch(/verif|Stopped|Running/);
    expect(shown(true)).toContain("Running: phase 1");
  });

  test("counts the warnings of each phase, and shows the latest one of a phase in progress", () => {
    const timed = [
      ...runs(1, 5, "1"),
      warn(5, "1", "claims_differ", "The report names src/a.ts, which did not change"),
      move(2, "2", "pending", "in_progress"),
      begin(2, "2"),
      warn(3, "2", "left_out", "A socket is not taken along"),
      warn(4, "2", "conflict_predicted", "Phase 3 changes the same lines of:\n- src/\u001b[2Jb.ts\n- src/c.ts"),
      move(2, "3", "pending", "in_progress"),
      ...fails(4, "3", "validation", "The model gave an empty response."),
    ];
    const session = sessionOf([phase("1"), phase("2"), phase("3"), phase("4")], timed);
    const lines = statusLines(session, positionOf(session), null, at(9), plain, true).slice(3, 7);
    expect(lines.map((line) => line.slice(line.indexOf("coder") + 7))).toEqual([
      "completed in 4 s, unverified, 1 warning",
      "in progress, 2 warnings: Phase 3 changes the same lines of: src/␛[2Jb.ts, src/c.ts",
      "failed: The model gave an empty response",
      "ready",
    ]);
  });
});

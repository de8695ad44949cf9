import { describe, expect, test } from "vitest";
import { at, begin, end, move, phase, plain, sessionOf, type Timed } from "../../../test/support/sample-session.ts";
import { positionOf } from "../../session/position.ts";
import { listPrices } from "../report/prices.ts";
import { reportLines } from "../report/report.ts";
import { statusLines } from "../status.ts";
import { budgetForecast, budgetText } from "../text/budget.ts";
import { decisionBrief, decisionLines, openDecisions, undecidedName } from "./open-decisions.ts";

const look = { maxRetries: 2, program: "maestro" };
const spent: Timed[] = [
  [0, { type: "session.budget_set", budget: { usd: 5, tok: 2_000_000 }, before: { usd: 0.5 } }],
  move(1, "1", "pending", "in_progress"),
  begin(1, "1", 1, { reserved: { usd: 4.25, tok: 500_000 } }),
  end(9, "1", 8, { spent: { usd: 4.1, tok: 800_000 } }),
  move(9, "1", "in_progress", "completed"),
  [
    10,
    {
      type: "session.budget_spent",
      phase: "2" as never,
      wanted: { usd: 1.2, tok: 100_000 },
      spent: { usd: 4.6, tok: 800_000 },
      proposed: { usd: 5.8 },
    },
  ],
];
const session = (...more: Timed[]) => sessionOf([phase("1"), phase("2", { title: "Routes" })], [...spent, ...more]);

describe("a spent budget", () => {
  test("is an open decision with the command that raises it", () => {
    const [decision] = openDecisions(session(), look);
    expect(decision).toMatchObject({
      phase: "2",
      kind: "budget",
      options: [
        { name: "raise", command: "maestro resume --budget 5.8usd" },
        { name: "abort", command: "maestro abort" },
      ],
    });
    expect(decision?.message).toContain("$4.60 of $5.00 spent; 800.0k tokens of 2.0M tokens spent.");
    expect(decision?.message).toContain("Phase 2 Routes needs $1.20, 100.0k tokens for its next attempt");
    const block = decisionLines(session(), look);
    expect(block[0]).toBe("Budget spent: phase 2 cannot start");
    expect(block).toContain("1. Raise the budget: 5.8usd,2Mtok lets every open phase have one more attempt");
    expect(block.at(-2)).toBe("    1. maestro resume --budget 5.8usd");
    expect(decisionBrief(session(), look)).toEqual([
      "Open decision, phase 2: Budget spent: phase 2 cannot start. The user's options: 1. maestro resume --budget 5.8usd; 2. maestro abort.",
    ]);
    expect(undecidedName({ budget: session().budget_spent ?? expect.unreachable() })).toBe("2");
  });

  test.each<[string, Timed]>([
    ["the budget is raised", [11, { type: "session.budget_set", budget: { usd: 8 }, before: {} }]],
    ["an attempt has started", begin(11, "2")],
  ])("is decided when %s", (_, last) => {
    expect(openDecisions(session(last), look)).toEqual([]);
  });

  test("is shown by status and report", () => {
    const status = statusLines(session(), positionOf(session()), null, at(11), plain).join("\n");
    expect(status).toContain("  Budget: $4.60 of $5.00 spent; 800.0k tokens of 2.0M tokens spent");
    expect(status).toContain("Budget:  spent; maestro resume --budget 5.8usd");
    const running = statusLines(
      session(begin(11, "2", 1, { reserved: { usd: 0.4 } })),
      positionOf(session()),
      null,
      at(11),
      plain,
    );
    expect(running.join("\n")).toContain("$4.60 of $5.00 spent, $0.40 reserved");
    const input = { prices: listPrices, now: at(11), missingFiles: [], paint: plain, width: 100 };
    expect(reportLines(session(), input)).toContain("Budget: $4.60 of $5.00 spent; 800.0k tokens of 2.0M tokens spent");
  });
});

test("a forecast compares the estimate with the budget, and says what is not known", () => {
  expect(budgetForecast({ usd: 5, tok: 1000, req: 10 }, { usd: 1.2, tok: 1500 })).toBe(
    "$5.00, estimated $1.20 (24 %); 1.0k tokens, estimated 1.5k tokens (150 %, more than the budget); 10 requests, no estimate",
  );
  expect(budgetText({})).toBe("nothing");
});

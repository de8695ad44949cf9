// A journal as an attacker might write it: the fields have any content, and the checksums are right.

import type { SessionEvent } from "../../src/session/events.ts";
import { encodeChange, journalStart } from "../../src/store/journal/record.ts";
import {
  begin,
  change,
  check,
  end,
  eventsOf,
  fails,
  integrate,
  move,
  phase,
  place,
  reported,
  type Timed,
  used,
  warn,
} from "./sample-session.ts";

const noContext = {
  key_interfaces_introduced: ["x()"],
  patterns_established: [],
  integration_points: [],
  assumptions: [],
  warnings: [],
};

/** One event of every kind that does not end a session. */
export function everyEvent(): SessionEvent[] {
  const phases = [
    phase("1", { validation: ["true"], files_created: ["src/a.ts"], estimate: { minutes: 3 } }),
    phase("2", { blocked_by: ["1"] }),
    phase("3"),
  ];
  const timed: Timed[] = [
    [1, { type: "session.noted", text: "a note", phase: "1", agent: "coder" }],
    [
      2,
      {
        type: "phase.moved",
        phase: "1",
        from: "pending",
        to: "in_progress",
        hashes: { "src/a.ts": null },
        reason: "go",
        guidance: "slowly",
        agent: "tester",
        model: "gemini-9",
        timeout_ms: 1000,
        criteria: ["it runs"],
      },
    ],
    begin(3, "1", 1, { model: "gemini-2.5-pro" }),
    place(3, "1"),
    [
      4,
      {
        type: "phase.scope_requested",
        phase: "1",
        agent: "coder",
        paths: ["b"],
        reason: "r",
        granted: true,
        owner: null,
      },
    ],
    [5, { type: "quota.hit", phase: "1", wait_ms: 5, until: "2026-02-14T22:59:00.000Z", slots: 2 }],
    end(6, "1", 3, { usage: [used(10, 2)], reason: "ok", message: "fine" }),
    change(6, "1", [{ path: "src/a.ts", kind: "renamed", from: "src/b.ts" }], { outside: ["c"] }),
    reported(6, "1"),
    warn(6, "1", "claims_differ", "differs"),
    [6, { type: "phase.files_added", phase: "1", created: ["src/a.ts"], modified: [], deleted: [], hashes: {} }],
    check(7, "1", "d".repeat(40), ["true", 0, "ok"]),
    integrate(8, "1", 1, { user_decision: true }),
    [8, { type: "tokens.used", agent: "coder", phase: "1", input: 1, output: 1, cached: 0 }],
    [8, { type: "phase.reverted", phase: "1", attempt: 1, from: "d".repeat(40), to: "e".repeat(40) }],
    move(9, "1", "in_progress", "completed"),
    move(10, "3", "pending", "in_progress"),
    [10, { type: "handoff.malformed", phase: "3", agent: "coder", missing: ["Task Report"] }],
    ...fails(11, "3", "runtime", "it broke"),
    [
      12,
      {
        type: "view.adopted",
        phases: [{ id: "2", downstream_context: noContext, files: { created: ["z"], modified: [], deleted: [] } }],
      },
    ],
    [13, { type: "session.status_set", status: "failed", summary: "so far" }],
  ];
  return eventsOf(phases, timed).map(({ seq: _, ts: __, ...event }) => event as SessionEvent);
}

/** The bytes of a journal of these events. */
export function journalOf(events: readonly unknown[], ts = "2026-02-14T22:58:00.000Z"): Buffer {
  let last: { seq: number; crc: string } = journalStart;
  const lines = events.map((event) => {
    const encoded = encodeChange(last, ts, [event as SessionEvent]);
    last = encoded;
    return encoded.bytes;
  });
  return Buffer.concat(lines);
}

/** What an attacker, or an accident, would put into a field. */
export const hostileValues: readonly unknown[] = [
  "--output=/tmp/maestro-pwned",
  "../../../../escaped",
  "/etc/passwd",
  "a/../../b",
  "..",
  ".",
  "",
  "\u001b]0;pwned\u0007\u001b[2J\u001b[8mhidden",
  "\u009b31m\u202e\u200b",
  "a\nb\r\nERROR: forged line",
  "nul\0byte",
  "x".repeat(1_000_001),
  "__proto__",
  "constructor",
  "$(touch /tmp/maestro-pwned)",
  -1,
  1.5,
  9e15,
  Number.MAX_VALUE,
  null,
  true,
  [],
  {},
  ["--upload-pack=x", "\u001b[31m"],
  { toString: "x", "\u001b[2J": 1 },
];

export type Path = readonly (string | number)[];

/** Every field of a value, inner ones too. */
export function fieldsOf(value: unknown, above: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return above.length === 0 ? [] : [above];
  const inner = Object.keys(value).flatMap((key) =>
    fieldsOf((value as Record<string, unknown>)[key], [...above, Array.isArray(value) ? Number(key) : key]),
  );
  return above.length === 0 ? inner : [above, ...inner];
}

/** A copy in which one field is another. */
export function withField<T>(value: T, path: Path, replacement: unknown): T {
  const copy = structuredClone(value) as unknown;
  let at = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  at[path.at(-1) as string | number] = replacement;
  return copy as T;
}

import { expect, test } from "vitest";
import { describeSandbox } from "./doctor-sandbox.ts";

const found = { kind: "found", program: "/usr/bin/bwrap" } as const;
const missing = { kind: "missing", reason: "bubblewrap is not installed", hint: "Install it." } as const;

test("the doctor says that a sandbox works, and with what", () => {
  const { level, message } = describeSandbox(
    { ...found, scope: { bare: ["/usr/bin/perl"], scoped: ["/usr/bin/perl"] } },
    true,
  );
  expect([level, message]).toEqual([
    "ok",
    "--sandbox works, with /usr/bin/bwrap; abstract Unix sockets are out of reach of agents",
  ]);
});

test.each([
  [true, "warn"],
  [false, "ok"],
] as const)("the doctor says what stays within reach (wanted: %s)", (isWanted, level) => {
  const finding = describeSandbox({ ...found, scope: null }, isWanted);
  expect(finding).toMatchObject({ level, message: expect.stringContaining("abstract Unix sockets (Linux 6.12") });
});

test("a sandbox that is set and not possible is a warning with a hint; one that nobody asked for is not", () => {
  expect(describeSandbox(missing, true)).toMatchObject({ level: "warn", hint: "Install it." });
  expect(describeSandbox(missing, false)).toEqual({
    check: "sandbox",
    level: "ok",
    message: "--sandbox is not possible: bubblewrap is not installed",
  });
});

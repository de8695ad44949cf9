import { expect, test } from "vitest";
import { describeSandbox } from "./doctor-sandbox.ts";

const found = { kind: "found", program: "/usr/bin/bwrap" } as const;
const missing = { kind: "missing", reason: "bubblewrap is not installed", hint: "Install it." } as const;

test("doctor reports that the sandbox works, and with which program", () => {
  const { level, message } = describeSandbox(
    { ...found, scope: { bare: ["/usr/bin/perl"], scoped: ["/usr/bin/perl"] } },
    true,
  );
  expect([level, message]).toEqual([
    "ok",
    "--sandbox works, with /usr/bin/bwrap; agents cannot reach abstract Unix sockets",
  ]);
});

test.each([
  [true, "warn"],
  [false, "ok"],
] as const)("doctor reports that agents can reach abstract sockets (MAESTRO_SANDBOX: %s)", (isWanted, level) => {
  const finding = describeSandbox({ ...found, scope: null }, isWanted);
  expect(finding).toMatchObject({ level, message: expect.stringContaining("abstract Unix sockets (Linux 6.12") });
});

test("a missing sandbox is a warning with a hint only when MAESTRO_SANDBOX is set", () => {
  expect(describeSandbox(missing, true)).toMatchObject({ level: "warn", hint: "Install it." });
  expect(describeSandbox(missing, false)).toEqual({
    check: "sandbox",
    level: "ok",
    message: "--sandbox does not work: bubblewrap is not installed",
  });
});

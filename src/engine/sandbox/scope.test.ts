import { type StdioOptions, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bubblewrap, socketScope } from "../../../test/support/bubblewrap.ts";
import { SandboxFixture } from "../../../test/support/sandbox-fixture.ts";
import { cellFor } from "./cell.ts";
import { limitLines } from "./limits.ts";
import { inSandbox } from "./sandbox.ts";
import { scopes } from "./scope.ts";

describe("every program that can keep abstract sockets out of reach", () => {
  let fixture: SandboxFixture;
  beforeEach(() => {
    fixture = new SandboxFixture(tmpdir());
  });
  afterEach(() => fixture.remove());

  const connecting = (name: string) =>
    `require("node:net").connect("\\0${name}").on("connect", () => { console.log("reached"); process.exit(); }).on("error", (e) => console.log(e.code))`;

  const here = scopes.filter(({ scoped: [program = ""] }) => existsSync(program));
  test.for(here.map((scope) => [scope.scoped[0] ?? "", scope] as const))("%s", async ([, scope], context) => {
    if (socketScope() === null) context.skip("this kernel has no Landlock that scopes sockets");
    const name = `maestro-${randomUUID()}`;
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(`\0${name}`, resolve));
    const node = { program: process.execPath };
    try {
      expect((await fixture.run(context, ["-e", connecting(name)], node, "", scope)).stdout).toBe("EPERM\n");
      expect((await fixture.run(context, ["-e", connecting(name)], node, "", null)).stdout).toBe("reached\n");
    } finally {
      server.close();
    }
    const ends = async (script: string) => (await fixture.run(context, ["-c", script], {}, "", scope)).code;
    expect([await ends("exit 7"), await ends("kill -TERM $$; sleep 5"), await ends("kill -INT $$; sleep 5")]).toEqual([
      7, 143, 130,
    ]);
    // Python ignores it, and a program that it starts would go on writing for ever.
    const { stdout } = await fixture.sh(context, "grep SigIgn /proc/self/status");
    expect(stdout).toMatch(/^SigIgn:\t0+\n$/);
    const missing = await fixture.run(context, [], { program: "/nowhere/agent" }, "", scope);
    expect(missing).toMatchObject({ code: 127, stderr: expect.stringContaining("/nowhere/agent") });
  });
});

test("a descriptor that the program which started Maestro left open is not passed on", async (context) => {
  const scope = socketScope();
  if (scope === null) context.skip("this kernel has no Landlock that scopes sockets");
  const fixture = new SandboxFixture(tmpdir());
  const place = fixture.place();
  const list = {
    program: "/bin/sh",
    args: ["-c", "for n in /proc/self/fd/* /proc/1/fd/*; do readlink $n; done; cat ~/.gitconfig"],
  };
  const cell = cellFor({ ...place, author: { name: "A", email: "a@example.com" } });
  const { program, args } = inSandbox(bubblewrap(context), list, cell, scope);
  // A directory outside would be a way out.
  const open = openSync(fixture.home, "r");
  const stdio: StdioOptions = [
    "ignore",
    "pipe",
    "pipe",
    open,
    open,
    open,
    open,
    open,
    open,
    open,
    open,
    open,
    open,
    open,
  ];
  const { stdout, stderr } = spawnSync(program, args, {
    cwd: fixture.worktree,
    env: place.env,
    stdio,
    encoding: "utf8",
  });
  closeSync(open);
  fixture.remove();
  expect(stdout, stderr).toContain("name = ");
  expect(stdout).not.toContain(fixture.home);
});

describe("limits", () => {
  const lines = (soft: string, hard: string) =>
    limitLines(
      ["core file size", "file size", "open files", "processes"]
        .map((name) => `Max ${name.padEnd(22)}${soft.padEnd(21)}${hard.padEnd(21)}units`)
        .join("\n"),
    );

  test("are set where the user has none", () => {
    const text = lines("unlimited", "unlimited");
    expect(text).toContain("ulimit -S -c 0 && ulimit -H -c 0");
    expect(text).toContain("ulimit -S -f 33554432 && ulimit -H -f 33554432");
    expect(text).toContain("ulimit -S -n 65536 && ulimit -H -n 65536");
    expect(text).toContain("ulimit -S -u 4096 && ulimit -H -u 4096");
  });

  test("are not raised: neither the one in force nor the one that could be asked for", () => {
    const text = lines("1024", "2048");
    expect(text).toContain("ulimit -S -f 2 && ulimit -H -f 4");
    expect(text).toContain("ulimit -S -n 1024 && ulimit -H -n 2048");
    expect(text).toContain("ulimit -S -p 1024 && ulimit -H -p 2048");
  });

  test("that the shell cannot set end the start", () => {
    for (const line of lines("1", "1").trim().split("\n")) expect(line).toMatch(/\|\| \{ echo ".*" >&2; exit 126; \}$/);
  });
});

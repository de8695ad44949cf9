import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { launcherScript, ownLauncher, ownProgram, pasteable } from "./launcher.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "maestro-test-"));
});
afterEach(() => rmSync(directory, { recursive: true }));
const script = (text: string) => writeFileSync(join(directory, "maestro"), text, { mode: 0o755 });

test("maestro on the PATH is this installation when it is the program or the script of setup", () => {
  expect(ownLauncher(directory)).toBeNull();
  script("#!/bin/sh\necho another program of this name\n");
  expect(ownLauncher(directory)).toBeNull();
  script(`${launcherScript}# sealed\n`);
  expect(ownLauncher(directory)).toBe("script");
  rmSync(join(directory, "maestro"));
  symlinkSync(ownProgram, join(directory, "maestro"));
  expect(ownLauncher(directory)).toBe("program");
});

test("the script of setup says what to do when the program was uninstalled", () => {
  script(launcherScript.replaceAll(ownProgram, "/gone/maestro.js"));
  const launcher = join(directory, "maestro");
  const run = spawnSync(launcher, ["status"], { encoding: "utf8" });
  expect([run.status, run.stdout]).toEqual([3, ""]);
  expect(run.stderr).toBe(
    `ERROR: Maestro was uninstalled or moved: /gone/maestro.js does not exist\n  Install it again, or delete this command: rm '${launcher}'\n`,
  );
});

test("a hint shows the command that works when this user pastes it", () => {
  const hint = 'Run "maestro resume", or "maestro diff 3 --stat". "maestro" is a program.';
  const program = `node "${ownProgram}"`;
  expect(pasteable(hint, directory)).toBe(
    `Run \`${program} resume\`, or \`${program} diff 3 --stat\`. "maestro" is a program.`,
  );
  script("#!/bin/sh\necho another program of this name\n");
  expect(pasteable(hint, directory)).toContain(`Run \`${program} resume\``);
  script(`${launcherScript}# sealed\n`);
  expect(pasteable(hint, directory)).toBe(hint);
});

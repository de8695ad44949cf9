import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Cell, findSandbox, inSandbox, type Mount } from "./sandbox.ts";

const machine = (path: string, writable = false): Mount => ({ kind: "machine", path, writable });
const empty = (path: string, writable = false): Mount => ({ kind: "empty", path, writable });

describe("the command line of a cell", () => {
  /** bubblewrap's arguments up to the program that it runs. */
  function words(mounts: Mount[], variables: Cell["variables"] = {}): string {
    const { args } = inSandbox("/usr/bin/bwrap", { program: "/bin/agent", args: [] }, { mounts, variables });
    const [first, last] = [args.indexOf("/usr/bin/bwrap") + 1, args.indexOf("--")];
    return args.slice(first, last).join(" ");
  }

  test.each<[what: string, mounts: Mount[], told: string]>([
    ["what the machine has", [machine("/a")], "--ro-bind /a /a"],
    ["a writable path", [machine("/a", true)], "--bind /a /a"],
    ["a private directory", [empty("/a", true)], "--tmpfs /a"],
    ["a link", [{ kind: "link", path: "/a", target: "../b" }], "--symlink ../b /a"],
    ["a hidden file", [{ kind: "void", path: "/a" }], "--dev-bind /dev/null /a"],
  ])("%s", (_, mounts, told) => {
    expect(words(mounts)).toContain(`--cap-drop ALL ${told} --dev /dev --proc /proc --remount-ro /proc`);
  });

  test("parents come before their children, in any order of mounts, and are made read-only last", () => {
    const mounts = [machine("/home/u/work/tree", true), empty("/home/u/work"), machine("/"), empty("/home/u")];
    expect(words(mounts)).toContain(
      [
        "--ro-bind / / --dev /dev --proc /proc --tmpfs /home/u --tmpfs /home/u/work",
        "--bind /home/u/work/tree /home/u/work/tree",
        "--remount-ro /home/u/work --remount-ro /home/u --remount-ro /proc",
      ].join(" "),
    );
  });

  test("an empty root needs no mount", () => {
    expect(words([empty("/"), machine("/usr")])).toContain(
      "ALL --ro-bind /usr /usr --dev /dev --proc /proc --remount-ro / ",
    );
  });

  test("the original of a copy is mounted elsewhere, and the first process inside gets both paths", () => {
    const copy: Mount = { kind: "copy", path: "/home/u/.gemini/settings.json", from: "/dotfiles/settings.json" };
    const { args } = inSandbox("bwrap", { program: "p", args: ["a b"] }, { mounts: [copy], variables: {} });
    expect(args.join(" ")).toContain("--ro-bind /dotfiles/settings.json /run/maestro/0 ");
    expect(args.slice(-5)).toEqual(["/run/maestro/0", copy.path, "--", "p", "a b"]);
  });

  test("variables are set inside, not in the program's arguments", () => {
    expect(words([], { TMPDIR: "/tmp", SANDBOX: "a b" })).toMatch(/ --setenv TMPDIR \/tmp --setenv SANDBOX a b$/);
  });
});

describe("finding a sandbox", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "maestro-bwrap-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function fake(script: string): string {
    const program = join(directory, "bwrap");
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    return program;
  }

  test.each(["darwin", "win32"] as const)("does not work on %s", (platform) => {
    expect(findSandbox(process.env, platform)).toMatchObject({ kind: "missing", reason: "a sandbox needs Linux" });
  });

  test("says when bubblewrap is not installed", () => {
    expect(findSandbox({ PATH: directory }, "linux")).toEqual({
      kind: "missing",
      reason: "bubblewrap (bwrap) is not installed, or not on the PATH",
      hint: expect.stringContaining("apt install bubblewrap"),
    });
    expect(findSandbox({}, "linux").kind).toBe("missing");
  });

  test.each([
    ["setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"],
    ["No permissions to create new namespace, likely because the kernel does not allow it", "user.max_user_namespaces"],
    ["Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"],
    ["Unknown option --cap-drop", "too old"],
    ["Something new", "shows more"],
  ])("says why bubblewrap does not work: %s", (message, hint) => {
    fake(`echo "bwrap: ${message}" >&2; exit 1`);
    expect(findSandbox({ PATH: directory }, "linux")).toEqual({
      kind: "missing",
      reason: `bubblewrap cannot create a sandbox here: ${message}`,
      hint: expect.stringContaining(hint),
    });
  });

  test("returns the first bubblewrap on the PATH that works", () => {
    const program = fake('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
    const PATH = [join(directory, "none"), directory, "/usr/bin", "/bin"].join(delimiter);
    expect(findSandbox({ PATH }, "linux")).toMatchObject({ kind: "found", program });
  });

  test("ignores a bubblewrap that a project could contain", () => {
    fake("exit 0");
    const before = process.cwd();
    process.chdir(directory);
    try {
      expect(findSandbox({ PATH: ["", ".", "none"].join(delimiter) }, "linux").kind).toBe("missing");
    } finally {
      process.chdir(before);
    }
  });
});

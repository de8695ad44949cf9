import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { maestroPath } from "../../test/support/project.ts";
import { MaestroError } from "../errors.ts";
import { readStateFile, writeStateFile } from "../store/files/state-file.ts";
import { Directory, pathFault, resolveInside, withoutDetours } from "./contained.ts";

let outside: string;
let project: string;
beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), "maestro-contained-")));
  project = join(outside, "project");
  mkdirSync(join(project, "real"), { recursive: true });
  writeFileSync(join(project, "real", "file"), "inside");
  writeFileSync(join(outside, "secret"), "outside");
});
afterEach(() => rmSync(outside, { recursive: true }));

const read = (path: string) => {
  const chunks: Buffer[] = [];
  readStateFile(project, path, (chunk) => chunks.push(Buffer.from(chunk)));
  return Buffer.concat(chunks).toString();
};
const refusal = (work: () => void): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof MaestroError) return error.message;
    throw error;
  }
  throw new Error("was not rejected");
};

describe("an open directory", () => {
  test.each(["..", "../secret", "/etc/passwd", "real/file", "real/../../secret", "a\0b", ""])(
    "rejects %j as a name in every operation",
    (name) => {
      const directory = Directory.openRoot(join(project, "real"));
      const uses = [
        () => directory.child(name),
        () => directory.lstat(name),
        () => directory.open(name, 0),
        () => directory.mkdir(name, 0o700),
        () => directory.unlink(name),
        () => directory.rename("file", name),
        () => directory.rename(name, "other"),
        () => directory.link("file", name),
      ];
      try {
        for (const use of uses) expect(refusal(use)).toBe(`Not a file name (got: ${JSON.stringify(name)})`);
      } finally {
        directory.close();
      }
      expect(readdirSync(outside)).toEqual(["project", "secret"]);
      expect(readdirSync(join(project, "real"))).toEqual(["file"]);
    },
  );
});

describe("checking the text of a path", () => {
  test.each([
    ["a/b", undefined],
    ["a..b", undefined],
    ["..a/b..", undefined],
    ["...", undefined],
    ["./a", undefined],
    ["a\\b", undefined],
    ["", "empty"],
    ["a\0b", "nul"],
    ["/a", "absolute"],
    ["\\a", "absolute"],
    ["C:\\a", "absolute"],
    ["c:/a", "absolute"],
    ["..", "traversal"],
    ["../a", "traversal"],
    ["a/../b", "traversal"],
    ["a/..", "traversal"],
    ["..\\a", "traversal"],
    ["a\\..\\b", "traversal"],
  ])("%j is %s (A13, B23, B31)", (path, fault) => {
    expect(pathFault(path)).toBe(fault);
  });

  test.each([
    ["src/c.ts", "src/c.ts"],
    ["./src/../src/c.ts", "src/c.ts"],
    ["/p//a/./b", "/p/a/b"],
    ["src/", "src/"],
    ["a/../../x", "../x"],
    ["/p/../x", "/x"],
    ["a\\..\\b", "a\\..\\b"],
    ["", ""],
    [".", "."],
    ["a/..", "a/.."],
    ["a/../", "a/../"],
  ])("%j is normalized to %j", (path, plain) => {
    expect(withoutDetours(path)).toBe(plain);
  });
});

describe("symbolic links", () => {
  test("are followed while they stay inside the project", () => {
    symlinkSync("real", join(project, "link"));
    symlinkSync(join(project, "real", "file"), join(project, "absolute"));
    expect(read("link/file")).toBe("inside");
    expect(read("absolute")).toBe("inside");
    expect(resolveInside(project, "link/new/deep")).toEqual(["real", "new", "deep"]);
  });

  test("stay links when their target is written", () => {
    symlinkSync("real/file", join(project, "link"));
    writeStateFile(project, "link", Buffer.from("new"));
    expect(readFileSync(join(project, "real", "file"), "utf8")).toBe("new");
  });

  test.each([
    ["a file outside", "../secret", ""],
    ["a directory outside", "..", "/secret"],
    ["an absolute path outside", "", ""],
    ["a path that leaves and comes back", "../project/real/file", ""],
  ])("to %s are rejected for reading and writing (B28)", (_what, target, rest) => {
    symlinkSync(target === "" ? join(outside, "secret") : target, join(project, "link"));
    expect(refusal(() => read(`link${rest}`))).toContain("leaves the project through a symbolic link");
    expect(refusal(() => writeStateFile(project, `link${rest}`, Buffer.from("x")))).toContain("leaves the project");
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("outside");
  });

  test("that form a loop are rejected", () => {
    symlinkSync("b", join(project, "a"));
    symlinkSync("a", join(project, "b"));
    expect(refusal(() => read("a"))).toContain("Too many symbolic links");
  });
});

describe("a path that is not a regular file", () => {
  test("is rejected without blocking: a FIFO", () => {
    spawnSync("mkfifo", [join(project, "fifo")]);
    expect(refusal(() => read("fifo"))).toBe("Not a regular file: fifo");
    expect(refusal(() => writeStateFile(project, "fifo", Buffer.from("x")))).toBe("Not a regular file: fifo");
  });

  test("is rejected: a directory", () => {
    expect(refusal(() => read("real"))).toBe("Not a regular file: real");
    expect(refusal(() => writeStateFile(project, "real", Buffer.from("x")))).toBe("Not a regular file: real");
    expect(refusal(() => writeStateFile(project, "new/", Buffer.from("x")))).toBe("Not a file (got: new/)");
  });

  test.skipIf(process.getuid?.() !== 0)("is rejected: a device (needs root)", () => {
    const made = spawnSync("mknod", [join(project, "device"), "c", "1", "3"]);
    if (made.status !== 0) return;
    expect(refusal(() => read("device"))).toBe("Not a regular file: device");
    expect(refusal(() => writeStateFile(project, "device", Buffer.from("x")))).toBe("Not a regular file: device");
  });
});

describe("a directory swapped for a link between check and use (T8)", () => {
  test("never redirects a write outside the project, in 1000 writes and 1000 swaps", async () => {
    // The swapper replaces `dir` with a link to a directory outside, and deletes the link again, as fast as it can.
    mkdirSync(join(outside, "trap"));
    mkdirSync(join(project, "dir"));
    const swapper = spawn(process.execPath, [
      "-e",
      `const fs = require("node:fs"); process.chdir(process.argv[1]);
       const attempt = (work) => { try { work(); return true; } catch { return false; } };
       for (let n = 0, links = 0; ; n++) {
         attempt(() => fs.renameSync("dir", "aside-" + n));
         if (attempt(() => fs.symlinkSync("../trap", "dir")) && ++links % 100 === 0) fs.writeSync(1, ".");
         attempt(() => fs.unlinkSync("dir"));
       }`,
      project,
    ]);
    let hundreds = "";
    swapper.stdout.on("data", (chunk) => (hundreds += chunk));
    await new Promise((resolve) => swapper.stdout.once("data", resolve));
    let written = 0;
    let refused = 0;
    try {
      const patience = performance.now() + 20_000;
      const enough = () => hundreds.length >= 10 && written > 0 && refused > 0;
      for (let i = 0; i < 1000 || (!enough() && performance.now() < patience); i++) {
        if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
        try {
          writeStateFile(project, `dir/file-${i}`, Buffer.from("x"));
          written += 1;
        } catch (error) {
          if (!(error instanceof MaestroError)) throw error;
          refused += 1;
        }
      }
    } finally {
      swapper.kill("SIGKILL");
      await new Promise((resolve) => swapper.once("exit", resolve));
    }
    expect(spawnSync("ls", ["-A", join(outside, "trap")], { encoding: "utf8" }).stdout).toBe("");
    // Unless some writes passed and some were rejected, there was no race.
    expect(written).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });
});

describe("writing a state file", () => {
  test("replaces it durably, keeps its mode, creates parents and leaves no temporary file (B32, B33)", () => {
    writeStateFile(project, "new/deep/file", Buffer.from("content"));
    expect(readFileSync(join(project, "new/deep/file"), "utf8")).toBe("content");
    expect(spawnSync("ls", ["-A", join(project, "new/deep")], { encoding: "utf8" }).stdout).toBe("file\n");
    spawnSync("chmod", ["640", join(project, "real/file")]);
    writeStateFile(project, "real/file", Buffer.from("x"));
    expect(spawnSync("stat", ["-c", "%a", join(project, "real/file")], { encoding: "utf8" }).stdout.trim()).toBe("640");
  });

  test("works for a name of 255 bytes", () => {
    const name = "n".repeat(255);
    writeStateFile(project, name, Buffer.from("x"));
    expect(existsSync(join(project, name))).toBe(true);
  });

  test("deletes the temporary file of a killed writer in the same directory, and nothing else", () => {
    const killed = spawnSync(process.execPath, [maestroPath, "state", "write", "real/file"], {
      cwd: project,
      input: "x",
      env: { ...process.env, NODE_ENV: "test", MAESTRO_CRASH_AT: "synced:1" },
    });
    expect(killed.signal).toBe("SIGKILL");
    const left = () => readdirSync(join(project, "real")).filter((name) => name.endsWith(".tmp"));
    expect(left()).toHaveLength(1);
    const foreign = `.maestro-00000000-00000000-${killed.pid}-1-${"a".repeat(24)}.tmp`;
    writeFileSync(join(project, "real", foreign), "from another machine");
    writeFileSync(join(project, "real", ".maestro-mine.tmp"), "the user's own");
    writeStateFile(project, "real/file", Buffer.from("x"));
    expect(left().sort()).toEqual([foreign, ".maestro-mine.tmp"].sort());
  });

  test("fails when the project root was moved", () => {
    renameSync(project, join(outside, "moved"));
    expect(() => writeStateFile(project, "x", Buffer.from("x"))).toThrow();
    mkdirSync(project);
  });
});

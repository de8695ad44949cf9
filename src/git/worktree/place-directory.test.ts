import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { openRepository } from "../open.ts";
import { prunePlaces } from "./removal.ts";

let project: GitProject;
beforeEach(() => {
  project = new GitProject();
  project.write("a", "1");
  project.commit();
});
afterEach(() => project.remove());

const FOREIGN = 12345;
const isRoot = process.getuid?.() === 0;
const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

describe("the cache directory of a repository", () => {
  test("is created for the user alone, whatever the umask", async () => {
    const umask = process.umask(0);
    try {
      const { place } = await project.open();
      expect([mode(project.cache), mode(place), mode(join(place, "git"))]).toEqual(["700", "700", "700"]);
    } finally {
      process.umask(umask);
    }
  });

  test.each([0o777, 0o775, 0o722, 0o1777])(
    "is rejected with mode %o, and the hint's command fixes it",
    async (open) => {
      mkdirSync(project.cache);
      chmodSync(project.cache, open);
      await expect(project.open()).rejects.toMatchObject({
        code: "environment",
        message: `The cache directory ${project.cache} is not safe: it is writable by other users (mode ${open.toString(8).padStart(4, "0")})`,
        hint: `Set XDG_CACHE_HOME to a directory that only you can write to, or run: chmod 700 "${project.cache}"`,
      });
      expect(readdirSync(project.cache)).toEqual([]);
      chmodSync(project.cache, 0o700);
      await project.open();
    },
  );

  test("is rejected when other users can write to it", async () => {
    const { place } = await project.open();
    chmodSync(place, 0o777);
    await expect(project.open()).rejects.toThrow(`The cache directory ${place} is not safe`);
  });

  test("is rejected below a directory that others can write to, unless it has the sticky bit", async () => {
    const shared = join(project.base, "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    const cache = join(shared, "mine", "maestro");
    await expect(openRepository(project.path, cache)).rejects.toThrow(
      `${shared} is writable by other users (mode 0777)`,
    );
    expect(readdirSync(shared)).toEqual([]);
    chmodSync(shared, 0o1777);
    expect((await openRepository(project.path, cache)).kind).toBe("open");
    expect(mode(join(shared, "mine"))).toBe("700");
  });

  test("may be a link, whose target is checked", async () => {
    const target = join(project.base, "target");
    mkdirSync(target, { mode: 0o700 });
    symlinkSync(target, project.cache);
    const { place } = await project.open();
    expect(place.startsWith(realpathSync(target))).toBe(true);
    chmodSync(target, 0o777);
    await expect(project.open()).rejects.toThrow(`The cache directory ${target} is not safe`);
  });

  test.skipIf(!isRoot)("is rejected when it belongs to another user, even by root (needs root)", async () => {
    mkdirSync(project.cache, { mode: 0o700 });
    chownSync(project.cache, FOREIGN, FOREIGN);
    await expect(project.open()).rejects.toMatchObject({
      code: "environment",
      message: `The cache directory is not safe: ${project.cache} belongs to user ${FOREIGN}, and you are user 0`,
      hint: expect.stringContaining("XDG_CACHE_HOME"),
    });
    expect(readdirSync(project.cache)).toEqual([]);
    await expect(prunePlaces(project.cache)).rejects.toThrow("is not safe");
  });

  test.skipIf(!isRoot)("is rejected when another user created a file in it (needs root)", async () => {
    const { place } = await project.open();
    for (const planted of [join(place, "git", "commondir"), join(place, "w1.worktree.json")]) {
      writeFileSync(planted, "/elsewhere\n");
      chownSync(planted, FOREIGN, FOREIGN);
      await expect(project.open()).rejects.toThrow(`${planted} belongs to user ${FOREIGN}`);
      chownSync(planted, 0, 0);
    }
  });
});

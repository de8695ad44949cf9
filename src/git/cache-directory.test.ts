import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cacheRoot } from "./cache-directory.ts";

describe("worktrees are kept in the user's cache directory", () => {
  test.each<[platform: NodeJS.Platform, env: Record<string, string>, path: string]>([
    ["linux", { HOME: "/home/u" }, "/home/u/.cache/maestro"],
    ["linux", { HOME: "/home/u", XDG_CACHE_HOME: "/var/cache/u" }, "/var/cache/u/maestro"],
    ["linux", { HOME: "/home/u", XDG_CACHE_HOME: "cache" }, "/home/u/.cache/maestro"],
    ["linux", { HOME: "/home/u", XDG_CACHE_HOME: "" }, "/home/u/.cache/maestro"],
    ["freebsd", { HOME: "/home/u" }, "/home/u/.cache/maestro"],
    ["darwin", { HOME: "/Users/u" }, "/Users/u/Library/Caches/maestro"],
    ["darwin", { HOME: "/Users/u", XDG_CACHE_HOME: "/Users/u/.cache" }, "/Users/u/.cache/maestro"],
    ["win32", { LOCALAPPDATA: "C:\\Users\\u\\AppData\\Local" }, "C:\\Users\\u\\AppData\\Local\\maestro\\cache"],
    ["win32", { USERPROFILE: "C:\\Users\\u" }, "C:\\Users\\u\\AppData\\Local\\maestro\\cache"],
    ["win32", { USERPROFILE: "C:\\Users\\u", XDG_CACHE_HOME: "D:\\cache" }, "D:\\cache\\maestro"],
  ])("on %s with %j", (platform, env, path) => {
    expect(cacheRoot(env, platform)).toBe(path);
  });

  test.each([{}, { HOME: "" }, { HOME: "relative" }])("with %j in the home directory that the system knows", (env) => {
    expect(cacheRoot(env, "linux")).toBe(join(homedir(), ".cache", "maestro"));
  });
});

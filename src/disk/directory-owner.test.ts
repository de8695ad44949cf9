import { describe, expect, test } from "vitest";
import { whyForeign } from "./directory-owner.ts";

const of = (user: number, project = user) => ({ user, project: () => project });

describe("a directory of the state tree", () => {
  test.each([
    ["owned by the user", { uid: 1000, mode: 0o40700 }, of(1000)],
    ["owned by the user, created with umask 002", { uid: 1000, mode: 0o40775 }, of(1000)],
    ["owned by the user, with setgid", { uid: 1000, mode: 0o42775 }, of(1000)],
    ["owned by root", { uid: 0, mode: 0o40755 }, of(1000)],
    ["owned by root, when root runs", { uid: 0, mode: 0o40755 }, of(0)],
    ["owned by the project's owner, when root runs", { uid: 1000, mode: 0o40755 }, of(0, 1000)],
  ])("is trusted: %s", (_, stat, whose) => expect(whyForeign(stat, whose)).toBe(undefined));

  test.each([
    ["owned by another user", { uid: 1001, mode: 0o40700 }, of(1000), "owner"],
    ["owned by another user, in that user's project", { uid: 1001, mode: 0o40700 }, of(1000, 1001), "owner"],
    [
      "owned by another user, when root runs in a third user's project",
      { uid: 1001, mode: 0o40700 },
      of(0, 1000),
      "owner",
    ],
    ["owned by the user, writable by everyone", { uid: 1000, mode: 0o40757 }, of(1000), "writable"],
    [
      "owned by the user, writable by everyone, with the sticky bit",
      { uid: 1000, mode: 0o41777 },
      of(1000),
      "writable",
    ],
    ["owned by root, writable by everyone", { uid: 0, mode: 0o40777 }, of(1000), "writable"],
  ])("is rejected: %s", (_, stat, whose, why) => expect(whyForeign(stat, whose)).toBe(why));
});

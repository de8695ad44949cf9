import { describe, expect, test } from "vitest";
import { whyForeign } from "./directory-owner.ts";

const of = (user: number, project = user) => ({ user, project: () => project });

describe("a directory of the state tree", () => {
  test.each([
    ["one's own", { uid: 1000, mode: 0o40700 }, of(1000)],
    ["one's own, as umask 002 makes it", { uid: 1000, mode: 0o40775 }, of(1000)],
    ["one's own, with the group of its parent", { uid: 1000, mode: 0o42775 }, of(1000)],
    ["root's", { uid: 0, mode: 0o40755 }, of(1000)],
    ["root's, for root", { uid: 0, mode: 0o40755 }, of(0)],
    ["of the project's owner, for root", { uid: 1000, mode: 0o40755 }, of(0, 1000)],
  ])("is trusted: %s", (_, stat, whose) => expect(whyForeign(stat, whose)).toBe(undefined));

  test.each([
    ["another user's", { uid: 1001, mode: 0o40700 }, of(1000), "owner"],
    ["another user's, in that user's project", { uid: 1001, mode: 0o40700 }, of(1000, 1001), "owner"],
    ["another user's, for root in a third one's project", { uid: 1001, mode: 0o40700 }, of(0, 1000), "owner"],
    ["one's own that every user can write", { uid: 1000, mode: 0o40757 }, of(1000), "writable"],
    ["one's own that every user can write, though not remove from", { uid: 1000, mode: 0o41777 }, of(1000), "writable"],
    ["root's that every user can write", { uid: 0, mode: 0o40777 }, of(1000), "writable"],
  ])("is refused: %s", (_, stat, whose, why) => expect(whyForeign(stat, whose)).toBe(why));
});

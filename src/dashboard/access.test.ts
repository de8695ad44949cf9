import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Access } from "./access.ts";

test("a code works once, and a newer one replaces it", () => {
  const access = new Access(randomBytes, () => 0);
  const first = access.newCode();
  const second = access.newCode();
  expect(second).toMatch(/^[a-hjkmnp-z2-9]{16}$/);
  expect(access.login(first)).toBe("refused");
  expect(access.login(second)).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/) });
  expect(access.login(second)).toBe("refused");
});

test("ten logins a minute are tried, right or wrong", () => {
  let now = 0;
  const access = new Access(randomBytes, () => now);
  const code = access.newCode();
  for (let at = 0; at < 10; at += 1) expect(access.login("wrong")).toBe("refused");
  expect(access.login(code)).toBe("too_many");
  now = 60_001;
  expect(access.login(code)).toMatchObject({ token: expect.any(String) });
});

test.each([undefined, "", "Bearer", "Bearer x", "Basic abc", null])("%j lets nothing in", (header) => {
  const access = new Access(randomBytes, () => 0);
  access.login(access.newCode());
  expect(access.allows(header as string)).toBe(false);
});

test("only a token that was given out lets in", () => {
  const access = new Access(randomBytes, () => 0);
  const { token } = access.login(access.newCode()) as { token: string };
  expect(access.allows(`Bearer ${token}`)).toBe(true);
  expect(access.allows(`bearer ${token}`)).toBe(false);
  expect(access.allows(`Bearer ${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`)).toBe(false);
  expect(access.login({ code: 1 })).toBe("refused");
});

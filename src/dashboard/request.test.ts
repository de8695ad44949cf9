import { describe, expect, test } from "vitest";
import { type AskedRequest, routeOf } from "./request.ts";

const PORT = 4321;
const usual: AskedRequest = {
  method: "GET",
  target: "/api/sessions",
  host: `127.0.0.1:${PORT}`,
  origin: undefined,
  fetchSite: undefined,
  contentType: undefined,
};
const asked = (change: Partial<AskedRequest>) => routeOf({ ...usual, ...change }, PORT);
const status = (change: Partial<AskedRequest>) => {
  const route = asked(change);
  return "status" in route ? route.status : route.kind;
};

describe("a request (T11)", () => {
  test.each([
    undefined,
    "",
    "127.0.0.1",
    `127.0.0.1:${PORT + 1}`,
    `evil.test:${PORT}`,
    `127.0.0.1.evil.test:${PORT}`,
    `0.0.0.0:${PORT}`,
    `0:${PORT}`,
    `[::1]:${PORT}`,
    `127.1:${PORT}`,
    `127.0.0.1:${PORT}, evil.test`,
    `localhost:${PORT}.`,
    `LOCALHOST:${PORT}`,
  ])("to the host %j is refused, for the page too", (host) => {
    expect(status({ host })).toBe(403);
    expect(status({ host, target: "/" })).toBe(403);
  });

  test("whose origin equals its foreign host is refused: that is DNS rebinding", () => {
    expect(status({ host: `evil.test:${PORT}`, origin: `http://evil.test:${PORT}` })).toBe(403);
  });

  test.each([
    "null",
    "http://evil.test",
    `http://127.0.0.1:${PORT + 1}`,
    `https://127.0.0.1:${PORT}`,
    `http://localhost:${PORT}`,
    `http://127.0.0.1:${PORT}/`,
  ])("of the origin %s is refused", (origin) => expect(status({ origin })).toBe(403));

  test.each(["cross-site", "same-site", "none"])("that a browser calls %s does not reach the API", (fetchSite) => {
    expect(status({ fetchSite })).toBe(403);
    expect(status({ fetchSite, target: "/" })).toBe("page");
  });

  test("of the page itself is let in, by either name", () => {
    for (const host of [`127.0.0.1:${PORT}`, `localhost:${PORT}`]) {
      expect(status({ host, origin: `http://${host}`, fetchSite: "same-origin" })).toBe("sessions");
    }
  });
});

describe("a method", () => {
  const paths = [
    "/",
    "/api/login",
    "/api/sessions",
    "/api/sessions/a/records",
    "/api/sessions/a/decisions",
    "/api/sessions/a/attempts/1/1/log",
    "/api/sessions/a/attempts/1/1/diff",
    "/nothing",
  ];
  test.each(["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT", "get", "PROPFIND"])(
    "%s is answered nowhere",
    (method) => {
      for (const target of paths)
        expect([404, 405], `${method} ${target}`).toContain(
          status({ method, target, contentType: "application/json" }),
        );
    },
  );

  test("POST is for login and decisions, GET for the rest", () => {
    const post = { method: "POST", contentType: "application/json" };
    expect(status({ ...post, target: "/api/login" })).toBe("login");
    expect(status({ ...post, target: "/api/sessions/a/decisions" })).toBe("decisions");
    expect(status({ ...post, target: "/api/sessions" })).toBe(405);
    expect(status({ target: "/api/login" })).toBe(405);
    expect(status({ target: "/api/sessions/a/decisions" })).toBe(405);
  });

  test.each([undefined, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data"])(
    "POST with the type %j is refused: a form can send it without asking",
    (contentType) => expect(status({ method: "POST", target: "/api/login", contentType })).toBe(415),
  );
});

describe("an address", () => {
  test.each([
    "/api",
    "/api/",
    "/api/sessions/",
    "/api/sessions//records",
    "/api/sessions/a",
    "/api/sessions/a/records/b",
    "/api/sessions/a/attempts/1/0/log",
    "/api/sessions/a/attempts/1/-1/log",
    "/api/sessions/a/attempts/1/1",
    "/api/sessions/a/attempts/1/1/passwd",
    "/api/sessions/a/attempts/1/1/log/..",
    "/api/sessions/a/attempts/1/1/log?part=secret",
    "/../etc/passwd",
    "/index.html",
    "//evil.test/",
    "http://evil.test/",
    "/%",
    "/api/sessions/%/records",
  ])("%s leads nowhere", (target) => expect(status({ target })).toBe(404));

  test("names a session, a phase, an attempt and a place in its log", () => {
    expect(asked({ target: "/api/sessions/2026-a/attempts/3%2Fb/2/log?from=77&part=errors" })).toEqual({
      kind: "log",
      session: "2026-a",
      phase: "3/b",
      attempt: 2,
      part: "errors",
      from: 77,
    });
    expect(asked({ target: "/api/sessions/a/records?after=x" })).toMatchObject({ kind: "records", after: 0 });
    expect(status({ target: `/${"a".repeat(3000)}` })).toBe(414);
  });
});

import { describe, expect, test } from "vitest";
import { quotaSign, retryHint } from "./quota.ts";

describe("signs of quota problems on stderr while the attempt still runs (F17)", () => {
  // Gemini CLI 0.61 wrote the first five.
  test.each<[string, number | null]>([
    ['Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429}}', null],
    ["    at async Turn.run (file:///x.js:333001:24) {\n  status: 429\n}", null],
    [
      "Attempt 1 failed: Quota exceeded for metric x. Please retry in 3.2s.\nSuggested retry after 3s.. Retrying after 5603ms...",
      3_000,
    ],
    ["  cause: {\n    code: 429,\n    message: 'no',\n  retryDelayMs: 12000,", 12_000],
    ["TerminalQuotaError: You have exhausted your daily quota on this model.", null],
    ["You exceeded your current quota, please check your plan and billing details.", null],
    ["You have exhausted your capacity on this model. Your quota will reset after 1h2m3s.", 3_723_000],
    ['{"error":{"code": 429,"details":[{"retryDelay":"12.5s"}]}}', 12_500],
    ['"{\\"error\\":{\\"code\\":429,\\"details\\":[{\\"retryDelay\\":\\"7s\\"}]}}"', 7_000],
    ["RESOURCE_EXHAUSTED", null],
    ["Resource has been exhausted (e.g. check quota).", null],
    ["HTTP/1.1 429 Too Many Requests\r\nretry-after: 7", 7_000],
    ["statusCode: 429", null],
    ["Rate limit exceeded", null],
  ])("%j", (stderr, retryAfterMs) => {
    expect(quotaSign(stderr)).toEqual({ retryAfterMs });
  });

  test.each([
    [""],
    ["YOLO mode is enabled. All tool calls will be automatically approved."],
    ["src/limits.ts: line 429 changed"],
    ["quota.ts changed"],
    ["429 tests passed"],
    ["Attempt 1 failed: The model is overloaded. Retrying after 5603ms..."],
    ["Attempt 1 failed with status 503. Retrying with backoff..."],
    ["status: 4290"],
    ["code: 42"],
    ["see the quota section; it asks to retry in 5s"],
    ["too many requests to the database were made by the old code"],
    ["Error executing tool web_fetch: Request failed with status code 429 Too Many Requests"],
  ])("%j is not a quota problem", (stderr) => {
    expect(quotaSign(stderr)).toBeNull();
  });
});

describe("how long to wait", () => {
  test.each<[string, number | null]>([
    ['retryDelay: "12s"', 12_000],
    ['retryDelay":"12.5s"', 12_500],
    ["retryDelay: '250ms'", 250],
    ["retry in 12s", 12_000],
    ["Please retry in 3.2s.", 3_200],
    ["please retry in 900.5ms", 901],
    ["retry after 2 minutes", 120_000],
    ["retry in 30 seconds", 30_000],
    ["retry-after: 7", 7_000],
    ["'Retry-After': '7'", 7_000],
    ["retryDelayMs: 3600000", 3_600_000],
    ["retry in 60s ... retry in 5s", 5_000],
    ["retry-after: 9 and then retry in 1m30s", 90_000],
    ["retry in 999999999h", 86_400_000],
    ["retryDelay: 0s", null],
    ["retryDelayMs: undefined", null],
    ["Retrying after 5603ms...", null],
    ["retry in a while", null],
    ["retry in 5 parsecs", null],
    ["retry-after: Wed, 21 Oct 2026 07:28:00 GMT", null],
    ["retry-after: 7-11", null],
    ["", null],
  ])("%j: %s", (text, ms) => {
    expect(retryHint(text)).toBe(ms);
  });
});

import { expect, test } from "vitest";
import { servedPolicy } from "./page.ts";

test("the served page runs its own script and style alone, talks to its own server alone, and is in no frame", () => {
  const policy = servedPolicy({ html: "", script: "let a = 1;", style: "a{}" });
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}'; /);
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
});

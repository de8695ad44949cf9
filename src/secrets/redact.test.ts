import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeRedactor } from "./redact.ts";

const redact = makeRedactor({});
const letters = (count: number) => "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA".repeat(9).slice(0, count);

// Built from parts, so that no scanner takes this file for a leak.
const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"].join(
  ".",
);
const keyLines = [letters(64), letters(64), `${letters(20)}==`];
const pem = (kind: string, newline: string) =>
  [`-----BEGIN ${kind}-----`, ...keyLines, `-----END ${kind}-----`].join(newline);

const secrets: [string, string][] = [
  ["a Google API key", `AIza${letters(35)}`],
  ["a Google access token", `ya29.${letters(60)}`],
  ["an OpenAI key", `sk-${letters(48)}`],
  ["a plain key of that kind", `sk-${"abcdefghij1234567890"}`],
  ["an OpenAI project key", `sk-proj-${letters(20)}_${letters(9)}-${letters(20)}`],
  ["an Anthropic key", `sk-ant-api03-${letters(40)}-${letters(40)}`],
  ["an OpenRouter key", `sk-or-v1-${"0123456789abcdef".repeat(4)}`],
  ["a GitHub token", `ghp_${letters(36)}`],
  ["a GitHub OAuth token", `gho_${letters(36)}`],
  ["a GitHub server token", `ghs_${letters(36)}`],
  ["a fine-grained GitHub token", `github_pat_${letters(22)}_${letters(59)}`],
  ["a GitLab token", `glpat-${letters(20)}`],
  ["an npm token", `npm_${letters(36)}`],
  ["an AWS key id", `AKIA${"IOSFODNN7EXAMPLE"}`],
  ["a Slack token", `xoxb-${"123456789012"}-${letters(24)}`],
  ["a Slack app token", `xoxa-2-${letters(24)}`],
  ["a Slack user token", `xoxp-${"1234567890"}-${letters(24)}`],
  ["a Stripe key", `sk_live_${letters(24)}`],
  ["a JSON web token", jwt],
  ["a private key", pem("PRIVATE KEY", "\n")],
  ["an RSA key with Windows line ends", pem("RSA PRIVATE KEY", "\r\n")],
  ["an OpenSSH key in a JSON string", pem("OPENSSH PRIVATE KEY", "\\n")],
  ["a PGP key", pem("PGP PRIVATE KEY BLOCK", "\n")],
];

test("redacts the worker key and the queue's password whatever they look like", () => {
  const own = makeRedactor({ MAESTRO_WORKER_KEY: "correct horse battery staple", MAESTRO_QUEUE_PASSWORD: "letmein" });
  expect(own("key correct horse battery staple, password letmein.")).toBe("key [redacted], password [redacted].");
});

describe("known shapes (T9, P12)", () => {
  test.each(secrets)("redacts %s anywhere in a text", (_what, secret) => {
    expect(redact(secret)).toBe("[redacted]");
    expect(redact(`key=${secret}`)).toBe("key=[redacted]");
    expect(redact(`{"a":"x\\n${secret}"}`)).toBe('{"a":"x\\n[redacted]"}');
    expect(redact(`a "${secret}" b\n(${secret})`)).toBe('a "[redacted]" b\n([redacted])');
  });

  test.each([
    [`Authorization: Bearer ${letters(20)}`, "Authorization: Bearer [redacted]"],
    [`curl -H 'authorization: bearer abc.def-1'`, "curl -H 'authorization: bearer [redacted]'"],
    [`{"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}`, `{"Authorization": "Basic [redacted]"}`],
    [`{\\"Authorization\\": \\"Bearer ${letters(12)}\\"}`, `{\\"Authorization\\": \\"Bearer [redacted]\\"}`],
  ])("redacts the token of %s and keeps its header", (text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  test("redacts a private key without an end as far as it looks like a key", () => {
    const text = `-----BEGIN RSA PRIVATE KEY-----\n${letters(64)}\n${letters(64)}\nand then the disk was full`;
    expect(redact(text)).toBe("[redacted]\nand then the disk was full");
  });
});

describe("text that is not a secret stays", () => {
  test.each([
    ["prose", "The task-runner asks the risk-assessment-committee-2026 about disk-usage-statistics."],
    ["words with sk-", "sk-learn, sk-SK, class sk-loading-spinner-container-2, task-abcdefghijklmnopqrstuvwxyz"],
    ["a git hash", "commit 1a7b27c0b90aeed170ce0906662ff4540271a7b2"],
    ["a short hash", "1a7b27c refactor(session)"],
    ["a UUID", "550e8400-e29b-41d4-a716-446655440000"],
    ["a SHA-256", `sha256-${"0123456789abcdef".repeat(4)}`],
    ["an integrity", "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="],
    ["paths", "/home/ada/.ssh/id_ed25519 and C:\\Users\\ada\\key.pem and src/session/events.ts"],
    ["addresses", "https://example.com/oauth2/v2/auth?client_id=app&scope=openid"],
    ["a public key", "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----"],
    ["the name of a key block", "A key begins with -----BEGIN RSA PRIVATE KEY----- and is never shown."],
    [
      "prose about headers",
      "Authorization: Bearer authentication is required; Authorization: Bearer <token>, Bearer $TOKEN",
    ],
    ["npm variables", "npm_config_registry npm_package_name npm_lifecycle_event"],
    ["words that start like keys", "AKIAB AIzawa ghp_ eyJ eyJhbGci.eyJ xoxb"],
  ])("%s", (_what, text) => {
    expect(redact(text)).toBe(text);
  });
});

describe("values of variables (T9)", () => {
  test.each([
    ["GEMINI_API_KEY", "0a1b2c3d4e5f6a7b"],
    ["OPENAI_APIKEY", "aB3dE5gH7jK9mN1p"],
    ["GEMINI_API_KEY", "my-own-key"],
    ["SIGNING_KEY", "test-key-1234567890"],
    ["CANARY_SECRET", "canary-4711-in-the-mine"],
    ["DB_PASSWORD", "correct horse battery"],
    ["PGPASSWORD", "Tr0ub4dor&3"],
    ["SMTP_PASS", "12345678"],
    ["MYSQL_PASSWD", "password123"],
    ["npm_config_//packages.example.org/:_authToken", "11111111-2222-3333-4444-555555555555"],
    ["HEROKU_API_KEY", "550e8400-e29b-41d4-a716-446655440000"],
    ["LICENSE_KEY", "AB12-CD34-EF56-GH78"],
    ["AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
    ["SECRET_KEY_BASE", "0123456789abcdef".repeat(8)],
    ["NPM_AUTH", "dXNlcjpwYXNz"],
    ["BASIC_AUTH", "ada:Tr0ub4dor"],
    ["SERVICE_CREDENTIALS", '{"private_key_id": "0a1b2c3d4e5f"}'],
    ["PRIVATE_SEED", "0a1b2c3d4e5f6a7b"],
  ])("redacts %s=%s, also inside longer text", (name, value) => {
    const clean = makeRedactor({ [name]: value });
    expect(clean(`<${value}> x${value}y\n${value}`)).toBe("<[redacted]> x[redacted]y\n[redacted]");
    expect(clean(JSON.stringify({ a: `it is ${value}!` }))).toBe('{"a":"it is [redacted]!"}');
  });

  test.each([
    ["SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"],
    ["SSH_AUTH_SOCK", "/tmp/ssh-9aXbYcZdQ1/agent.4242"],
    ["SSH_AUTH_SOCK", "/private/tmp/com.apple.launchd.aB3dE5gH7j/Listeners"],
    ["XAUTHORITY", "/run/user/1000/.mutter-Xwaylandauth.A1B2C3"],
    ["GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/keys/service-1a2b3c4d5e.json"],
    ["TLS_PRIVATE_KEY", "C:\\keys\\a1b2c3d4e5.pem"],
    ["API_TOKEN", "~/.config/token-1a2b3c4d"],
    ["KEYBOARD", "logitech-g915x-1a2b3c4d5e"],
    ["MONKEY_BUSINESS", "monkey-business"],
    ["GIT_AUTHOR_NAME", "Ada Lovelace 1815a2b3c4d"],
    ["TOKENIZERS_PARALLELISM", "a1b2c3d4e5f6"],
    ["NODE_ENV", "production"],
    ["AUTH_MODE", "production"],
    ["APP_SECRET", "production"],
    ["PASSWORD", "PASSWORD"],
    ["AUTH_REQUIRED", "true"],
    ["API_KEY", "short1"],
    ["AUTH_TYPE", "oauth-personal"],
    ["AUTH_URL", "https://auth.example.com/v1beta1/oauth2/token"],
    ["AUTH_TIMEOUT", "86400000"],
    ["MAX_TOKENS", "100000000"],
    ["SORT_KEY", "created_at"],
    ["KEY_COLUMN", "customer_id"],
    ["SECRET_NAME", "my-database-secret"],
    ["TOKEN_TYPE", "application/json"],
    ["PRIVATE_SUBNETS", "10.0.1.0/24,10.0.2.0/24"],
    ["PRIVATE_REPO", "GoogleCloudPlatform"],
    ["GIT_COMMIT", "1a7b27c0b90aeed170ce0906662ff4540271a7b2"],
    ["HOME_TOKEN", undefined],
    ["EMPTY_SECRET", "        "],
  ])("keeps %s=%s", (name, value) => {
    const text = `before ${value} after`;
    expect(makeRedactor({ [name]: value })(text)).toBe(text);
  });

  test("redacts the longer of two values first", () => {
    expect(makeRedactor({ A_TOKEN: "abcd1234", B_TOKEN: "abcd1234efgh5678" })("abcd1234efgh5678 abcd1234")).toBe(
      "[redacted] [redacted]",
    );
  });

  test("never leaves a long random value of a telling name, and does not change redacted text again", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 12, maxLength: 40, unit: fc.constantFrom(..."abcdefXYZ0123456789+=_$&") }),
        fc.string(),
        fc.string(),
        (value, before, after) => {
          fc.pre(/\d/.test(value));
          const clean = makeRedactor({ MY_TOKEN: value });
          const once = clean(before + value + after);
          expect(once).not.toContain(value);
          expect(clean(once)).toBe(once);
        },
      ),
    );
  });
});

describe("time and space", () => {
  const size = 2_000_000;
  test.each([
    ["keys without an end", `AIza${"a".repeat(size)}`],
    ["starts of tokens", "eyJ-".repeat(size / 4)],
    ["a token whose second part never ends", `eyJaaaaaaaaaa.eyJ${"a".repeat(size)}`],
    ["key blocks that only start", "-----BEGIN PRIVATE KEY-----".repeat(size / 27)],
    ["a key block with hyphens", `-----BEGIN PRIVATE KEY-----${"a-".repeat(size / 2)}`],
    ["a key block of spaces", `-----BEGIN PRIVATE KEY-----${" ".repeat(size)}`],
    ["a key block of key lines", `-----BEGIN PRIVATE KEY-----${`${"A".repeat(64)}\n`.repeat(size / 65)}`],
    ["headers", "Authorization: Bearer ".repeat(size / 22)],
    ["a header without an end", `Authorization: Bearer ${"a".repeat(size)}`],
    ["hyphens", "-".repeat(size)],
    ["starts of the value", "abc123".repeat(size / 6)],
  ])("grow at most linearly with the text: %s", (_what, text) => {
    const clean = makeRedactor({ MY_TOKEN: `${"abc123".repeat(20)}!` });
    const before = process.cpuUsage();
    expect(clean(text).length).toBeGreaterThan(0);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(3);
  });
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import { describe, expect, test } from "vitest";
import { makeRedactor } from "./redact.ts";
import { makeParts, tokenWords } from "./secret-shapes.ts";

const redact = makeRedactor({});
// Built from parts, so that no scanner takes this file for a leak.
const mixed = (count: number) => "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA".repeat(90).slice(0, count);
const hex = (count: number) => "0123456789abcdef".repeat(20).slice(0, count);
const upper = (count: number) => "A1B2C3D4E5F6G7H8J9K0".repeat(9).slice(0, count);
const lower = (count: number) => "a1b2c3d4e5f6g7h8j9k0".repeat(9).slice(0, count);
const uuid = "550e8400-e29b-41d4-a716-446655440000";

/** Real formats, by the row of the table that matches them. */
const tokens: Record<string, string[]> = {
  "Google API key": [`AIza${mixed(35)}`],
  "Google access token": [`ya29.a0${mixed(160)}`, `ya29.c.${mixed(120)}`],
  "Google OAuth client secret": [`GOCSPX-${mixed(28)}`],
  "Google refresh token": [`1//0${mixed(60)}-${mixed(30)}`],
  "OpenAI, Anthropic or OpenRouter key": [
    `sk-${mixed(48)}`,
    `sk-proj-${mixed(74)}_T3BlbkFJ${mixed(74)}`,
    `sk-svcacct-${mixed(60)}`,
    `sk-admin-${mixed(60)}`,
    `sk-ant-api03-${mixed(93)}AA`,
    `sk-ant-oat01-${mixed(93)}AA`,
    `sk-or-v1-${hex(64)}`,
  ],
  "xAI key": [`xai-${mixed(80)}`],
  "Groq key": [`gsk_${mixed(52)}`],
  "Perplexity key": [`pplx-${mixed(48)}`],
  "Replicate token": [`r8_${mixed(37)}`],
  "Hugging Face token": [`hf_${mixed(34)}`],
  "Hugging Face organisation token": [`api_org_${mixed(34)}`],
  "NVIDIA key": [`nvapi-${mixed(64)}`],
  "Cerebras key": [`csk-${lower(48)}`],
  "Fireworks key": [`fw_${mixed(22)}`],
  "LangSmith key": [`lsv2_pt_${hex(32)}_${hex(10)}`],
  "Pinecone key": [`pcsk_${mixed(6)}_${mixed(60)}`],
  "Tavily key": [`tvly-dev-${mixed(32)}`],
  "GitHub token": [..."opsur"].map((kind) => `gh${kind}_${mixed(36)}`).concat(`ghs_123456_${mixed(30)}.${mixed(40)}`),
  "GitHub fine-grained token": [`github_pat_${mixed(22)}_${mixed(59)}`],
  "GitLab token": ["pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "oas", "soat", "ffct"]
    .map((kind) => `gl${kind}-${mixed(20)}`)
    .concat(`glpat-${mixed(27)}.01.${lower(9)}`, `glcbt-64_${mixed(20)}`),
  "GitLab runner registration token": [`GR1348941${mixed(20)}`],
  "Bitbucket app password": [`ATBB${mixed(32)}`],
  "Atlassian token": [`ATATT3xFfGF0${mixed(160)}=${upper(8)}`, `ATCTT3xFfGN0${mixed(160)}=${upper(8)}`],
  "npm token": [`npm_${mixed(36)}`],
  "PyPI token": [`pypi-AgEIcHlwaS5vcmc${mixed(120)}`],
  "RubyGems key": [`rubygems_${hex(48)}`],
  "crates.io token": [`cio${mixed(32)}`],
  "Docker token": [`dckr_pat_${mixed(27)}`, `dckr_oat_${mixed(32)}`],
  "AWS key id": [`AKIA${upper(16)}`, `ASIA${upper(16)}`],
  "AWS Bedrock key": [`ABSK${mixed(128)}=`],
  "Alibaba key id": [`LTAI${mixed(20)}`],
  "Databricks token": [`dapi${hex(32)}`, `dapi${hex(32)}-2`],
  "Stripe key": [`sk_live_${mixed(24)}`, `rk_live_${mixed(99)}`, `sk_test_${mixed(99)}`],
  "webhook signing secret": [`whsec_${mixed(32)}`],
  "Twilio id or key": [`SK${hex(32)}`, `AC${hex(32)}`],
  "SendGrid key": [`SG.${mixed(22)}.${mixed(43)}`],
  "Mailgun key": [`key-${hex(32)}`],
  "Brevo key": [`xkeysib-${hex(64)}-${mixed(16)}`, `xsmtpsib-${hex(64)}-${mixed(16)}`],
  "Resend key": [`re_${mixed(8)}_${mixed(24)}`],
  "Slack token": [..."aboprs"]
    .map((kind) => `xox${kind}-123456789012-123456789012-${mixed(24)}`)
    .concat(`xoxe.xoxp-1-${mixed(80)}`, `xoxe-1-${mixed(80)}`, `xoxc-123456789012-${mixed(40)}`),
  "Slack app token": [`xapp-1-A0123456789-1234567890123-${hex(64)}`],
  "Discord MFA token": [`mfa.${mixed(84)}`],
  "Notion token": [`ntn_${mixed(46)}`],
  "Notion integration secret": [`secret_${mixed(43)}`],
  "Linear key": [`lin_api_${mixed(40)}`],
  "Figma token": [`figd_${mixed(43)}`],
  "Airtable token": [`pat${mixed(14)}.${hex(64)}`],
  "Postman key": [`PMAK-${hex(24)}-${hex(34)}`],
  "Typeform token": [`tfp_${mixed(44)}_${mixed(14)}`],
  "ClickUp token": [`pk_1234567_${upper(32)}`],
  "Shopify token": ["at", "ca", "pa", "ss"].map((kind) => `shp${kind}_${hex(32)}`),
  "Square token": [`sq0atp-${mixed(22)}`, `sq0csp-${mixed(43)}`],
  "Square or Facebook access token": [`EAAA${mixed(60)}`, `EAA${mixed(180)}`],
  "PayPal access token": [`access_token$production$${lower(16)}$${hex(32)}`],
  "Plaid token": [`access-production-${uuid}`],
  "Vault token": [`hvs.${mixed(24)}`, `hvb.${mixed(140)}`],
  "DigitalOcean token": [`dop_v1_${hex(64)}`, `doo_v1_${hex(64)}`],
  "Heroku key": [`HRKU-${uuid}`, `HRKU-AA${mixed(58)}`],
  "Fly token": [`fo1_${mixed(43)}`, `fm2_${mixed(200)},fm2_${mixed(200)}`],
  "Vercel Blob token": [`vercel_blob_rw_${mixed(16)}_${mixed(30)}`],
  "Netlify token": [`nfp_${mixed(36)}`],
  "Cloudflare origin CA key": [`v1.0-${hex(24)}-${hex(146)}`],
  "Supabase token": [`sbp_${hex(40)}`],
  "Supabase secret key": [`sb_secret_${mixed(22)}_${mixed(8)}`],
  "PlanetScale secret": [`pscale_tkn_${mixed(43)}`, `pscale_pw_${mixed(43)}`],
  "Neon key": [`napi_${lower(64)}`],
  "Doppler token": [`dp.pt.${mixed(43)}`, `dp.st.dev.${mixed(43)}`],
  "Grafana token": [`glc_${mixed(80)}==`, `glsa_${mixed(32)}_${hex(8)}`],
  "New Relic key": [`NRAK-${upper(27)}`, `NRJS-${hex(19)}`],
  "Sentry token": [`sntrys_eyJ${mixed(100)}=_${mixed(43)}`, `sntryu_${hex(64)}`],
  "PostHog key": [`phx_${mixed(43)}`],
  "Dynatrace token": [`dt0c01.${upper(24)}.${upper(64)}`],
  "Sonar token": [`squ_${hex(40)}`],
  "Buildkite token": [`bkua_${hex(40)}`],
  "CircleCI token": [`CCIPAT_${mixed(22)}_${hex(40)}`],
  "Artifactory key": [`AKCp${mixed(69)}`],
  "Artifactory reference token": [`cmVmdGtuO${mixed(55)}`],
  "Pulumi token": [`pul-${hex(40)}`],
  "Contentful token": [`CFPAT-${mixed(43)}`],
  "Tailscale key": [`tskey-auth-${mixed(12)}CNTRL-${mixed(32)}`],
  "1Password service account token": [`ops_eyJ${mixed(200)}`],
  "Mapbox secret token": [`sk.eyJ${mixed(60)}.${mixed(22)}`],
  "age secret key": [`AGE-SECRET-KEY-1${upper(58)}`],
  "password hash": [`$apr1$${mixed(8)}$${mixed(22)}`, `$2y$10$${mixed(53)}`, `$6$${mixed(16)}$${mixed(86)}`],
  "Telegram bot token": [`1234567890:AA${mixed(33)}`],
  "Discord bot token": [`M${mixed(25)}.${mixed(6)}.${mixed(38)}`],
  "Mailchimp key": [`${hex(32)}-us12`],
  "Terraform token": [`${mixed(14)}.atlasv1.${mixed(67)}`],
  "Azure client secret": [`${mixed(3)}8Q~${mixed(34)}`],
  "Azure DevOps token": [`${mixed(76)}AZDO${mixed(4)}`],
  "Asana token": [`1/1234567890123456:${hex(32)}`],
  "JSON web token": [`eyJ${mixed(30)}.eyJ${mixed(60)}.${mixed(43)}`],
};

/** The text around the secret stays. */
const inContext: Record<string, [text: string, clean: string][]> = {
  "private key": [[`-----BEGIN EC PRIVATE KEY-----\n${mixed(64)}\n-----END EC PRIVATE KEY-----`, "[redacted]"]],
  "private key without an end": [[`-----BEGIN PRIVATE KEY-----\n${mixed(64)}\n… cut`, "[redacted]\n… cut"]],
  "PuTTY private key": [
    [`Private-Lines: 2\n${mixed(64)}\n${mixed(64)}\nPrivate-MAC`, "Private-Lines: 2[redacted]\nPrivate-MAC"],
  ],
  "Authorization header": [[`Authorization: ApiKey ${mixed(24)}`, "Authorization: ApiKey [redacted]"]],
  "bearer token": [[`curl -H "X-Auth: Bearer ${mixed(40)}"`, 'curl -H "X-Auth: Bearer [redacted]"']],
  "cookie header": [["Cookie: sid=s%3Aabc; theme=dark\n", "Cookie: sid=[redacted]\n"]],
  "password in an address": [
    ["git clone https://ada:hunter2@example.org/a.git", "git clone https://ada:[redacted]@example.org/a.git"],
    ["postgres://u:p@h/db", "postgres://u:[redacted]@h/db"],
    ["https://ada:p%40ss%2Fword@example.org", "https://ada:[redacted]@example.org"],
    ["redis://:sw0rdfish@cache:6379/0", "redis://:[redacted]@cache:6379/0"],
    [
      "mongodb+srv://app:p@ss@cluster0.example.net/?w=majority",
      "mongodb+srv://app:[redacted]@cluster0.example.net/?w=majority",
    ],
    ['{"url":"amqp://guest:guest@[2001:db8::1]:5672"}', '{"url":"amqp://guest:[redacted]@[2001:db8::1]:5672"}'],
    ["jdbc:postgresql://u:pw@h:5432/db", "jdbc:postgresql://u:[redacted]@h:5432/db"],
    ["socks5h://u:pw@127.0.0.1:1080", "socks5h://u:[redacted]@127.0.0.1:1080"],
  ],
  "password in the address of a database": [
    ["postgresql://app:a/b#c?d@db.example.org/app", "postgresql://app:[redacted]@db.example.org/app"],
  ],
  "token in an address": [
    [`https://${hex(40)}@git.example.org/a.git`, "https://[redacted]@git.example.org/a.git"],
    [`https://${hex(32)}@o1.ingest.de.sentry.io/2`, "https://[redacted]@o1.ingest.de.sentry.io/2"],
  ],
  "Sentry address": [["https://key@o1.ingest.sentry.io/2", "https://[redacted]@o1.ingest.sentry.io/2"]],
  "address of a Go driver": [
    ["app:s3cret@tcp(127.0.0.1:3306)/db?parseTime=true", "app:[redacted]@tcp(127.0.0.1:3306)/db?parseTime=true"],
    ["app:p@ss:w@unix(/run/mysqld.sock)/db", "app:[redacted]@unix(/run/mysqld.sock)/db"],
  ],
  "Slack webhook": [
    [
      `https://hooks.slack.com/services/T${upper(8)}/B${upper(8)}/${mixed(24)}`,
      "https://hooks.slack.com/services/[redacted]",
    ],
  ],
  "Discord webhook": [
    [
      `https://discord.com/api/webhooks/123456789012345678/${mixed(68)}`,
      "https://discord.com/api/webhooks/123456789012345678/[redacted]",
    ],
  ],
  "Teams webhook": [
    [
      `https://acme.webhook.office.com/webhookb2/${uuid}@${uuid}/IncomingWebhook/${hex(32)}/${uuid}`,
      "https://acme.webhook.office.com/webhookb2/[redacted]",
    ],
  ],
  "webhook of a chat or automation service": [
    ["https://hooks.zapier.com/hooks/catch/1234567/ab12cd3/", "https://hooks.zapier.com/hooks/catch/[redacted]"],
  ],
  "IFTTT webhook": [
    [
      `https://maker.ifttt.com/trigger/build/with/key/${mixed(22)}`,
      "https://maker.ifttt.com/trigger/build/with/key/[redacted]",
    ],
  ],
  "Mattermost or Rocket.Chat webhook": [
    [`https://chat.example.org/hooks/${lower(26)}`, "https://chat.example.org/hooks/[redacted]"],
  ],
  "secret in the query of an address": [
    [`https://b.example.org/x?sv=2024&sig=${mixed(43)}%3D&se=1`, "https://b.example.org/x?sv=2024&sig=[redacted]&se=1"],
    [`https://maps.example.org/api?key=${mixed(30)}`, "https://maps.example.org/api?key=[redacted]"],
  ],
  "curl user": [
    ["curl -u ada:hunter2 https://example.org", "curl -u ada:[redacted] https://example.org"],
    [`curl --user 'ada:correct-horse' x`, `curl --user 'ada:[redacted]' x`],
  ],
  "sshpass password": [["sshpass -p hunter2 ssh a@b", "sshpass -p [redacted] ssh a@b"]],
  "MySQL password": [["mysqldump -u root -phunter2 app", "mysqldump -u root -p[redacted] app"]],
  "netrc password": [
    ["machine a.example login ada password hunter2", "machine a.example login ada password [redacted]"],
  ],
};

describe("the table of known secrets", () => {
  const cases = Object.entries(tokens).flatMap(([name, forms]) => forms.map((secret) => [name, secret] as const));

  test("has an example of every row", () => {
    const rows = [...tokenWords, ...makeParts()].map(({ name }) => name).filter((name) => name !== "word");
    expect(rows.filter((name) => tokens[name] === undefined && inContext[name] === undefined)).toEqual([]);
    expect(new Set(rows).size).toBe(rows.length);
  });

  test.each(cases)("redacts a %s (%s) anywhere in a text", (_name, secret) => {
    expect(redact(secret)).toBe("[redacted]");
    expect(redact(`found ${secret}, used`)).toBe("found [redacted], used");
    expect(redact(`{"a":"x\\n${secret}"}`)).toBe('{"a":"x\\n[redacted]"}');
    expect(redact(`'${secret}'\n(${secret})`)).toBe("'[redacted]'\n([redacted])");
  });

  test.each(Object.entries(inContext).flatMap(([name, texts]) => texts.map((one) => [name, ...one] as const)))(
    "redacts only the secret of a %s: %s",
    (_name, text, clean) => {
      expect(redact(text)).toBe(clean);
      expect(redact(clean)).toBe(clean);
    },
  );
});

describe("a JSON document", () => {
  const texts = [
    ...Object.values(tokens).flat(),
    ...Object.values(inContext).flatMap((rows) => rows.map(([text]) => text)),
  ];

  test.each(texts)("is still valid after %s is redacted", (secret) => {
    const inner = JSON.stringify({ said: `x ${secret}\n"${secret}"\t`, password: 123456 });
    for (const document of [inner, JSON.stringify({ response: inner, list: [secret] }, null, 2)]) {
      expect(() => JSON.parse(redact(document))).not.toThrow();
    }
  });
});

describe("text that only resembles a secret stays", () => {
  test.each([
    "https://example.org:8443/path/@scope/package?x=1@2",
    "http://registry.example.org:4873/@scope/pkg/-/pkg-1.0.0.tgz",
    "https://$USER:$PASSWORD@example.org and https://<user>:<password>@example.org and https://u:${PW}@h and https://u:***@h",
    "postgres://postgres:postgres@localhost:5432/test and amqp://guest:guest@127.0.0.1/",
    "ssh://git@github.com:22/a/b.git and git@github.com:a/b.git and mailto:ada@example.org",
    "https://example.org/hooks/pre-commit and .git/hooks/pre-push and /hooks/useState",
    "docker run -u 1000:1000 -u node:node image",
    "mysql -p -u root app; mysql --port 3306; mysqld --print-defaults",
    "Bearer tokens are described in RFC 6750; a bearer of good news",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    `commit ${hex(40)} tree ${hex(64)} ${uuid} ${hex(32)}`,
    "key-value, re_export, fw_update, pk_user_id, pat_test, cio_module, secret_name, hf_transfer, npm_config_cache",
    "10:AA:BB:CC:DD:EE 12:30:AA-team, e0/1234567890123",
    "SKU123 ACME AC/DC sk-SK Cookie: yes; The cookie: chocolate",
    "$1$ costs, $5 a month, $2 and $6",
    "a.b.c.atlas and 1.2.3-us and server-us1.example.org",
  ])("%s", (text) => {
    expect(redact(text)).toBe(text);
  });
});

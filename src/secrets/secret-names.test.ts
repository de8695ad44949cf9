// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import { describe, expect, test } from "vitest";
import { makeRedactor } from "./redact.ts";

const redact = makeRedactor({});
const random = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY";

describe("values printed under a telling name", () => {
  test.each([
    ["MYSQL_PWD=hunter2", "MYSQL_PWD=[redacted]"],
    ["PGPASSWORD=swordfish psql -h db", "PGPASSWORD=[redacted] psql -h db"],
    ["export DB_PASSWORD='correct horse battery'", "export DB_PASSWORD='[redacted]'"],
    ["jdbc:x?user=u&password=Tr0ub4dor3&ssl=true", "jdbc:x?user=u&password=[redacted]&ssl=true"],
    ["DB_PASSWORD=a,b&c9 psql", "DB_PASSWORD=[redacted] psql"],
    ["GH_PAT=0123456789abcdef01234567", "GH_PAT=[redacted]"],
    [`AWS_SECRET_ACCESS_KEY=${random}`, "AWS_SECRET_ACCESS_KEY=[redacted]"],
    [`aws_secret_access_key = ${random}`, "aws_secret_access_key = [redacted]"],
    [`"SecretAccessKey": "${random}"`, '"SecretAccessKey": "[redacted]"'],
    ['{"password":"hunter2","user":"ada"}', '{"password":"[redacted]","user":"ada"}'],
    ['{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[redacted]\\"}'],
    ['"password": "with \\"quotes\\" 1"', '"password": "[redacted]"'],
    ["password: hunter2", "password: [redacted]"],
    ["  db_password: 's3cr3t!'", "  db_password: '[redacted]'"],
    ["spring.datasource.password=Tr0ub4dor&3", "spring.datasource.password=[redacted]"],
    ["Server=db;Uid=app;Pwd=hunter2;", "Server=db;Uid=app;Pwd=[redacted];"],
    [
      "Server=tcp:db,1433;User ID=sa;Password=Hunter2!;Encrypt=true",
      "Server=tcp:db,1433;User ID=sa;Password=[redacted];Encrypt=true",
    ],
    [
      `AccountName=a;AccountKey=${random}==;EndpointSuffix=core`,
      "AccountName=a;AccountKey=[redacted];EndpointSuffix=core",
    ],
    [
      `Endpoint=sb://a/;SharedAccessKeyName=x;SharedAccessKey=${random}=`,
      "Endpoint=sb://a/;SharedAccessKeyName=x;SharedAccessKey=[redacted]",
    ],
    ["DD_API_KEY=0123456789abcdef0123456789abcdef", "DD_API_KEY=[redacted]"],
    ["X-Api-Key: 0123456789abcdef0123", "X-Api-Key: [redacted]"],
    ["PRIVATE-TOKEN: aB3dE5gH7jK9mN1pQ2rS", "PRIVATE-TOKEN: [redacted]"],
    ["//npm.example.org/:_authToken=11111111-2222-3333-4444-555555555555", "//npm.example.org/:_authToken=[redacted]"],
    ["//npm.example.org/:_auth=dXNlcjpwYXNzd29yZDEyMw==", "//npm.example.org/:_auth=[redacted]"],
    ['"auths":{"a.example":{"auth": "dXNlcjpwYXNzd29yZDEyMw=="}}', '"auths":{"a.example":{"auth": "[redacted]"}}'],
    ["clientSecret: 'aB3dE5gH7jK9mN1pQ2rS'", "clientSecret: '[redacted]'"],
    ["app login --password hunter2 --user ada", "app login --password [redacted] --user ada"],
    ["app --api-key=aB3dE5gH7jK9mN1p run", "app --api-key=[redacted] run"],
    ["app --db-token aB3dE5gH7jK9mN1p run", "app --db-token [redacted] run"],
    ["<password>hunter2</password>", "<password>[redacted]</password>"],
    ["SNOWFLAKE_PASSWORD=Sn0wflake!", "SNOWFLAKE_PASSWORD=[redacted]"],
    ["VERCEL_TOKEN=aB3dE5gH7jK9mN1pQ2rS4tU6", "VERCEL_TOKEN=[redacted]"],
    ["CLOUDFLARE_API_TOKEN: aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAaB3dE5gH", "CLOUDFLARE_API_TOKEN: [redacted]"],
    ["DATABASE_URL=postgres://app:hunter2@db/app", "DATABASE_URL=postgres://app:[redacted]@db/app"],
  ])("%s", (text, clean) => {
    expect(redact(text)).toBe(clean);
    expect(redact(clean)).toBe(clean);
  });

  test.each([
    "password: string;",
    "password: z.string().min(8),",
    "const token = getToken();",
    "let token = await refresh(session.token);",
    "token = tokens[index2]",
    "connect(user=user, password=password, token=token)",
    "db.connect(password=config.password)",
    "PASSWORD=$PASSWORD TOKEN=${TOKEN} SECRET=<secret> API_KEY=%API_KEY% PASSWORD={{ password }}",
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "PWD=/home/ada/project OLDPWD=/home/ada",
    "The password: it must have 8 characters. Password: required",
    "if (password === other.password) throw new Error('no')",
    "apiKey: process.env.GEMINI_API_KEY,",
    "max_tokens=4096 tokens: 12345678 token_count=12345678",
    "keyboard: qwertz1234, monkey: abc12345, sort_key: created_at, cacheKey: user:1:2",
    "author: Ada Lovelace 1815, authenticated: true, auth: oauth-personal",
    "secret: my-database-secret, secretName: tls-cert-1, token: invalid, token: expired",
    "--password is required, --token <token>, --api-key KEY",
    "SSH_AUTH_SOCK=/tmp/ssh-9aXbYcZdQ1/agent.4242",
    "TLS_PRIVATE_KEY=/etc/ssl/private/a1b2c3d4e5.pem",
    'type="password" name="password" placeholder="Password"',
    "AUTH_URL=https://auth.example.com/v1beta1/oauth2/token",
    "password=password passwd: passwd1_field",
    '"private_key_id": "0a1b2c3d4e5f", "public_key": "abc"',
  ])("keeps code, placeholders and prose: %s", (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe("values of variables", () => {
  test.each([
    ["DATABASE_URL", "postgres://app:hunter-2@db/app", "hunter-2"],
    ["REDIS_URI", "redis://:sw0rdfish@cache:6379", "sw0rdfish"],
    ["DATABASE_URL", "postgres://app:p%40ss-word1@db/app", "p@ss-word1"],
    ["DATABASE_URL", "postgres://app:p%40ss-word1@db/app", "p%40ss-word1"],
    ["MYSQL_PWD", "hunter2", "hunter2"],
    ["GH_PAT", "my-own-access-1", "my-own-access-1"],
    ["SENTRY_DSN", "https://abc@errors.example.org/2", "https://abc@errors.example.org/2"],
    ["BUILD_WEBHOOK", "https://chat.example.org/in/a-b-c", "https://chat.example.org/in/a-b-c"],
    ["ALERT_WEBHOOK_URL", "https://chat.example.org/in/a-b-c", "https://chat.example.org/in/a-b-c"],
    ["STORAGE_CONNECTION_STRING", "UseDevelopmentStorage=1;x=y", "UseDevelopmentStorage=1;x=y"],
  ])("%s=%s redacts %s in any text", (name, value, printed) => {
    expect(makeRedactor({ [name]: value })(`a ${printed} b`)).toBe("a [redacted] b");
  });

  test.each([
    ["DATABASE_URL", "postgres://localhost/app"],
    ["DATABASE_URL", "postgres://postgres:postgres@localhost/app", "user postgres of database postgres"],
    ["API_URL", "https://api.example.org/v1"],
    ["PWD", "/srv/project-1a2b3c"],
    ["OLDPWD", "/srv/project-1a2b3c"],
    ["COMPAT", "a1b2c3d4"],
  ])("%s=%s does not spoil other text", (name, value, text = `see ${value} there`) => {
    expect(makeRedactor({ [name]: value })(text)).toBe(text);
  });
});

describe("time", () => {
  const size = 2_000_000;
  test.each([
    ["names", "password=".repeat(size / 9)],
    ["names with quotes", `token="token='token=\``.repeat(size / 21)],
    ["escaped quotes", `password="${'\\"'.repeat(size / 2)}`],
    ["backslashes", `secret=${"\\".repeat(size)}`],
    ["dashes", `--${"token-".repeat(size / 6)}`],
    ["addresses without an end", `https://${"a:".repeat(size / 2)}`],
    ["addresses", "a://b:c".repeat(size / 7)],
    ["schemes", "a".repeat(size)],
    ["dots", "a.".repeat(size / 2)],
    ["at signs", `https://a:${"@".repeat(size)}`],
    ["user options", "-u a:".repeat(size / 5)],
    ["mysql", "mysql ".repeat(size / 6)],
    ["cookies", "Cookie: a=".repeat(size / 10)],
    ["hexadecimal", "0123456789abcdef-us".repeat(size / 19)],
    ["elements", "<password>".repeat(size / 10)],
    ["queries", "?key=".repeat(size / 5)],
    ["Discord", `M${"abcdef.".repeat(size / 7)}`],
    ["Go drivers", "a:@tcp".repeat(size / 6)],
  ])("grows at most linearly with the text: %s", (_what, text) => {
    const before = process.cpuUsage();
    expect(redact(text).length).toBeGreaterThan(0);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(3);
  });
});

// Secrets known by their format, one row per format. `Word` rows are tokens with a prefix of their own; `Part` rows keep the text around
// the secret. Every repetition has an upper limit, because an unlimited one overflows the stack of the expression engine.

/** A token that is recognisable by itself. */
interface Word {
  name: string;
  form: string;
  /** The prefix of every token of the format; searching for it costs a fraction of searching for the format. */
  sign: string;
}

/** Text that contains a secret: `form` has the groups `before` and, where the end is not obvious, `after`, which are kept. */
interface Part {
  name: string;
  sign: RegExp;
  form: RegExp;
}

const word = (name: string, sign: string, rest: string): Word => ({ name, sign, form: `${sign}${rest}` });

export const tokenWords: readonly Word[] = [
  word("Google API key", "AIza", "[\\w-]{30,500}"),
  word("Google access token", "ya29\\.", "(?:[a-z]\\.)?[\\w-]{20,2000}"),
  word("Google OAuth client secret", "GOCSPX-", "[\\w-]{20,200}"),
  word("Google refresh token", "1//0", "[\\w-]{30,500}"),
  // Excludes "sk-learn" and names with many hyphens.
  word(
    "OpenAI, Anthropic or OpenRouter key",
    "sk-",
    "(?:(?:proj|ant|or|svcacct|admin|None)-[\\w-]{20,500}|[A-Za-z0-9]{20,500})",
  ),
  word("xAI key", "xai-", "[A-Za-z0-9]{40,500}"),
  word("Groq key", "gsk_", "[A-Za-z0-9]{40,500}"),
  word("Perplexity key", "pplx-", "[A-Za-z0-9]{40,500}"),
  word("Replicate token", "r8_", "[A-Za-z0-9]{30,200}"),
  word("Hugging Face token", "hf_", "[A-Za-z0-9]{30,200}"),
  word("Hugging Face organisation token", "api_org_", "[A-Za-z0-9]{30,200}"),
  word("NVIDIA key", "nvapi-", "[\\w-]{40,200}"),
  word("Cerebras key", "csk-", "[a-z0-9]{40,200}"),
  word("Fireworks key", "fw_", "[A-Za-z0-9]{20,200}(?![A-Za-z0-9_])"),
  word("LangSmith key", "lsv2_", "(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,20}"),
  word("Pinecone key", "pcsk_", "[A-Za-z0-9_]{40,200}"),
  word("Tavily key", "tvly-", "[\\w-]{20,200}"),
  word("GitHub token", "gh[opsur]_", "(?:[A-Za-z0-9]{20,500}|\\d{1,20}_[\\w.-]{20,2000})"),
  word("GitHub fine-grained token", "github_pat_", "\\w{20,500}"),
  word(
    "GitLab token",
    "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt|crt)-",
    "[\\w-]{20,500}(?:\\.[\\w-]{2,200}){0,4}",
  ),
  word("GitLab runner registration token", "GR1348941", "[\\w-]{20,100}"),
  word("Bitbucket app password", "ATBB", "[A-Za-z0-9]{24,100}"),
  word("Atlassian token", "AT(?:ATT|CTT|STT)3", "[\\w=-]{50,500}"),
  word("npm token", "npm_", "[A-Za-z0-9]{36,500}"),
  word("PyPI token", "pypi-", "[\\w-]{50,500}"),
  word("RubyGems key", "rubygems_", "[0-9a-f]{48}"),
  word("crates.io token", "cio", "[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
  word("Docker token", "dckr_", "[po]at_[\\w-]{20,200}"),
  word("AWS key id", "(?:AKIA|ASIA|ABIA|ACCA)", "[0-9A-Z]{16}(?![0-9A-Za-z])"),
  word("AWS Bedrock key", "ABSK", "[A-Za-z0-9+/]{100,300}={0,2}"),
  word("Alibaba key id", "LTAI", "[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),
  word("Databricks token", "dapi", "[0-9a-f]{32}(?:-\\d)?"),
  word("Stripe key", "[rs]k_(?:live|test|prod)_", "[A-Za-z0-9]{16,500}"),
  word("webhook signing secret", "whsec_", "[A-Za-z0-9+/=]{24,200}"),
  word("Twilio id or key", "(?:SK|AC)(?=[0-9a-f]{32})", "[0-9a-f]{32}(?![0-9A-Za-z])"),
  word("SendGrid key", "SG\\.", "[\\w-]{16,64}\\.[\\w-]{16,64}"),
  word("Mailgun key", "key-", "[0-9a-f]{32}(?![0-9A-Za-z])"),
  word("Brevo key", "x(?:keys|smtps)ib-", "[0-9a-f]{64}-[A-Za-z0-9]{16}"),
  word("Resend key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,40}"),
  word("Slack token", "xox[a-z]", "(?:\\.xox[bp])?-[A-Za-z0-9-]{10,500}"),
  word("Slack app token", "xapp-", "\\d-[A-Za-z0-9-]{10,500}"),
  word("Discord MFA token", "mfa\\.", "[\\w-]{80,100}"),
  word("Notion token", "ntn_", "[A-Za-z0-9]{40,100}"),
  word("Notion integration secret", "secret_", "[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
  word("Linear key", "lin_(?:api|oauth)_", "[A-Za-z0-9]{32,200}"),
  word("Figma token", "fig[dour]_", "[\\w-]{40,200}"),
  word("Airtable token", "pat(?=[A-Za-z0-9]{14}\\.)", "[A-Za-z0-9]{14}\\.[0-9a-f]{64}"),
  word("Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
  word("Typeform token", "tfp_", "[\\w.=-]{40,100}"),
  word("ClickUp token", "pk_\\d", "\\d{4,12}_[A-Z0-9]{32}"),
  word("Shopify token", "shp(?:at|ca|pa|ss|tka)_", "[0-9a-fA-F]{32}"),
  word("Square token", "sq0[a-z]{3}-", "[\\w-]{22,100}"),
  word("Square or Facebook access token", "EAA", "(?:A[\\w-]{56,100}(?![\\w-])|[A-Za-z0-9]{80,500})"),
  word("PayPal access token", "access_token\\$", "(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32}"),
  word("Plaid token", "access-(?:sandbox|development|production)-", "[0-9a-f-]{36}"),
  word("Vault token", "hv[sbr]\\.", "[\\w-]{20,500}"),
  word("DigitalOcean token", "do[opr]_v1_", "[0-9a-f]{64}"),
  word("Heroku key", "HRKU-", "[\\w-]{36,100}"),
  word(
    "Fly token",
    "(?:fo1_|fm[12][ar]?_)",
    "[A-Za-z0-9+/=_-]{40,4000}(?:,fm[12][ar]?_[A-Za-z0-9+/=_-]{40,4000}){0,9}",
  ),
  word("Vercel Blob token", "vercel_blob_rw_", "\\w{20,200}"),
  word("Netlify token", "nf[pcou]_", "[A-Za-z0-9]{36,100}"),
  word("Cloudflare origin CA key", "v1\\.0-", "[0-9a-f]{24}-[0-9a-f]{100,200}"),
  word("Supabase token", "sbp_", "(?:oauth_)?[0-9a-f]{40}"),
  word("Supabase secret key", "sb_secret_", "[\\w-]{20,100}"),
  word("PlanetScale secret", "pscale_(?:tkn|pw|oauth|api)_", "[\\w.=-]{32,100}"),
  word("Neon key", "napi_", "[a-z0-9]{50,100}"),
  word("Doppler token", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.", "[\\w.-]{40,100}"),
  word("Grafana token", "gl(?:c_|sa_)", "[A-Za-z0-9+/=_]{32,400}"),
  word("New Relic key", "NR(?:AK|AA|II|IQ|JS|RA)-", "[A-Za-z0-9_-]{19,60}"),
  word("Sentry token", "sntry[su]_", "[\\w+/=-]{40,500}"),
  word("PostHog key", "ph[xrs]_", "[A-Za-z0-9]{32,100}"),
  word("Dynatrace token", "dt0[a-z]\\d\\d\\.", "[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
  word("Sonar token", "sq[apu]_", "[0-9a-f]{40}"),
  word("Buildkite token", "bk[up]a_", "[0-9a-f]{40}"),
  word("CircleCI token", "CCIP(?:AT|RJ)_", "[A-Za-z0-9]{10,30}_[0-9a-f]{40}"),
  word("Artifactory key", "AKCp", "[A-Za-z0-9]{60,80}"),
  word("Artifactory reference token", "cmVmdGtuO", "[A-Za-z0-9]{50,80}"),
  word("Pulumi token", "pul-", "[0-9a-f]{40}"),
  word("Contentful token", "CFPAT-", "[\\w-]{40,60}"),
  word("Tailscale key", "tskey-", "[a-z]{2,12}-[\\w-]{16,100}"),
  word("1Password service account token", "ops_eyJ", "[\\w-]{80,3000}"),
  word("Mapbox secret token", "sk\\.eyJ", "[\\w-]{20,500}\\.[\\w-]{20,100}"),
  word("age secret key", "AGE-SECRET-KEY-", "(?:PQ-)?1[0-9A-Z]{50,3000}"),
  word("password hash", "\\$(?:apr1|2[abxy]|[156y]|argon2(?:id|i|d))\\$", "[\\w./$,=+-]{21,300}[\\w./$=+-]"),
];

/** The start of a word; `\n` in a JSON string does not belong to the word after it. */
const start = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))`;
/** The same for words that may contain hyphens or start with any letter: they are tried once, not at every hyphen. */
const strictStart = String.raw`(?:(?<![\w\\-])|(?<=\\[nrt]))`;

const wordForm = () => new RegExp(`${start}(?:${tokenWords.map(({ form }) => form).join("|")})`, "g");
const wordSign = () => new RegExp(`${start}(?:${tokenWords.map(({ sign }) => sign).join("|")})`);

const own = (name: string, sign: RegExp, form: string): Part => ({ name, sign, form: new RegExp(form, "g") });
const keyName = "[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----";

/** These come first, so that nothing inside a key matches another row. */
const keyBlocks = (): readonly Part[] => [
  // A block ends at the next row of hyphens; one without an end extends as far as its lines look like a key.
  own("private key", /PRIVATE KEY/, `-----BEGIN ${keyName}(?:[^-]|-(?!----)){0,20000}-----END ${keyName}`),
  own(
    "private key without an end",
    /PRIVATE KEY/,
    `-----BEGIN ${keyName}(?:(?:\\s|\\\\[nr]){0,20}[A-Za-z0-9+/=]{16,200}){1,500}`,
  ),
  own(
    "PuTTY private key",
    /Private-Lines:/,
    "(?<before>Private-Lines: \\d{1,4})(?:(?:\\s|\\\\[nr]){1,4}[A-Za-z0-9+/=]{16,200}){1,500}",
  ),
];

/** Tokens without a prefix of their own. */
const lateWords = (): readonly Part[] => [
  own("JSON web token", /eyJ/, `${strictStart}eyJ[\\w-]{8,9999}\\.eyJ[\\w-]{8,9999}(?:\\.[\\w-]{0,9999})?`),
  own("Telegram bot token", /\d:AA/, `${strictStart}\\d{8,12}:AA[\\w-]{30,50}`),
  own(
    "Discord bot token",
    /\.[\w-]{6}\.[\w-]{27}/,
    `${strictStart}[MNO][A-Za-z0-9_-]{23,27}\\.[\\w-]{6}\\.[\\w-]{27,45}`,
  ),
  own("Mailchimp key", /-us\d/, `${strictStart}[0-9a-f]{32}-us\\d{1,2}(?!\\w)`),
  own("Terraform token", /\.atlasv1\./, `${strictStart}[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{50,100}`),
  own("Azure client secret", /\dQ~/, `${strictStart}[\\w.~-]{3}\\dQ~[\\w.~-]{31,40}`),
  own("Azure DevOps token", /AZDO/, `${strictStart}[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}`),
  own("Asana token", /\d\/\d{13}/, `${strictStart}\\d/\\d{13,20}(?:/\\d{13,20})?:[0-9a-f]{32}`),
];

const schemes = "(?:Bearer|Basic|Token|ApiKey|Api-Key|Key|SSWS|GenieKey|Digest|Negotiate|NTLM)";

const headers = (): readonly Part[] => [
  // A word after "Bearer" is a token when it has a digit or is long: "Bearer authentication" is prose.
  {
    name: "Authorization header",
    sign: /Authorization/i,
    form: new RegExp(
      `(?<before>\\bAuthorization[\\\\"']{0,4}\\s{0,8}[:=]\\s{0,8}[\\\\"']{0,4}${schemes}\\s{1,8})(?=[\\w.~+/=-]{0,19}\\d|[\\w.~+/=-]{20})[\\w.~+/=-]{6,9999}`,
      "gi",
    ),
  },
  {
    name: "bearer token",
    sign: /Bearer/i,
    form: /(?<before>\bBearer\s{1,4})(?=[\w.~+/=-]{0,60}\d)[\w.~+/=-]{20,9999}/gi,
  },
  {
    name: "cookie header",
    sign: /cookie/i,
    form: /(?<before>\b(?:Set-)?Cookie:[^\S\n]{0,4}[\w.-]{1,100}=)(?![\s"';])[^\n\r"'\\]{1,4000}/gi,
  },
];

const host = "(?=[\\w.\\-[\\]])";
/** A local service whose password equals its user name keeps nothing secret, and tests are full of such services. */
const noTrial = "(?!\\k<user>@(?:localhost|127[.]0[.]0[.]1|\\[::1\\])(?![\\w.-]))";
/** What may take the place of a password: a variable, a placeholder, or a redacted value. */
const noPassword = "(?![$<{*]|%\\w?[%s]|\\[redacted\\]@|x{3,}@)";

const addresses = (): readonly Part[] => [
  own(
    "password in an address",
    /:\/\//,
    `(?<before>\\b[A-Za-z][A-Za-z0-9+.-]{1,30}://(?<user>[^\\s/?#:@"'<>\`\\\\]{0,200}):)${noPassword}${noTrial}[^\\s/?#"'<>\`\\\\]{1,500}(?<after>@)${host}`,
  ),
  // People write characters here that should be percent-encoded.
  own(
    "password in the address of a database",
    /:\/\//,
    `(?<before>\\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|cockroachdb|snowflake|kafka|nats|smtps?|ftp|ldaps?)(?:\\+[a-z0-9]{1,20})?://(?<user>[^\\s/?#:@"'<>\`\\\\]{0,200}):)${noPassword}${noTrial}(?!\\d{1,5}[/?#])[^\\s"'<>\`\\\\]{1,300}(?<after>@)${host}`,
  ),
  own(
    "token in an address",
    /:\/\/[\w.~%+-]{20}/,
    `(?<before>\\b[A-Za-z][A-Za-z0-9+.-]{1,30}://)(?=[A-Za-z_.~%+-]{0,60}\\d)[\\w.~%+-]{20,500}(?<after>@)${host}`,
  ),
  own(
    "Sentry address",
    /sentry|ingest/,
    "(?<before>\\bhttps?://)[\\w-]{1,100}(?::[\\w-]{1,100})?(?<after>@(?=[\\w.-]{0,100}(?:sentry|ingest)))",
  ),
  own(
    "address of a Go driver",
    /@(?:tcp|udp|unix)/,
    "(?<before>(?<![\\w.+-])[\\w.+-]{1,64}:)(?![$<{*])[^\\s\"'/\\\\]{1,200}(?<after>@(?:tcp|udp|unix)[46]?\\()",
  ),
  own(
    "Slack webhook",
    /hooks\.slack/,
    "(?<before>hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/)[\\w/%-]{16,300}",
  ),
  own(
    "Discord webhook",
    /webhooks\//,
    "(?<before>discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/\\d{10,25}/)[\\w-]{20,200}",
  ),
  own("Teams webhook", /office\.com\/webhook/, "(?<before>office\\.com/webhook(?:b2)?/)[\\w@/%-]{16,400}"),
  own(
    "webhook of a chat or automation service",
    /hooks?\./,
    "(?<before>\\b(?:hooks\\.zapier\\.com/hooks/catch/|hook(?:\\.[a-z0-9]{2,4})?\\.(?:make|integromat)\\.com/|hooks\\.(?:chime\\.aws|workato\\.com)/\\w{1,20}/))[\\w/-]{8,300}",
  ),
  own("IFTTT webhook", /maker\.ifttt/, "(?<before>maker\\.ifttt\\.com/[\\w/-]{1,100}/key/)[\\w-]{16,100}"),
  own(
    "Mattermost or Rocket.Chat webhook",
    /\/hooks\//,
    "(?<before>://[\\w.:-]{1,200}/hooks/)[A-Za-z0-9]{17,26}(?:/[A-Za-z0-9]{20,80})?(?![\\w/])",
  ),
  {
    name: "secret in the query of an address",
    sign: /[?&](?:[\w-]*(?:token|key|sig|secret|password|passwd|pwd|signature)|code)=/i,
    form: /(?<before>[?&](?:[\w-]{0,40}(?:token|api_?key|sig|secret|password|passwd|pwd|signature)|key|code)=)(?![$<{*]|%\w?[%s])(?=[\w.~%+/=-]{0,60}\d|[\w.~%+/=-]{24})[\w.~%+/=-]{8,2000}/gi,
  },
];

const commandLines = (): readonly Part[] => [
  own(
    "curl user",
    /(?:-u|user)[ =]/,
    "(?<before>(?<![\\w-])(?:-u|--(?:proxy-)?user)[ =]{1,2}[\"']?(?<name>[^\\s:\"'$]{1,100}):)(?![$<{*]|\\d{1,10}(?!\\S)|\\k<name>(?!\\S))[^\\s\"'\\\\]{4,300}",
  ),
  own("sshpass password", /sshpass/, "(?<before>\\bsshpass\\s{1,4}-p\\s{0,4}[\"']?)(?![$<{*])[^\\s\"'\\\\]{1,300}"),
  own(
    "MySQL password",
    /mysql|mariadb/,
    "(?<before>\\b(?:mysql|mariadb)[\\w-]{0,20}\\s[^\\n|;]{0,200}?(?<=\\s)-p[\"']?)(?![$<{*])[^\\s\"'\\\\]{4,300}",
  ),
  own(
    "netrc password",
    /password/,
    "(?<before>\\blogin\\s{1,8}\\S{1,200}\\s{1,8}password\\s{1,8})(?![$<{*])[^\\s\"'\\\\]{1,300}",
  ),
];

/** Built when the first text is redacted, because most hooks write nothing. */
export function makeParts(): readonly Part[] {
  return [
    ...keyBlocks(),
    { name: "word", sign: wordSign(), form: wordForm() },
    ...lateWords(),
    ...headers(),
    ...addresses(),
    ...commandLines(),
  ];
}

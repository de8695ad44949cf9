// Where people keep what no agent may see: one table, by what it is. Paths below the home directory and variables that name others.
// It looks at nothing: whether something is there is for the cell to find out.

import { delimiter, isAbsolute, join } from "node:path";
import type { Environment } from "../setting-layers.ts";

/**
 * Below the home directory. What begins with ".config/" or ".local/share/" is also looked for where XDG_CONFIG_HOME and XDG_DATA_HOME lead.
 * Not among them: ~/.gemini and ~/.env, from which Gemini CLI signs in.
 */
const secrets: readonly (readonly [what: string, ...paths: string[]])[] = [
  [
    "keys: to other machines, to sign, to decrypt",
    ...[".ssh", ".gnupg", ".local/share/gnupg", ".pki", ".putty", ".age", ".config/age", ".config/sops", ".minisign"],
  ],
  [
    "passwords, and the programs that keep them",
    ...[".password-store", ".local/share/pass", ".local/share/gopass", ".config/gopass", ".authinfo", ".authinfo.gpg"],
    ...[".local/share/keyrings", ".local/share/kwalletd", ".config/keepassxc", ".config/KeePass", ".cache/keepassxc"],
    ...[".config/Bitwarden", ".config/Bitwarden CLI", ".config/1Password", ".1password", ".config/op", ".op"],
  ],
  [
    "clouds",
    ...[".aws", ".azure", ".config/gcloud", ".boto", ".gsutil", ".s3cfg", ".config/rclone", ".rclone.conf", ".oci"],
    ...[
      ".config/doctl",
      ".config/hcloud",
      ".config/scw",
      ".config/linode",
      ".config/linode-cli",
      ".aliyun",
      ".bluemix",
    ],
    ...[
      ".fly/config.yml",
      ".netlify",
      ".config/netlify",
      ".config/heroku",
      ".config/vercel",
      ".local/share/com.vercel.cli",
    ],
    ...[".wrangler", ".config/.wrangler", ".cloudflared", ".supabase", ".config/configstore"],
    ...[".pulumi/credentials.json", ".terraform.d/credentials.tfrc.json", ".terraformrc", ".vault-token"],
    ...[".ansible/galaxy_token", ".chef"],
  ],
  [
    "clusters and containers: sign-ins, and sockets that rule the machine",
    ...[".kube", ".minikube", ".config/helm", ".docker", ".config/containers", ".colima", ".lima", ".rd", ".orbstack"],
  ],
  [
    "places that code is pushed to",
    ...[".netrc", "_netrc", ".git-credentials", ".config/git", ".gitcookies", ".subversion/auth"],
    ...[".config/gh", ".config/hub", ".config/glab-cli", ".config/tea"],
  ],
  [
    "places that packages come from and go to",
    ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm", ".pypirc", ".pip", ".config/pip", ".config/pypoetry"],
    ...[".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".local/share/gem/credentials"],
    ...[".bundle/config", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties"],
    ...[".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet", ".config/NuGet", ".hex", ".condarc"],
    ...[".huggingface", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".kaggle"],
  ],
  [
    "databases",
    ...[".pgpass", ".my.cnf", ".mylogin.cnf", ".redisclirc", ".dbshell", ".pgadmin", ".local/share/DBeaverData"],
  ],
  [
    "browsers, mail, chat and editors: whoever has their files is signed in",
    ...[".mozilla", ".librewolf", ".zen", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"],
    ...[".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".var/app", "snap"],
    ...[".thunderbird", ".config/evolution", ".local/share/evolution", ".config/neomutt", ".mutt", ".muttrc"],
    ...[".msmtprc", ".config/msmtp", ".mbsyncrc", ".offlineimaprc", ".fetchmailrc"],
    ...[".config/Slack", ".config/discord", ".config/Signal", ".config/Element", ".local/share/TelegramDesktop"],
    ...[".config/Code", ".config/Cursor", ".config/JetBrains"],
  ],
  ["money", ".bitcoin", ".ethereum", ".electrum", ".config/solana", ".config/Exodus", ".foundry/keystores"],
  [
    "other agents",
    ...[".claude", ".claude.json", ".codex", ".copilot", ".config/github-copilot", ".qwen", ".local/share/opencode"],
    ...[".cursor", ".codeium", ".continue", ".aider.conf.yml", ".config/io.datasette.llm"],
  ],
  [
    "what was typed",
    ...[".bash_history", ".bash_sessions", ".zsh_history", ".zsh_sessions", ".zhistory", ".histfile", ".history"],
    ...[".sh_history", ".local/share/fish", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history"],
    ...[".sqlite_history", ".rediscli_history", ".irb_history", ".pry_history", ".lesshst", ".viminfo"],
    ...[".local/state/nvim", ".local/share/recently-used.xbel"],
  ],
  [
    "what shells and desktops start with: tokens are exported there",
    ...[".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin"],
    ...[".config/fish", ".config/environment.d", ".pam_environment", ".xprofile", ".envrc"],
  ],
];

/** Variables that name a file or a directory of that kind; KUBECONFIG may name several. */
const variables = [
  ...["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG", "BOTO_CONFIG"],
  ...["KUBECONFIG", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "RCLONE_CONFIG", "TF_CLI_CONFIG_FILE"],
  ...["GNUPGHOME", "SSH_AUTH_SOCK", "PASSWORD_STORE_DIR", "GH_CONFIG_DIR", "NETRC", "HISTFILE"],
  ...["NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "PIP_CONFIG_FILE", "PGPASSFILE"],
];

/** Everything that would be a secret if it were there; absolute, without duplicates. */
export function secretPaths(home: string, env: Environment): string[] {
  const below = secrets.flatMap(([, ...paths]) => paths);
  const found = below.flatMap((path) => [join(home, path), ...moved(path, env)]);
  const named = variables.flatMap((name) => env[name]?.split(delimiter) ?? []).filter((path) => isAbsolute(path));
  return [...new Set([...found, ...named])];
}

const roots = [
  [".config/", "XDG_CONFIG_HOME"],
  [".local/share/", "XDG_DATA_HOME"],
] as const;

function moved(path: string, env: Environment): string[] {
  return roots.flatMap(([start, variable]) => {
    const root = env[variable];
    return path.startsWith(start) && root !== undefined && isAbsolute(root)
      ? [join(root, path.slice(start.length))]
      : [];
  });
}

// A table of where language toolchains keep programs and packages in a home directory. Other files of a toolchain, such as registry tokens,
// are not in it. It does not read the disk: the caller checks which paths exist.

import { isAbsolute, join } from "node:path";
import type { Environment } from "../../setting-layers.ts";

/** Relative to the home: the root of a tool, and its parts with programs and packages; without parts, the whole root. */
const roots: readonly (readonly [root: string, ...parts: string[]])[] = [
  // JavaScript
  [".nvm"],
  [".volta"],
  [".fnm"],
  [".local/share/fnm"],
  [".nodenv"],
  [".n"],
  [".npm-global", "bin", "lib"],
  [".npm-packages", "bin", "lib"],
  [".local/share/pnpm"],
  [".yarn", "bin", "berry", "global"],
  [".config/yarn/global", "node_modules"],
  [".bun", "bin", "install"],
  [".deno", "bin"],
  [".cache", "node", "deno", "ms-playwright", "puppeteer", "Cypress", "electron", "bazelisk", "coursier", "pre-commit"],
  // Python
  [".pyenv"],
  [".local/share/uv"],
  [".local/share/pipx"],
  [".local/pipx"],
  [".local/share/pypoetry"],
  [".local/share/hatch"],
  [".local/lib"],
  [".rye", "shims", "py", "tools", "self"],
  // Rust, Go
  [".cargo", "bin", "registry", "git", "env"],
  [".rustup"],
  ["go", "bin", "pkg"],
  [".goenv"],
  [".gvm"],
  // Java
  [".sdkman", "candidates", "libexec"],
  [".jenv"],
  [".jabba", "bin", "jdk"],
  [".m2", "repository", "wrapper"],
  [".gradle", "wrapper", "caches"],
  [".ivy2", "cache", "local"],
  [".sbt", "boot"],
  [".local/share/coursier"],
  // Ruby, PHP, Perl, Lua, R
  [".rbenv"],
  [".rvm"],
  [".gem", "ruby"],
  [".local/share/gem", "ruby"],
  [".phpenv"],
  [".composer", "vendor"],
  [".config/composer", "vendor"],
  ["perl5"],
  [".luarocks", "bin", "lib", "share"],
  ["R"],
  // .NET, Dart, Elixir, Haskell, OCaml, Julia
  [".dotnet", "dotnet", "host", "sdk", "sdk-manifests", "shared", "packs", "templates", "tools"],
  [".nuget", "packages"],
  [".pub-cache", "bin", "hosted", "global_packages"],
  [".mix", "archives", "escripts", "elixir"],
  [".hex", "packages"],
  [".ghcup"],
  [".cabal", "bin", "packages", "store"],
  [".stack", "programs", "snapshots"],
  [".opam"],
  [".julia", "juliaup", "packages", "artifacts", "compiled"],
  // Any language
  [".asdf"],
  [".tool-versions"],
  [".local/share/mise", "installs", "shims", "plugins"],
  [".proto"],
  [".local/state/nix/profiles"],
  [".nix-profile"],
  [
    ".linuxbrew",
    "bin",
    "sbin",
    "lib",
    "share",
    "opt",
    "Cellar",
    "include",
    "libexec",
    "etc/openssl@3",
    "etc/ca-certificates",
  ],
];

/** Files with registry tokens among the programs; a star stands for a version. */
const tokens = [
  ".nvm/versions/node/*/etc/npmrc",
  ".nodenv/versions/*/etc/npmrc",
  ".fnm/node-versions/*/installation/etc/npmrc",
  ".local/share/fnm/node-versions/*/installation/etc/npmrc",
  ".asdf/installs/nodejs/*/etc/npmrc",
  ".asdf/installs/nodejs/*/.npm/etc/npmrc",
  ".local/share/mise/installs/node/*/etc/npmrc",
  ".volta/tools/image/node/*/etc/npmrc",
  ".proto/tools/node/*/etc/npmrc",
  ".pyenv/versions/*/pip.conf",
  ".local/share/pipx/venvs/*/pip.conf",
  ".local/share/uv/tools/*/pip.conf",
];

/** Variables that move a root to another directory. */
const moved: Readonly<Record<string, string>> = {
  NVM_DIR: ".nvm",
  VOLTA_HOME: ".volta",
  FNM_DIR: ".local/share/fnm",
  PNPM_HOME: ".local/share/pnpm",
  BUN_INSTALL: ".bun",
  DENO_INSTALL: ".deno",
  PYENV_ROOT: ".pyenv",
  CARGO_HOME: ".cargo",
  RUSTUP_HOME: ".rustup",
  GOPATH: "go",
  SDKMAN_DIR: ".sdkman",
  RBENV_ROOT: ".rbenv",
  rvm_path: ".rvm",
  ASDF_DATA_DIR: ".asdf",
  MISE_DATA_DIR: ".local/share/mise",
  PROTO_HOME: ".proto",
  DOTNET_ROOT: ".dotnet",
  OPAMROOT: ".opam",
};

const areas = [
  ["XDG_DATA_HOME", ".local/share/"],
  ["XDG_CACHE_HOME", ".cache"],
] as const;

/** Every path that may hold programs or packages, existing or not; absolute, without duplicates. */
export function toolchainPaths(homes: readonly string[], env: Environment): string[] {
  const below = (root: string, parts: readonly string[]) =>
    parts.length === 0 ? [root] : parts.map((part) => join(root, part));
  const usual = homes.flatMap((home) => roots.flatMap(([root, ...parts]) => below(join(home, root), parts)));
  const named = Object.entries(moved).flatMap(([variable, root]) => {
    const place = env[variable];
    const [, ...parts] = roots.find(([name]) => name === root) ?? [root];
    return place && isAbsolute(place) ? below(place, parts) : [];
  });
  const inAreas = areas.flatMap(([variable, start]) => {
    const place = env[variable];
    if (!place || !isAbsolute(place)) return [];
    const inside = roots.filter(([root]) => root.startsWith(start));
    return inside.flatMap(([root, ...parts]) => below(join(place, root.slice(start.length)), parts));
  });
  return [...new Set([...usual, ...named, ...inAreas])];
}

/** Patterns of files inside the toolchains that no agent needs; absolute. */
export function toolchainTokens(homes: readonly string[]): string[] {
  return homes.flatMap((home) => tokens.map((pattern) => join(home, pattern)));
}

/** Directories of a home in which each entry is a separate package. */
export function packageAreas(homes: readonly string[], env: Environment): string[] {
  const usual = homes.flatMap((home) => [".local/share", ".local/lib", ".local/opt"].map((name) => join(home, name)));
  const data = env.XDG_DATA_HOME;
  return data && isAbsolute(data) ? [...usual, data] : usual;
}

// What a sandbox has of the machine itself: programs, libraries and the part of /etc that programs read. A list of names, each mounted if it
// exists; everything else, such as /etc/shadow, /srv or the homes of other users, is absent.

import { cover, keep, lead, type Mounts, put, putEmpty } from "./mounts.ts";

/** Programs and libraries. Of /nix not the socket of its daemon, of /var only databases that programs in /usr cannot start without. */
const programs = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"],
  ...["/nix/store", "/nix/var/nix/profiles", "/gnu/store", "/var/guix/profiles"],
  ...["/run/current-system", "/run/booted-system"],
  ...["/var/lib/ghc", "/var/lib/texmf", "/var/cache/fontconfig"],
  ...["/sys/devices/system/cpu", "/sys/devices/system/node"],
];

/** Every name is a mount, and mounts cost time: only what programs fail without, or behave differently. */
const etc = [
  "users and machines: passwd group hosts hostname host.conf resolv.conf nsswitch.conf services protocols",
  "certificates: ssl/certs ssl/cert.pem ssl/ca-bundle.pem ssl/openssl.cnf ca-certificates crypto-policies",
  "certificates: pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust pki/java",
  "loading: ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path ld-musl-aarch64.path alternatives",
  "place and language: localtime timezone locale.conf terminfo mime.types fonts os-release lsb-release",
  "languages: perl R php php.d php.ini maven/m2.conf maven/logging dotnet mono",
  // Settings and policies of the administrator, which bind the CLI.
  "Gemini CLI: gemini-cli",
].flatMap((line) => line.replace(/^.*: /, "").split(" "));

/** Java and Python put their version into the name of the directory. */
const versioned = /^(?:java(?:-[\w.-]+)?|python\d[\d.]*)$/;

/** How the names of other machines and users are found. */
const lookups = [
  ...["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/nscd"],
  ...["/var/lib/sss/mc", "/var/lib/sss/pipes/nss"],
];

/** Registries and their tokens, which npm keeps beside the programs that a prefix holds. */
export const tokenFiles = ["etc/npmrc", "pip.conf", "etc/pip.conf"];

/** `etcEntries`: the names in /etc. */
export function putSystem(mounts: Mounts, etcEntries: readonly string[]): void {
  put(mounts, { kind: "empty", path: "/", writable: false });
  for (const path of programs) keep(mounts, path);
  const names = new Set([...etc, ...etcEntries.filter((name) => versioned.test(name))]);
  for (const name of names) keep(mounts, `/etc/${name}`);
  for (const path of lookups) keep(mounts, path);
  lead(mounts, "/var/run");
  for (const prefix of ["/usr", "/usr/local"]) for (const name of tokenFiles) cover(mounts, `${prefix}/${name}`);
  // Temporary files are a sandbox's own.
  for (const path of ["/tmp", "/var/tmp"]) putEmpty(mounts, path, true);
}

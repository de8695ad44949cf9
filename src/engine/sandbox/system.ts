// The parts of the system that a sandbox sees: programs, libraries and the part of /etc that programs read. It is an allow list: each
// name is mounted if it exists; everything else, such as /etc/shadow, /srv or other users' homes, is absent.

import { cover, keep, lead, type Mounts, put, putEmpty } from "./mounts.ts";

/** Programs and libraries. Not the socket of the /nix daemon; of /var only databases that programs in /usr need to start. */
const programs = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"],
  ...["/nix/store", "/nix/var/nix/profiles", "/gnu/store", "/var/guix/profiles"],
  ...["/run/current-system", "/run/booted-system"],
  ...["/var/lib/ghc", "/var/lib/texmf", "/var/cache/fontconfig"],
  ...["/sys/devices/system/cpu", "/sys/devices/system/node"],
];

/** Each name is a mount, and mounts cost time, so the list holds only what programs need to work as they do outside. */
const etc = [
  "users and machines: passwd group hosts hostname host.conf resolv.conf nsswitch.conf services protocols",
  "certificates: ssl/certs ssl/cert.pem ssl/ca-bundle.pem ssl/openssl.cnf ca-certificates crypto-policies",
  "certificates: pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust pki/java",
  "loading: ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path ld-musl-aarch64.path alternatives",
  "place and language: localtime timezone locale.conf terminfo mime.types fonts os-release lsb-release",
  "languages: perl R php php.d php.ini maven/m2.conf maven/logging dotnet mono",
  // Settings and policies of the administrator, which the CLI must follow.
  "Gemini CLI: gemini-cli",
].flatMap((line) => line.replace(/^.*: /, "").split(" "));

/** Java and Python have their version in the directory name. */
const versioned = /^(?:java(?:-[\w.-]+)?|python\d[\d.]*)$/;

/** Services that resolve host and user names. */
const lookups = [
  ...["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/nscd"],
  ...["/var/lib/sss/mc", "/var/lib/sss/pipes/nss"],
];

/** Registry settings and tokens, which package managers keep below the prefix of their programs. */
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
  // Each sandbox has its own temporary files.
  for (const path of ["/tmp", "/var/tmp"]) putEmpty(mounts, path, true);
}

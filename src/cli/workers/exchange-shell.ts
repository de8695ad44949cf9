// Runs a script in the shell of the machine where an exchange is: here, or on another machine through ssh. The script is passed on standard
// input.

import { spawn } from "node:child_process";
import { MaestroError, reasonOf } from "../../errors.ts";
import { splitWords } from "../../runtimes/words.ts";
import { safePath } from "../../search-path.ts";
import type { Io } from "../io.ts";

/** Where an exchange is: a path on this machine, or on the machine that ssh reaches with these words. */
export interface ExchangePlace {
  path: string;
  ssh?: readonly string[];
}

/** The place that an address names; the address was checked before. */
export function placeOf(address: string): ExchangePlace {
  if (address.startsWith("/")) return { path: address };
  if (address.startsWith("file://")) return { path: address.slice("file://".length) };
  const [, host = "", port, path = ""] = /^ssh:\/\/([^/:]+|[^/]*\])(?::(\d+))?(\/.+)$/.exec(address) ?? [];
  if (host !== "") {
    const words = port === undefined ? [] : ["-p", port];
    // As git does: /~/path is below the home directory.
    return { path: path.replace(/^\/(?=~)/, ""), ssh: [...words, "--", host.replace(/[[\]]/g, "")] };
  }
  const colon = address.indexOf(":", address.indexOf("]") + 1);
  return { path: address.slice(colon + 1), ssh: ["--", address.slice(0, colon).replace(/[[\]]/g, "")] };
}

export interface ShellAnswer {
  code: number | null;
  stdout: string;
  stderr: string;
}

const MAX_OUTPUT = 64 * 1024;
const MAX_SECONDS = 60;

/** Runs \`script\` at the place. A program that does not start, or does not end in time, is an error. */
export function runAt(io: Pick<Io, "env">, { ssh }: ExchangePlace, script: string): Promise<ShellAnswer> {
  const [program = "sh", ...words] = ssh === undefined ? ["sh"] : sshCommand(io.env);
  const args = [...words, ...(ssh === undefined ? ["-s"] : [...ssh, "sh -s"])];
  const child = spawn(program, args, { env: environment(io.env), stdio: "pipe", timeout: MAX_SECONDS * 1000 });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout = (stdout + chunk).slice(0, MAX_OUTPUT)));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr = (stderr + chunk).slice(0, MAX_OUTPUT)));
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      reject(new MaestroError("environment", `Cannot start ${program}: ${reasonOf(error)}`, { cause: error }));
    });
    child.once("close", (code) => resolve({ code, stdout, stderr }));
    // A shell that ends early closes its input; its exit code says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(script);
  });
}

/** As git would reach the exchange, but without questions. */
function sshCommand(env: Io["env"]): string[] {
  const words = splitWords(env.GIT_SSH_COMMAND ?? "");
  if ("error" in words) throw new MaestroError("config", `GIT_SSH_COMMAND cannot be read: ${words.error}`);
  return words.length > 0 ? words : ["ssh", "-oBatchMode=yes", "-oConnectTimeout=15"];
}

/** What a shell, git and ssh need; nothing that redirects git, and none of the user's secrets. */
function environment(env: Io["env"]): Record<string, string> {
  const names = ["HOME", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK"];
  const kept = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(kept), PATH: safePath(env.PATH) };
}

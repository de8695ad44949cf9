// Which credential the agents of a run use, as a fingerprint: sessions with the same one share its quota. A salted hash, so that neither its
// name nor its content reveals the credential.

import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { Runtime } from "../../runtimes/runtime.ts";
import { type Environment, given, readEnvFile } from "../../setting-layers.ts";

export interface Credential {
  /** The variable that has it, or "login"; never its value. */
  kind: string;
  fingerprint: string;
}

/** `env`: what agents get; `home`: the directory that the runtime uses as the user's home. */
export function credentialOf(runtime: Runtime, env: Environment, home: string, salt: string): Credential {
  const { credentials = [], envFiles } = runtime;
  const files = envFiles.map((name) => readEnvFile(join(home, name)));
  const [found] = [env, ...files].flatMap((variables) => {
    const kind = credentials.find((name) => given(variables, name) !== undefined);
    return kind === undefined ? [] : [{ kind, secret: given(variables, kind) ?? "" }];
  });
  // A login is kept in the home.
  const { kind, secret } = found ?? { kind: "login", secret: home };
  const hash = createHmac("sha256", salt)
    .update(JSON.stringify([runtime.account ?? runtime.name, kind, secret]))
    .digest("hex");
  return { kind, fingerprint: hash.slice(0, 32) };
}

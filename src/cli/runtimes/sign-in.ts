// Finds what an agent program can sign in with on this machine: the name of a variable or of a file, never a value.

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Runtime } from "../../runtimes/runtime.ts";
import { type Environment, given, readEnvFile } from "../../setting-layers.ts";
import { geminiHome } from "../../store/files/gemini-home.ts";

/** The variable with a credential, or the file of a login; null when neither exists. Throws when an env file of the home cannot be read. */
export function signIn(env: Environment, runtime: Pick<Runtime, "credentials" | "envFiles" | "login">): string | null {
  const { credentials = [], envFiles, login } = runtime;
  const named = (values: Environment) => credentials.find((name) => given(values, name) !== undefined);
  const exported = named(env);
  if (exported !== undefined) return exported;
  // Programs with env files use the home of Gemini CLI.
  const home = envFiles.length > 0 ? geminiHome(env) : env.HOME || homedir();
  const shown = (file: string) => (home === (env.HOME || homedir()) ? `~/${file}` : join(home, file));
  for (const file of envFiles) {
    const found = named(readEnvFile(join(home, file)));
    if (found !== undefined) return `${found} in ${shown(file)}`;
  }
  return login !== undefined && existsSync(join(home, login)) ? shown(login) : null;
}

// The quota that a run shares with other sessions: one for the credential of each of its runtimes.

import type { Cast } from "../../engine/cast.ts";
import { credentialOf } from "../../engine/quota/credential.ts";
import { quotaRoot } from "../../engine/quota/quota-root.ts";
import { type About, SharedQuota, saltIn } from "../../engine/quota/shared-quota.ts";
import type { RunContext } from "../../engine/run-context.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { vendorEnvironment } from "../../runtimes/environment.ts";
import { geminiHome } from "../../store/files/gemini-home.ts";
import type { Io } from "../io.ts";

/** Null when the state directory cannot be used: the session runs by itself then. */
export function sharedQuotas(
  io: Io,
  cast: Cast,
  { passEnv, ...about }: About & { passEnv: readonly string[] },
): RunContext["sharedQuota"] {
  return (name) => {
    const { runtime } = cast.named(name);
    if (!runtime.callsModel) return null;
    try {
      const root = quotaRoot(io.env);
      const env = vendorEnvironment(io.env, passEnv, runtime.vendor);
      return new SharedQuota(root, credentialOf(runtime, env, geminiHome(env), saltIn(root)), about);
    } catch (error) {
      if (!(error instanceof MaestroError) && errno(error) === undefined) throw error;
      io.err(`WARNING: Quota is not shared with other sessions: ${reasonOf(error)}\n`);
      return null;
    }
  };
}

// The only part of the hooks that parses YAML. Imports a session that exists only as a view (written by hand, by a script or by an earlier
// version) into a journal, as every command does; and finds agent files that cannot be used, which Gemini CLI drops without a word.

import { join } from "node:path";
import { brokenText } from "../agents/resolve.ts";
import { loadRoster } from "../agents/roster.ts";
import { MaestroError } from "../errors.ts";
import { projectStore } from "../store/project-store.ts";
import { hookSettings, type Project } from "./project.ts";
import type { Surroundings } from "./surroundings.ts";

export function adoptView({ location }: Project, here: Surroundings): void {
  const maxRetries = () => hookSettings(here).MAESTRO_MAX_RETRIES;
  const store = projectStore(location, { now: here.clock, warn: here.log, maxRetries, env: here.env });
  const read = store.read();
  store.close();
  if (read.state === "broken") throw new MaestroError("parse_failed", read.reason);
}

const MAX_BROKEN = 5;

export function brokenAgentLines({ extensionRoot }: Surroundings): string[] {
  const { problems } = loadRoster(join(extensionRoot, "agents"));
  return problems.slice(0, MAX_BROKEN).map((problem) => `Agent problem, tell the user: ${brokenText(problem)}.`);
}

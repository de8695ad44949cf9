// A runtime with its real program, as the cases need it. Another one is one more object of this shape and a file that passes it to `casesOf`.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { cacheOf, type pinned } from "../../../tools/runtimes.js";
import type { Project } from "../../support/project.ts";
import type { Call } from "./wire.ts";

export interface RealRuntime {
  /** As in `--runtime` and in `pinned` of tools/runtimes.js. */
  name: keyof typeof pinned;
  /** The exported variables of a user who is signed in: an endpoint, a credential. The test key must be long and unlike any word. */
  environment: (url: string, home: string) => Record<string, string>;
  /** Files of the user's home, by their paths in it. */
  home?: (url: string) => Record<string, string>;
  /** The call that writes a file; `tools`: those that the program offers. Undefined when it offers none for it. */
  write: (path: string, content: string, tools: readonly string[]) => Call | undefined;
  /** More arguments of `maestro run`. */
  words?: readonly string[];
  /** The name of the model that `--model` gets. */
  model: string;
  /** Why a case cannot hold for this program, by the name of the case. */
  except?: Readonly<Record<string, string>>;
  /** Whether its tokens can be compared; undefined: exactly. */
  tokens?: "without cached" | "none";
}

export const TEST_KEY = "scripted-key-7f3a9c51d2e84b60";

/** The environment in which `maestro` finds the program and the scripted model. */
export function environmentOf(runtime: RealRuntime, project: Project, url: string): Record<string, string> {
  const [home = "", temporary = ""] = placesOf(project);
  for (const place of [home, temporary]) mkdirSync(place, { recursive: true });
  for (const [path, content] of Object.entries(runtime.home?.(url) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  return {
    HOME: home,
    TMPDIR: temporary,
    PATH: [join(cacheOf(runtime.name), "node_modules", ".bin"), process.env.PATH].join(delimiter),
    ...runtime.environment(url, home),
  };
}

/** The user's home and the temporary files, beside the project: what a program keeps there is not a change of the project. */
function placesOf({ path }: Project): string[] {
  return [`${path}.home`, `${path}.tmp`];
}

export function removeAll(project: Project): void {
  for (const place of placesOf(project)) rmSync(place, { recursive: true, force: true });
  project.remove();
}

export function isReady({ name }: Pick<RealRuntime, "name">): boolean {
  return (process.env.TEST_RUNTIMES ?? "").split(",").includes(name);
}

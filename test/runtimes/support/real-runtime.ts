// A runtime with its real program, as the cases need it. Another one is one more object of this shape and a file that passes it to `casesOf`.

import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { programOf, versions } from "../../../tools/nodes.js";
import { cacheOf, type pinned } from "../../../tools/runtimes.js";
import { type Project, root } from "../../support/project.ts";
import type { Call } from "./wire.ts";

/** A case in which some programs repeat their call, silently, for longer than an attempt may take. */
export type LateCase = "429" | "500" | "garbage";

export interface RealRuntime {
  /** As in `--runtime`. */
  name: "gemini" | keyof typeof pinned;
  /** The name of the model that `--model` gets. */
  model: string;
  /** The exported variables of its vendor, of a user who is signed in: an endpoint, a credential. */
  environment: (url: string) => Record<string, string>;
  /** Variables of another vendor, which the user passes with `--pass-env`. */
  passed?: (url: string) => Record<string, string>;
  /** Files of the user's home, by their paths in it. */
  home?: (url: string) => Record<string, string>;
  /** The calls that write a file and run a command; `tools`: those that the program offers. */
  write: (path: string, content: string, tools: readonly string[]) => Call;
  shell: (command: string, tools: readonly string[]) => Call;
  late?: readonly LateCase[];
  /** Seconds between two starts, for a program that cannot make its database twice at once in a new home. */
  staggerSeconds?: string;
  /** What of its tokens can be compared; absent: all, exactly. */
  tokens?: "without cached" | "none";
  /** Whether Node runs it: the newest one starts it in half the time. */
  isScript?: boolean;
}

/** Long and unlike any word: one of the programs replaces its key wherever it prints it. */
export const TEST_KEY = "scripted-key-7f3a9c51d2e84b60";

const newest = programOf(versions.at(-1) ?? "");
const compiled = join(root, "node_modules", ".cache", "maestro-test", "compiled");

/** The environment in which `maestro` finds the program and the scripted model. */
export function environmentOf(runtime: RealRuntime, project: Project, url: string): Record<string, string> {
  const [home = "", temporary = "", programs = ""] = placesOf(project);
  for (const place of [home, temporary, programs]) mkdirSync(place, { recursive: true });
  for (const [path, content] of Object.entries(runtime.home?.(url) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const places = [programsOf(runtime, programs), dirname(process.execPath), process.env.PATH];
  return {
    HOME: home,
    TMPDIR: temporary,
    PATH: places.join(delimiter),
    ...runtime.environment(url),
    ...runtime.passed?.(url),
  };
}

/** The directory with the program; in `own`, a launcher for one that Node runs. */
function programsOf({ name, isScript }: RealRuntime, own: string): string {
  const directory = join(name === "gemini" ? root : cacheOf(name), "node_modules", ".bin");
  if (!isScript || !existsSync(newest)) return directory;
  const words = `NODE_COMPILE_CACHE='${compiled}' exec '${newest}' '${realpathSync(join(directory, name))}' "$@"`;
  writeFileSync(join(own, name), `#!/bin/sh\n${words}\n`);
  chmodSync(join(own, name), 0o755);
  return own;
}

/** The user's home, the temporary files and the programs, beside the project: what is kept there is not a change of the project. */
function placesOf({ path }: Project): string[] {
  return [`${path}.home`, `${path}.tmp`, `${path}.bin`];
}

export function removeAll(project: Project): void {
  for (const place of placesOf(project)) rmSync(place, { recursive: true, force: true });
  project.remove();
}

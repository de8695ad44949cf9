// The project that a hook runs in: its settings, its state directory and its session.

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { parse as parsePath } from "node:path";
import { errno } from "../errors.ts";
import type { Session } from "../session/session.ts";
import { resolveStateDirectory } from "../setting-layers.ts";
import { type Settings, tolerantSettings } from "../settings.ts";
import { glance } from "../store/journal/glance.ts";
import { inState, locateState, type StateLocation } from "../store/location.ts";
import type { Surroundings } from "./surroundings.ts";

export interface Project {
  location: StateLocation;
}

export function openHookProject(here: Surroundings): Project {
  return { location: locateState(here.projectRoot, resolveStateDirectory(here.projectRoot, here.env)) };
}

/** An invalid value of one setting does not disable the others. */
export function hookSettings({ projectRoot, env, log }: Surroundings): Settings {
  return tolerantSettings(projectRoot, env, log);
}

/** Read without repairs: commands do those, because they can report them. */
export function sessionOf({ location }: Project): Session | undefined {
  return glance(location);
}

export function hasWorkspace({ location }: Project): boolean {
  return inState(location, ["state"], () => true) === true;
}

/** Never create a workspace here: in the home directory and in the root of the file system (C38). */
export function isNoProject({ projectRoot, env }: Surroundings): boolean {
  const place = placeOf(projectRoot);
  return place === placeOf(parsePath(projectRoot).root) || place === placeOf(env.HOME || homedir());
}

/** Identifies a directory whatever the spelling of its path, and through links; the path itself when it cannot be read. */
function placeOf(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return path;
  }
}

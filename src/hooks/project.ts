// The project a hook runs in: its settings, where its state is, and its session as the journal has it.

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

/** A bad value of one setting does not switch the others off. */
export function hookSettings({ projectRoot, env, log }: Surroundings): Settings {
  return tolerantSettings(projectRoot, env, log);
}

/** What needs mending in it is left to a command, which can say so. */
export function sessionOf({ location }: Project): Session | undefined {
  return glance(location);
}

export function hasWorkspace({ location }: Project): boolean {
  return inState(location, ["state"], () => true) === true;
}

/** Where a workspace is nobody's wish: the home directory and the root of the file system (C38). */
export function isNoProject({ projectRoot, env }: Surroundings): boolean {
  const place = placeOf(projectRoot);
  return place === placeOf(parsePath(projectRoot).root) || place === placeOf(env.HOME || homedir());
}

/** The same for every spelling of a path, and through links; the path itself where nobody here may look. */
function placeOf(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return path;
  }
}

// The setting of the guard, as a bundle that is loaded only where it is set: it brings the rules of every setting.

import type { Settings } from "../settings.ts";
import { hookSettings } from "./project.ts";
import type { Surroundings } from "./surroundings.ts";

export function guardSetting(here: Surroundings): Settings["MAESTRO_GUARD"] {
  return hookSettings(here).MAESTRO_GUARD;
}

// Says once per project, when its first session ends, that plans are the user's to commit or to ignore.

import { MaestroError } from "../errors.ts";
import type { Opening } from "../git/open.ts";
import { hasUntracked } from "../git/snapshot/untracked.ts";
import type { Environment } from "../setting-layers.ts";
import { UserRecord } from "../store/files/user-record.ts";
import type { StateLocation } from "../store/location.ts";

/** Undefined when it was said before, or when `git status` does not show the plans. A failure is silent: it is only a hint. */
export async function plansHint(
  { env, location, open }: { env: Environment; location: StateLocation; open: () => Promise<Opening> },
  now: Date,
): Promise<string | undefined> {
  const record = new UserRecord(env);
  try {
    const directory = [...location.components, "plans"].join("/");
    if (location.root !== location.projectRoot || record.hasToldPlans(location.projectRoot)) return undefined;
    const opening = await open();
    if (opening.kind !== "open" || !(await hasUntracked(opening.repository, directory))) return undefined;
    record.rememberToldPlans(location.projectRoot, now);
    return `Plans are yours to commit or to ignore: git status shows ${directory}/. To ignore them: echo '/${directory.replaceAll("'", "'\\''")}/' >>.gitignore`;
  } catch (error) {
    if (error instanceof MaestroError) return undefined;
    throw error;
  }
}

// Says once per project, when its first session ends, that plans are the user's to commit or to ignore.

import { MaestroError } from "../errors.ts";
import { hasUntracked } from "../git/snapshot/untracked.ts";
import { UserRecord } from "../store/files/user-record.ts";
import { openProject, type ProjectPlace } from "./open-project.ts";

/** Undefined when it was said before, or when `git status` does not show the plans. A failure is silent: it is only a hint. */
export async function plansHint(
  place: ProjectPlace & Required<Pick<ProjectPlace, "location">>,
  now: Date,
): Promise<string | undefined> {
  const { env, location } = place;
  const record = new UserRecord(env);
  try {
    const directory = [...location.components, "plans"].join("/");
    if (location.root !== location.projectRoot || record.hasToldPlans(location.projectRoot)) return undefined;
    const opening = await openProject({ ...place, cwd: location.projectRoot });
    if (opening.kind !== "open" || !(await hasUntracked(opening.repository, directory))) return undefined;
    record.rememberToldPlans(location.projectRoot, now);
    return `Plans are yours to commit or to ignore: git status shows ${directory}/. To ignore them: echo '/${directory.replaceAll("'", "'\\''")}/' >>.gitignore`;
  } catch (error) {
    if (error instanceof MaestroError) return undefined;
    throw error;
  }
}

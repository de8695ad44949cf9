import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { phase, sessionOf } from "../../../test/support/sample-session.ts";
import { locateState } from "../../store/location.ts";
import { lookAtProject } from "./look.ts";

let project: GitProject;
beforeEach(() => {
  project = new GitProject();
});
afterEach(() => project.remove());

/** Tracks so many files, of which none but the first is in the directory: git looks at a missing file faster than at one that is there. */
function track(count: number): void {
  writeFileSync(join(project.path, "0.txt"), "");
  const blob = project.git("hash-object", "-w", "0.txt");
  const input = Array.from({ length: count }, (_, at) => `100644 ${blob}\t${at}.txt\n`).join("");
  const { status } = spawnSync("git", ["update-index", "--index-info"], { cwd: project.path, input });
  expect(status).toBe(0);
}

test("a delegation is recorded from snapshots up to 50,000 tracked files, and above from the changed files that git names (C49)", async () => {
  const place = { location: locateState(project.path, ".gemini"), env: { XDG_CACHE_HOME: project.cache } };
  const session = sessionOf([phase("1")], []);
  track(50_001);
  expect((await lookAtProject(place, session)).kind).toBe("status");
  project.git("update-index", "--force-remove", "50000.txt");
  expect((await lookAtProject(place, session)).kind).toBe("commit");
});

// The user chooses whether to commit or ignore plans: Maestro says so once, at the end of the first session of a project.

import { afterEach, describe, expect, test } from "vitest";
import { initRepository } from "../support/empty-repository.ts";
import { finish, move, Shelf } from "../support/hooks.ts";
import { withServer } from "../support/mcp.ts";
import { createSession, Project } from "../support/project.ts";

const shelf = new Shelf();
afterEach(() => shelf.clear());

function doneSession(isRepository: boolean, ignored = ""): Project {
  const project = shelf.keep(new Project());
  if (isRepository) initRepository(project.path);
  project.write(".gitignore", `.home/\n${ignored}`);
  begin(project);
  return project;
}

function begin(project: Project): void {
  createSession(project, [{ id: 1 }], "sequential");
  move(project, "1", "in_progress");
  move(project, "1", "completed");
}

const hint = "Plans are yours to commit or to ignore: git status shows .gemini/plans/.";

describe("the hint about plans", () => {
  test("is given once per project, with a command that does it", () => {
    const project = doneSession(true);
    finish(project);
    const first = project.maestro(["archive"]);
    expect(first.stderr).toContain(hint);
    expect(project.run("git", ["status", "--porcelain"]).stdout).toContain(".gemini/");
    const [, command = "false"] = /To ignore them: (.*)$/m.exec(first.stderr) ?? [];
    begin(project);
    finish(project);
    expect(project.maestro(["archive"]).stderr).not.toContain("Plans");
    expect(project.run("sh", ["-c", command]).code).toBe(0);
    expect(project.run("git", ["status", "--porcelain", "-uall"]).stdout).not.toContain(".gemini/");
  });

  test("is in the answer that completes and archives the session for a model", async () => {
    const project = doneSession(true);
    await withServer(project, async (client) => {
      const answer = await client.ok("maestro_session_write", { action: "complete", summary: "Done." });
      expect(answer).toMatchObject({ status: "completed", hint: expect.stringContaining(hint) });
    });
    begin(project);
    await withServer(project, async (client) => {
      const answer = await client.ok("maestro_session_write", { action: "complete", summary: "Done." });
      expect(answer).not.toHaveProperty("hint");
    });
  });

  test.each([
    ["outside git", false, ""],
    ["when the plans are ignored", true, ".gemini/\n"],
  ])("is not given %s", (_when, isRepository, ignored) => {
    const project = doneSession(isRepository, ignored);
    finish(project);
    const archived = project.maestro(["archive"]);
    expect([archived.code, archived.stderr]).toEqual([0, ""]);
  });
});

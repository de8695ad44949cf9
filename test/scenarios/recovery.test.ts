import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { snapshot } from "../../src/git/snapshot/snapshot.ts";
import { worktreePrefix } from "../../src/git/worktree/prefix.ts";
import { addWorktree } from "../../src/git/worktree/worktree.ts";
import { readIntent, writeIntent } from "../../src/store/files/integration-file.ts";
import { withServer } from "../support/mcp.ts";
import { WorkedProject } from "../support/worked-project.ts";

const SESSION = "2026-02-14-task-api";
const journalOf = (project: WorkedProject) =>
  readFileSync(join(project.path, ".gemini/state/progress.jsonl"), "utf8").trimEnd().split("\n");

/**
 * An engine died while it brought the work of phase 1 into the project, and while an attempt of phase 2 was at work in its worktree.
 * Returns how many events the journal has by then.
 */
async function deadEngine(project: WorkedProject): Promise<number> {
  project.write({ "src/a.ts": "a\n", "src/old.ts": "old\n", "notes.md": "notes\n" });
  project.git.commit();
  project.createSession([
    { id: 1, files_modified: ["src/a.ts"], files_created: ["src/new.ts"] },
    { id: 2, files_created: ["src/two.ts"] },
  ]);
  const edit = () => project.write({ "src/a.ts": "changed\n", "src/new.ts": "new\n" });
  const { base, commit } = await project.attempt("1", edit);
  await startedAttempt(project);
  const [from, to] = [base, commit].map((id) => project.git.git("rev-parse", `${id}^{tree}`)) as [string, string];
  writeIntent(project.location, { session: SESSION, phase: "1", attempt: 1, what: "integrate", from, to });
  project.write({ "src/new.ts": "new\n" });
  return journalOf(project).length;
}

/** An attempt of phase 2 that has changed a file in a worktree whose owner is dead. */
async function startedAttempt(project: WorkedProject): Promise<void> {
  const repository = await project.repository();
  const name = `${worktreePrefix(project.location)}r2-p2-1`;
  const taken = await snapshot(repository, { exclude: [".gemini"], include: [] });
  const { root } = await addWorktree(repository, "s", name, taken, "r2/2/1");
  const marker = join(repository.place, `${name}.worktree.json`);
  const content = JSON.parse(readFileSync(marker, "utf8"));
  writeFileSync(marker, JSON.stringify({ ...content, owner: { ...content.owner, start: "1" } }));
  writeFileSync(join(root, "src/two.ts"), "two\n");
  const about = { phase: "2", attempt: 1 };
  const run = { run: "r2", runtime: "gemini", model: null, batch: SESSION, name: "coder.p2-1" };
  project.record(
    { type: "phase.moved", phase: "2", from: "pending", to: "in_progress", hashes: {} },
    { type: "attempt.started", ...about, agent: "coder", ...run, prompt_bytes: 1, timeout_ms: 1000 },
    { type: "attempt.placed", ...about, worktree: name, base: taken.commit },
  );
}

/** The state after a decision, without times, checksums, and ids of commits, which contain the time. */
function remains(project: WorkedProject, eventsBefore: number) {
  const { git } = project;
  const events = journalOf(project)
    .slice(eventsBefore)
    .map((line) => {
      const { ts: _, crc: __, ...event } = JSON.parse(line);
      return JSON.parse(
        JSON.stringify(event)
          .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
          .replace(/"(base|commit)":"[0-9a-f]+"/g, '"$1":"<commit>"'),
      );
    });
  const refs = git.git("for-each-ref", "--format=%(refname) %(tree)", "refs/maestro").split("\n");
  const worktrees = git.git("worktree", "list", "--porcelain").match(/^worktree /gm)?.length;
  return {
    events,
    refs,
    worktrees,
    files: project.files(),
    status: git.git("status", "--porcelain"),
    begun: readIntent(project.location),
  };
}

async function after(decide: (project: WorkedProject) => Promise<string>) {
  const project = new WorkedProject();
  try {
    const eventsBefore = await deadEngine(project);
    const told = await decide(project);
    return { told, left: remains(project, eventsBefore) };
  } finally {
    project.remove();
  }
}

const byVerb = (...args: string[]) =>
  after(async (project) => {
    const { code, stderr } = project.maestro(args);
    expect(code, stderr).toBe(0);
    return stderr;
  });
const byTool = (args: object) =>
  after((project) =>
    withServer(project, async (client) => {
      const { warnings } = await client.ok("maestro_decide", { ...args, user_decision: true });
      return (warnings as string[]).join("\n");
    }),
  );

describe("after an engine died with a half-applied change and a running attempt", () => {
  const finished = "Integrating attempt 1 of phase 1 (session 2026-02-14-task-api) had been interrupted";

  test("maestro_decide abort does what `maestro abort` does", async () => {
    const verb = await byVerb("abort", "--reason", "wrong way");
    const tool = await byTool({ action: "abort", reason: "wrong way" });
    expect(tool.left).toEqual(verb.left);
    expect(verb.left.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["phase.moved", "session.status_set", "attempt.changed"]),
    );
    expect(verb.left).toMatchObject({ worktrees: 1, begun: undefined });
    expect(verb.left.refs.map((line) => line.split(" ")[0])).toEqual([
      `refs/maestro/${SESSION}/1/1`,
      `refs/maestro/${SESSION}/2/1`,
    ]);
    expect(verb.left.files).toEqual({ "src/a.ts": "a\n", "src/old.ts": "old\n", "notes.md": "notes\n" });
    for (const { told } of [verb, tool]) {
      expect(told).toContain(finished);
      expect(told).toContain("Phase 2 had changed 1 file when its engine died");
    }
  });

  test("maestro_decide skip does what `maestro skip` does", async () => {
    const verb = await byVerb("skip", "1", "--reason", "not needed");
    const tool = await byTool({ action: "skip", phase_id: "1", reason: "not needed" });
    expect(tool.left).toEqual(verb.left);
    expect(verb.left.events.map(({ type }) => type)).toEqual(["phase.moved"]);
    expect(verb.left).toMatchObject({ worktrees: 2, begun: undefined });
    expect(verb.left.files).toEqual({ "src/a.ts": "a\n", "src/old.ts": "old\n", "notes.md": "notes\n" });
    for (const { told } of [verb, tool]) expect(told).toContain(finished);
  });

  test("both refuse what cannot be decided, with the same words", async () => {
    const refused = async (decide: (project: WorkedProject) => Promise<string>) =>
      (
        await after(async (project) => {
          expect(project.maestro(["abort"]).code).toBe(0);
          return decide(project);
        })
      ).told;
    const verb = await refused(async (project) => project.maestro(["abort"]).stderr);
    const tool = await refused((project) =>
      withServer(project, async (client) => {
        const { message } = await client.refused("maestro_decide", { action: "abort", user_decision: true });
        return message;
      }),
    );
    expect(tool).toContain("was aborted already");
    expect(verb).toContain(tool);
  });
});

// Files that an attempt should not leave: large files stay out of the repository, and a warning names links that lead out of the project.

import { describe, expect, test, vi } from "vitest";
import { agent, bystander, type IsolatedProject, only, withIsolated } from "../support/isolated.ts";
import { TEST_TIMEOUT_MS } from "../support/processes.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const files = { "README.md": "hello\n", "a.txt": "a\n" };
const repositoryKb = (project: IsolatedProject) =>
  Number(/^size: (\d+)/m.exec(project.git("count-objects", "-v"))?.[1] ?? 0);

describe("a large file outside of the phase's files", () => {
  const large = agent(
    "large",
    ["a.txt"],
    ["shell", "head -c 30000000 /dev/urandom > core.dump"],
    ["append", ["a.txt", "more\n"]],
  );

  test.concurrent("is refused without a copy of it in .git, and diff says that it was not kept", () =>
    withIsolated(files, [large, bystander], async (project) => {
      const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...only("large")).ended;
      expect(run.code, run.stderr).toBe(4);
      expect(project.errorsOf("large")).toContain("Changed outside of its files:\\n- core.dump");
      expect(repositoryKb(project)).toBeLessThan(1000);
      const told = JSON.stringify(project.eventsOf("large", "phase.warned"));
      expect(told).toContain("Not kept: core.dump (28.6 MB)");
      const diff = project.maestro(["diff", "large"]);
      expect([diff.code, diff.stderr]).toEqual([
        0,
        "WARNING: Not kept (too large, and not owned by the phase): core.dump\n",
      ]);
      expect(diff.stdout).toContain("+more");
      expect(diff.stdout).not.toContain("core.dump");
      expect(project.maestro(["diff", "large", "--stat"]).stdout).toContain("core.dump");
    }));

  test.concurrent("comes in where that is only warned about", () =>
    withIsolated(files, [large, bystander], async (project) => {
      const run = await project.begin("--ownership", "warn", ...only("large")).ended;
      expect(run.code, run.stderr).toBe(0);
      expect(project.git("hash-object", "core.dump")).toMatch(/^[0-9a-f]{40}$/);
      expect(project.events("attempt.changed")[0]?.unkept).toBeUndefined();
    }));
});

describe("a link that leads out of the project", () => {
  test.concurrent("is applied with a warning that names it and its target", () =>
    withIsolated(
      files,
      [agent("links", ["out", "in"], ["shell", "ln -s ../../../../../etc/passwd out; ln -s a.txt in"]), bystander],
      async (project) => {
        const run = await project.begin(...only("links")).ended;
        expect(run.code, run.stderr).toBe(0);
        const message = "Links that lead out of the project: out -> ../../../../../etc/passwd";
        const [warned, ...others] = project
          .eventsOf("links", "phase.warned")
          .filter(({ code }) => code === "link_outside");
        expect([warned?.message, others]).toEqual([message, []]);
        expect(run.stderr).toContain(message);
        expect(project.maestro(["report"]).stdout).toContain(message);
        expect(project.maestro(["revert", "links"]).code).toBe(0);
        expect(project.maestro(["apply", "links"]).stderr).toContain(`WARNING: ${message}`);
      },
    ));
});

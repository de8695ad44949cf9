import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type IsolatedProject, withIsolated } from "../support/isolated.ts";
import { root } from "../support/project.ts";
import { played } from "../support/stand-in.ts";

/** Asks the MCP server as the client of an agent does, in the agent's directory and with its environment: ask <path>. */
const asking = `
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [path, answers] = process.argv.slice(2);
const server = spawn(process.execPath, [${JSON.stringify(join(root, "dist", "mcp.js"))}], { stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const clientInfo = { name: "test", version: "1" };
send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
send({ method: "notifications/initialized" });
send({ id: 2, method: "tools/call", params: { name: "maestro_request_scope", arguments: { paths: [path], reason: "the objective needs it" } } });
for await (const line of createInterface({ input: server.stdout })) {
  const { id, result } = JSON.parse(line);
  if (id !== 2) continue;
  appendFileSync(answers, JSON.stringify({ path, cwd: process.cwd(), ...JSON.parse(result.content[0].text) }) + "\\n");
  server.stdin.end();
}
`;

function withAsking(project: IsolatedProject): { answers: () => Record<string, unknown>[] } {
  const [program, answers] = [project.write(".bin/ask.mjs", asking), project.write(".bin/answers.jsonl", "")];
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$1" '${answers}'\n`;
  chmodSync(project.write(".bin/ask", launcher), 0o755);
  const lines = () => project.read(".bin/answers.jsonl").trimEnd().split("\n");
  return { answers: () => lines().map((line) => JSON.parse(line)) };
}

describe("an agent that needs more than its phase owns", () => {
  test("asks for it in its worktree: files without an owner are granted and integrated, files of another phase are not", () =>
    withIsolated({ "README.md": "hello\n" }, [], (project) => {
      const { answers } = withAsking(project);
      const refused = join(project.path, ".bin", "refused");
      project.plan([
        played(
          1,
          [
            ["command", ["ask", "src/extra.txt"]],
            ["write", ["src/extra.txt", "extra\n"]],
            ["write", ["src/one.txt", "one\n"]],
            ["await", refused],
            ["report", { created: "src/one.txt, src/extra.txt" }],
          ],
          { files_created: ["src/one.txt"] },
        ),
        played(
          2,
          [
            ["command", ["ask", "src/one.txt"]],
            ["write", [refused, ""]],
            ["write", ["src/two.txt", "two\n"]],
            ["report", { created: "src/two.txt" }],
          ],
          { files_created: ["src/two.txt"] },
        ),
      ]);
      const run = project.runPlan();
      expect(run, run.stderr).toMatchObject({ code: 0 });
      expect(answers()).toHaveLength(2);
      for (const { cwd } of answers()) expect(cwd).toContain(project.cache);
      expect(answers()).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ path: "src/extra.txt", granted: true, paths: ["src/extra.txt"] }),
          expect.objectContaining({ path: "src/one.txt", granted: false, owner: "1", paths: ["src/one.txt"] }),
        ]),
      );
      expect(project.events("phase.scope_requested")).toHaveLength(2);
      for (const name of ["one", "two", "extra"]) expect(project.read(`src/${name}.txt`)).toBe(`${name}\n`);
      const changed = project.events("attempt.changed");
      expect(changed.map(({ outside }) => outside)).toEqual([[], []]);
    }));

  test("has its work refused when it does not ask, and the next attempt learns what was out of scope", () =>
    withIsolated({ "theirs.txt": "old\n" }, [], (project) => {
      const steps = (...more: [string, unknown?][]) => [
        ["prompt"] as [string],
        ["write", ["src/one.txt", "one\n"]] as [string, unknown],
        ...more,
        ["report", { created: "src/one.txt" }] as [string, unknown],
      ];
      project.plan([
        played(1, steps(["write", ["theirs.txt", "new\n"]]), { files_created: ["src/one.txt"] }, steps()),
        played(2, [["write", ["src/two.txt", "two\n"]]], { files_created: ["src/two.txt"] }),
      ]);
      const run = project.runPlan();
      expect(run, run.stderr).toMatchObject({ code: 0 });
      expect(project.read("theirs.txt")).toBe("old\n");
      expect(project.read("src/one.txt")).toBe("one\n");
      const [first = "", second = ""] = project.agents
        .notes("prompt")
        .filter(({ phase }) => phase === "1")
        .map(({ prompt }) => prompt);
      expect(first).toContain("ask for it with `maestro_request_scope` first");
      expect(first).not.toContain("Out of scope are");
      expect(second).toContain("Changes to them were not kept.");
      expect(second).toContain("Changed outside of its files:\n- theirs.txt");
    }));
});

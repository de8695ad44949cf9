// What Maestro trusts in a project, and what it says before agents run there: with the stand-in for the CLI.

import { chmodSync } from "node:fs";
import { delimiter } from "node:path";
import { describe, expect, test } from "vitest";
import { baselineRules } from "../../src/agents/baseline.ts";
import { withIsolated } from "../support/isolated.ts";
import { type Project, planPath, root, withProject } from "../support/project.ts";
import { played, prepare, type StandIn, type Steps } from "../support/stand-in.ts";

const quick = ["--grace", "100ms", "--stagger", "0"];
const unseen = [["environment"]] as [string][];
const notTrusted = "You have not trusted this project in Gemini CLI";
const unguarded = `The Maestro extension is not installed in Gemini CLI. No guard checks the shell commands of agents; only policies restrict them. Install it: gemini extensions install ${root.replace(/\/$/, "")}\n`;

function install(project: Project): void {
  const linked = JSON.stringify({ source: root, type: "link" });
  project.write(".home/.gemini/extensions/maestro/.gemini-extension-install.json", linked);
}

const environmentOf = (agent: StandIn) => agent.notes("environment")[0]?.values ?? {};

describe("a program of the project with the name of the runtime", () => {
  test.each(["", ".", "bin", `${delimiter}/usr/bin`])("is not started through the PATH entry %j", (entry) =>
    withProject((project) => {
      prepare(project, [played(1, [])]);
      for (const path of ["gemini", "bin/gemini"]) {
        chmodSync(project.write(path, "#!/bin/sh\ntouch started\n"), 0o755);
      }
      const PATH = `${entry}${delimiter}/usr/bin${delimiter}/bin`;
      const run = project.maestro(["run", planPath, "--mode", "sequential", ...quick], { env: { PATH } });
      expect([run.code, run.stderr]).toEqual([3, expect.stringContaining("gemini was not found on PATH")]);
      expect(project.exists("started")).toBe(false);
      const doctor = project.maestro(["doctor"], { env: { PATH } });
      expect(doctor.stdout).toContain("gemini is not on the PATH");
    }),
  );

  test("is on the PATH of no agent, validation or setup", () => {
    const show = (file: string) => `printf '%s' "$PATH" >"$HOME/${file}"`;
    return withIsolated({}, [played(1, unseen, { validation: [show("validation")] })], (project) => {
      project.write(".home/here", "");
      const env = project.agents.env({ MAESTRO_WORKTREE_SETUP: show("setup") });
      env.PATH = `${delimiter}.${delimiter}${env.PATH}${delimiter}bin${delimiter}`;
      const run = project.maestro(["run", planPath, "--isolation", "worktree", ...quick], { env });
      expect(run.code, run.stderr).toBe(0);
      const seen = [environmentOf(project.agents).PATH, project.read(".home/validation"), project.read(".home/setup")];
      for (const path of seen) {
        expect(path?.split(delimiter).filter((entry) => !entry.startsWith("/"))).toEqual([]);
        expect(path).toContain("/bin");
      }
    });
  });
});

describe("the variables of an agent", () => {
  test("are the user's own, whatever env files lie in its worktree", () => {
    const committed = "GEMINI_API_KEY=theirs\nX_BASE_URL=http://evil\nNODE_OPTIONS=--require=./x\nPORT=1\n";
    return withIsolated({ ".env": committed }, [played(1, unseen), played(2, unseen)], (project) => {
      project.write(".gemini/.env", "export GEMINI_SYSTEM_MD=./evil.md\n");
      project.git("add", "-f", ".gemini/.env");
      project.git("commit", "-q", "-m", "trap");
      project.write(".home/.env", "GEMINI_API_KEY=of-the-home\nGEMINI_MODEL=of-the-home\n");
      const env = project.agents.env({ GEMINI_MODEL: "exported" });
      const run = project.maestro(["run", planPath, "--isolation", "worktree", ...quick], { env });
      expect(run.code, run.stderr).toBe(0);
      const given = project.agents.notes("environment").map(({ values }) => values);
      expect(given).toHaveLength(2);
      for (const values of given) {
        expect(values).toMatchObject({
          GEMINI_API_KEY: "of-the-home",
          GEMINI_MODEL: "exported",
          X_BASE_URL: "",
          NODE_OPTIONS: "",
          GEMINI_SYSTEM_MD: "",
          GEMINI_CLI_TRUST_WORKSPACE: "false",
        });
        expect(values).not.toHaveProperty("PORT");
      }
      const warnings = run.stderr.split("\n").filter((line) => line.startsWith("WARNING: ") && line.includes(" sets "));
      expect(warnings).toEqual([
        "WARNING: .gemini/.env sets GEMINI_SYSTEM_MD: agents do not get it from a project. To use your own, export it: export GEMINI_SYSTEM_MD=...",
        "WARNING: .env sets GEMINI_API_KEY, NODE_OPTIONS, X_BASE_URL: agents do not get them from a project. To use your own, export it: export GEMINI_API_KEY=...",
      ]);
    });
  });

  test("are pinned before an agent that still runs can write an env file", () =>
    withProject((project) => {
      const agent = prepare(project, [played(1, []), played(2, unseen, { blocked_by: [1] })]);
      const run = project.maestro(["run", planPath, ...quick], { env: agent.env() });
      expect(run.code, run.stderr).toBe(0);
      expect(environmentOf(agent)).toMatchObject({ NODE_OPTIONS: "", GOOGLE_GEMINI_BASE_URL: "", BASH_ENV: "" });
    }));

  test("are not guessed: no agent starts beside an env file that cannot be read to its end", () =>
    withProject((project) => {
      const agent = prepare(project, [played(1, unseen)]);
      project.write(".gemini/.env", `${"#".repeat(1024 * 1024)}\nGEMINI_MODEL=x\n`);
      const run = project.maestro(["run", planPath, ...quick], { env: agent.env({ MAESTRO_MAX_RETRIES: "0" }) });
      expect(run.code).toBe(4);
      expect(run.stdout + run.stderr).toMatch(/Cannot tell which variables .*\.gemini\/\.env sets/);
      expect(agent.notes()).toEqual([]);
    }));

  test("are the same in a dispatch", () =>
    withProject((project) => {
      const agent = prepare(project, []);
      project.write("batch/prompts/coder.txt", 'Work.\nPLAY {"*":[["environment"]]}\n');
      project.write(".env", "NODE_OPTIONS=--require=./x\nMAESTRO_GUARD=off\n");
      const run = project.maestro(["dispatch", "batch"], { env: agent.env() });
      expect(run.code, run.stderr).toBe(0);
      expect(environmentOf(agent)).toMatchObject({ NODE_OPTIONS: "", MAESTRO_GUARD: "" });
      expect(environmentOf(agent)).toMatchObject({ GEMINI_CLI_TRUST_WORKSPACE: "false" });
      expect(run.stdout).toContain(notTrusted);
      expect(run.stdout).toContain(unguarded);
    }));
});

describe("the baseline", () => {
  test("is handed to agents of every tier, by a run and by a dispatch, above the user's own policies", () =>
    withProject((project) => {
      const copy: Steps = [["command", ["sh", "-c", "cp .gemini/parallel/*/results/policy-*.toml .bin"]]];
      const agent = prepare(project, [played(1, copy), played(2, [], { agent: "architect" })]);
      project.write(
        "batch/prompts/tester.txt",
        `Work.\nPLAY {"*":[["command",["cp","batch/results/policy-full.toml",".bin/dispatched"]]]}\n`,
      );
      expect(project.maestro(["run", planPath, "--keep-open", ...quick], { env: agent.env() }).code).toBe(0);
      expect(project.maestro(["dispatch", "batch"], { env: agent.env() }).code).toBe(0);
      const starts = agent.notes("start");
      expect(starts.map(({ agent: name }) => name).sort()).toEqual(["architect", "coder", "tester"]);
      for (const { argv } of starts) {
        expect(argv.filter((word) => word === "--policy")).toHaveLength(2);
        expect(argv[argv.indexOf("--policy") + 1]).toMatch(/\/results\/policy-(?:full|read-only)\.toml$/);
        expect(argv[argv.lastIndexOf("--policy") + 1]).toBe("~/.gemini/policies");
      }
      for (const file of ["policy-full.toml", "dispatched"]) {
        const rules = project.read(`.bin/${file}`).split("[[rule]]").slice(1);
        // One more denies the tools of a conversation.
        expect(rules).toHaveLength(baselineRules.length + 1);
        expect(rules.filter((rule) => !rule.includes('decision = "deny"\npriority = 999\n'))).toEqual([]);
      }
    }));
});

describe("a run in a project that is not trusted", () => {
  test("says in the consent text that the project is not trusted and has no guard", () =>
    withProject((project) => {
      const agent = prepare(project, [played(1, [])]);
      const run = project.maestro(["run", planPath], { env: agent.env({ MAESTRO_EXECUTION_MODE: "ask" }) });
      expect(run.code).toBe(4);
      expect(run.stderr).toMatch(/Option 2: [\s\S]*You have not trusted this project[\s\S]*is not installed/);
      expect(run.stderr.split(notTrusted)).toHaveLength(2);
    }));

  test("says the same when the mode is preset, and again on resume", () =>
    withProject((project) => {
      const agent = prepare(project, [played(1, [["exit", 1]])]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      for (const words of [
        ["run", planPath, "--mode", "sequential"],
        ["resume", "--yes"],
      ]) {
        const run = project.maestro([...words, ...quick], { env });
        expect(run.stderr).toContain(`${notTrusted} (${project.path}): agents run in it without its settings`);
        expect(run.stderr).toContain(unguarded);
      }
    }));

  test("differs from a trusted project with the extension, which gets no warning", () =>
    withProject((project) => {
      install(project);
      project.write(".home/.gemini/trustedFolders.json", `{ // mine\n "${project.path}": "TRUST_FOLDER" }`);
      const agent = prepare(project, [played(1, unseen)]);
      const run = project.maestro(["run", planPath, ...quick], { env: agent.env() });
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).not.toMatch(/trusted|extension/);
      expect(environmentOf(agent).GEMINI_CLI_TRUST_WORKSPACE).toBeUndefined();
    }));

  test.each([
    [
      "extensions/extension-enablement.json",
      (home: string) => ({ maestro: { overrides: [`!${home}/*`] } }),
      /is disabled for .*gemini extensions enable maestro/,
    ],
    [
      "settings.json",
      () => ({ hooksConfig: { enabled: false } }),
      /does not run the hooks of Maestro \(setting hooksConfig\.enabled\)/,
    ],
    ["settings.json", () => ({ hooksConfig: { disabled: ["maestro-guard"] } }), /\(setting hooksConfig\.disabled\)/],
  ])("warns, as doctor does, when %s disables the guard", (file, content, said) =>
    withProject((project) => {
      install(project);
      project.write(`.home/.gemini/${file}`, JSON.stringify(content(project.path)));
      const agent = prepare(project, [played(1, [])]);
      const doctor = project.maestro(["doctor", "--json"], { env: agent.env() });
      const findings: { check: string; level: string; message: string; hint?: string }[] = JSON.parse(
        doctor.stdout,
      ).findings;
      const hooks = findings.find(({ check }) => check === "hooks");
      expect(hooks).toMatchObject({ level: "warn" });
      expect(`${hooks?.message} ${hooks?.hint}`).toMatch(said);
      expect(project.maestro(["run", planPath, ...quick], { env: agent.env() }).stderr).toMatch(said);
    }),
  );
});

import { existsSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { Project } from "../support/project.ts";

let project: Project;
beforeEach(() => {
  project = new Project();
  project.write(".home/.local/bin/.keep", "");
});
afterEach(() => project.remove());

const home = () => join(project.path, ".home");
const env = () => ({ HOME: home(), PATH: [join(home(), ".local/bin"), process.env.PATH].join(delimiter) });
const setup = (...words: string[]) => commandLine(project, ["setup", ...words], { env: env() });
const files = [
  ".gemini/policies/maestro.toml",
  ".local/bin/maestro",
  ".local/share/bash-completion/completions/maestro",
  ".local/share/zsh/site-functions/_maestro",
  ".config/fish/completions/maestro.fish",
];
const present = () => files.filter((file) => existsSync(join(home(), file)));

describe("setup", () => {
  test("writes nothing before the user agrees, and with --dry-run prints the policy", async () => {
    const asked = await setup();
    expect([asked.code, asked.stdout, present()]).toEqual([4, "", []]);
    expect(asked.stderr).toContain("Gemini CLI still asks before agents start");
    const dry = await setup("--dry-run");
    expect([dry.code, present()]).toEqual([0, []]);
    expect(dry.stdout).toContain('decision = "allow"');
  });

  test("installs the policy, the command and the completions, and removes them again", async () => {
    expect((await setup("--yes")).code).toBe(0);
    expect(present()).toEqual(files);
    const version = project.run(join(home(), ".local/bin/maestro"), ["--version"]);
    expect([version.code, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    const again = JSON.parse((await setup("--json")).stdout);
    expect([again.done, again.files.map(({ deed }: { deed: string }) => deed)]).toEqual([
      true,
      files.map(() => "keep"),
    ]);
    expect((await setup("--undo", "--yes")).code).toBe(0);
    expect(present()).toEqual([]);
  });

  test.each([".home", "the 'home' of $(x)"])(
    "says what is left to do in start-up files, to paste, in %s",
    async (name) => {
      const place = join(project.path, name);
      const elsewhere = { HOME: place, PATH: process.env.PATH ?? "" };
      const { stdout } = await commandLine(project, ["setup", "--yes"], { env: elsewhere });
      const [line = ""] = /export PATH=.*/.exec(stdout) ?? [];
      const [source = ""] = /(?<=add to ~\/\.bashrc: ).*/.exec(stdout) ?? [];
      const run = project.run("bash", ["-c", `${line}; ${source}; command -v maestro; complete -p maestro`]);
      expect(run.stdout).toBe(`${join(place, ".local/bin/maestro")}\ncomplete -o default -F _maestro maestro\n`);
    },
  );

  test.each([{ HOME: "" }, { HOME: "here", XDG_DATA_HOME: "here", XDG_CONFIG_HOME: "here", GEMINI_CLI_HOME: "here" }])(
    "never writes below the current directory: %j",
    async (variables) => {
      // Nothing is written: the home is then that of the account that runs the test.
      const run = await commandLine(project, ["setup", "--dry-run", "--json"], { env: { ...env(), ...variables } });
      const { files: steps } = JSON.parse(run.stdout) as { files: { path: string }[] };
      expect(steps).toHaveLength(files.length);
      expect(
        steps.map(({ path }) => path).filter((path) => !isAbsolute(path) || path.startsWith(project.path)),
      ).toEqual([]);
    },
  );

  test("completes verbs, subcommands and options in bash", async () => {
    expect((await setup("--yes")).code).toBe(0);
    const completed = (...words: string[]) => {
      const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _maestro; echo "\${COMPREPLY[*]}"`;
      const file = join(home(), ".local/share/bash-completion/completions/maestro");
      return project.run("bash", ["-c", script, "bash", file, "maestro", ...words]).stdout.trim();
    };
    expect(completed("sessi")).toBe("session");
    expect(completed("session", "crea")).toBe("create");
    expect(completed("run", "plan.md", "--max-c")).toBe("--max-concurrent");
  });

  test("leaves files alone that the user edited or that another program wrote", async () => {
    expect((await setup("--yes")).code).toBe(0);
    const policy = `.home/${files[0]}`;
    project.write(policy, `${project.read(policy)}# mine\n`);
    project.write(`.home/${files[1]}`, "#!/bin/sh\necho another maestro\n");
    const before = [0, 1].map((at) => project.read(`.home/${files[at]}`));
    for (const words of [["--yes"], ["--undo", "--yes"]]) {
      const run = await setup(...words);
      expect([run.code, run.stdout]).toEqual([1, expect.stringContaining("not written by Maestro")]);
      expect([0, 1].map((at) => project.read(`.home/${files[at]}`))).toEqual(before);
    }
  });

  test("does not write through a link", async () => {
    project.write("elsewhere.toml", "user\n");
    project.write(".home/.gemini/policies/.keep", "");
    symlinkSync(join(project.path, "elsewhere.toml"), join(home(), files[0] as string));
    expect((await setup("--yes")).code).toBe(1);
    expect(project.read("elsewhere.toml")).toBe("user\n");
  });

  test("is refused inside an attempt", async () => {
    const run = await commandLine(project, ["setup", "--yes"], { env: { ...env(), MAESTRO_ATTEMPT: "1" } });
    expect([run.code === 0, present()]).toEqual([false, []]);
  });

  test("is reported by doctor: not run, incomplete, complete", async () => {
    const finding = async () => {
      const { stdout } = await commandLine(project, ["doctor", "--json"], { env: env() });
      const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string; message: string }[] };
      return findings.find(({ check }) => check === "setup");
    };
    expect(await finding()).toMatchObject({ level: "ok", message: expect.stringContaining("maestro setup") });
    await setup("--yes");
    expect(await finding()).toMatchObject({ level: "ok", message: "Set-up is complete and current" });
    rmSync(join(home(), files[4] as string));
    expect(await finding()).toMatchObject({ level: "warn", message: expect.stringContaining("completion in fish") });
  });
});

import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, type TestContext, test } from "vitest";
import { CANARY, type Ended, SandboxFixture } from "../../../test/support/sandbox-fixture.ts";
import { cellFor } from "./cell.ts";

let fixture: SandboxFixture;
beforeEach(() => {
  fixture = new SandboxFixture(tmpdir());
});
afterEach(() => fixture.remove());

const echo = (text: string) => `#!/bin/sh\necho ${text}\n`;

/** Runs a shell line inside, with directories of the home at the front of the PATH. */
function withPath(context: TestContext, directories: string[], script: string): Promise<Ended> {
  const PATH = [...directories.map((path) => join(fixture.base, path)), fixture.env.PATH].join(delimiter);
  return fixture.sh(context, `${script}; grep -rs ${CANARY} ${fixture.base}; :`, { env: { PATH } });
}

describe("programs on the PATH that are in the home", () => {
  test.for<[what: string, directory: string, files: Record<string, string>, hidden: string[]]>([
    [
      "Node of nvm, whose prefix holds a token",
      "home/.nvm/versions/node/v20/bin",
      {
        "home/.nvm/versions/node/v20/bin/tool": '. "$(dirname "$0")/../lib/part.sh"',
        "home/.nvm/versions/node/v20/lib/part.sh": "echo ran",
      },
      ["home/.nvm/versions/node/v20/etc/npmrc", "home/.nvm/versions/node/v18/etc/npmrc"],
    ],
    [
      "shims of pyenv, which look for their versions",
      "home/.pyenv/shims",
      {
        "home/.pyenv/shims/tool": 'exec "$(dirname "$0")/../versions/3.12/bin/tool"',
        "home/.pyenv/versions/3.12/bin/tool": "echo ran",
      },
      ["home/.pyenv/versions/3.12/pip.conf"],
    ],
    [
      "cargo, beside its credentials",
      "home/.cargo/bin",
      {
        "home/.cargo/bin/tool": "cat ~/.cargo/registry/crate >/dev/null && echo ran",
        "home/.cargo/registry/crate": "",
      },
      ["home/.cargo/credentials.toml", "home/.cargo/credentials", "home/.cargo/config.toml"],
    ],
    [
      "Go, beside repositories",
      "home/go/bin",
      { "home/go/bin/tool": "cat ~/go/pkg/mod/m >/dev/null && echo ran", "home/go/pkg/mod/m": "" },
      ["home/go/src/example.com/other/.env"],
    ],
    [
      "the root of a toolchain itself",
      "home/.dotnet",
      { "home/.dotnet/dotnet": "", "home/.dotnet/tools/tool": "", "home/.dotnet/sdk/a": "" },
      ["home/.dotnet/corefx/cryptography/x509stores/my/key.pfx"],
    ],
    [
      "an unknown version manager: its prefix, without settings and data",
      "home/.newtool/bin",
      { "home/.newtool/bin/tool": '. "$(dirname "$0")/../lib/part.sh"', "home/.newtool/lib/part.sh": "echo ran" },
      ["home/.newtool/.env", "home/.newtool/.credentials/a", "home/.newtool/var/db"],
    ],
    [
      "a directory of one's own",
      "home/bin",
      { "home/bin/tool": '. "$(dirname "$0")/part.sh"', "home/bin/part.sh": "echo ran" },
      ["home/bin/.env", "home/secret"],
    ],
    [
      "a tool beside its sign-in",
      "home/.docker/bin",
      { "home/.docker/bin/tool": "echo ran" },
      ["home/.docker/config.json", "home/.docker/contexts/a"],
    ],
    [
      "a repository with bin and lib is not an installation",
      "home/src/other/bin",
      { "home/src/other/bin/tool": "echo ran", "home/src/other/.git/HEAD": "" },
      ["home/src/other/lib/source", "home/src/other/.env", "home/src/other/config/secrets.yml"],
    ],
    [
      "a repository that is on the PATH itself",
      "home/src/tools",
      { "home/src/tools/tool": "echo ran" },
      ["home/src/tools/.env", "home/src/tools/.git/config", "home/src/other/.env"],
    ],
  ])("%s", async ([, directory, files, hidden], context) => {
    for (const [path, text] of Object.entries(files)) fixture.write(path, `#!/bin/sh\n${text}\n`);
    for (const path of hidden) fixture.write(path, CANARY);
    const { stdout } = await withPath(
      context,
      [directory],
      directory === "home/.dotnet" ? "cat ~/.dotnet/sdk/a >/dev/null && echo ran" : "tool",
    );
    expect(stdout).toBe("ran\n");
  });

  test.for<[what: string, target: string, files: Record<string, string>, hidden: string[]]>([
    [
      "a package of npm, with the packages it needs",
      "lib/node_modules/tool/bin/tool.sh",
      {
        "home/opt/lib/node_modules/tool/bin/tool.sh": '. "$(dirname "$(realpath "$0")")/../../dep/part.sh"',
        "home/opt/lib/node_modules/dep/part.sh": "echo ran",
      },
      ["home/opt/.env", "home/opt/secret"],
    ],
    [
      "an application of pipx",
      "../.local/share/pipx/venvs/tool/bin/tool",
      {
        "home/.local/share/pipx/venvs/tool/bin/tool": "cat ~/.local/share/pipx/venvs/tool/lib/m >/dev/null && echo ran",
        "home/.local/share/pipx/venvs/tool/lib/m": "",
      },
      ["home/.local/share/keyrings/login", "home/.local/share/other/token"],
    ],
    [
      "a package of its own among the user's data",
      "../.local/share/tool/versions/1/tool",
      {
        "home/.local/share/tool/versions/1/tool": "cat ~/.local/share/tool/part >/dev/null && echo ran",
        "home/.local/share/tool/part": "",
      },
      ["home/.local/share/keyrings/login", "home/.local/share/tool/.token"],
    ],
    [
      "a script of a repository: the script alone",
      "../src/other/tool.sh",
      { "home/src/other/tool.sh": "echo ran", "home/src/other/.git/HEAD": "" },
      ["home/src/other/.env", "home/src/other/readme", "home/src/third/.env"],
    ],
    [
      "an installation elsewhere",
      "../apps/tool-1.0/bin/tool",
      {
        "home/apps/tool-1.0/bin/tool": "cat ~/apps/tool-1.0/share/part >/dev/null && echo ran",
        "home/apps/tool-1.0/share/part": "",
      },
      ["home/apps/other/.env", "home/apps/tool-1.0/.env", "home/apps/tool-1.0/etc/npmrc"],
    ],
  ])("a link in ~/.local/bin to %s", async ([, target, files, hidden], context) => {
    for (const [path, text] of Object.entries(files)) fixture.write(path, `#!/bin/sh\n${text}\n`);
    for (const path of hidden) fixture.write(path, CANARY);
    const [first = ""] = Object.keys(files);
    fixture.link(target.startsWith("..") ? `../${target}` : join(fixture.base, first), "home/.local/bin/linked");
    expect((await withPath(context, ["home/.local/bin"], "linked")).stdout).toBe("ran\n");
  });

  test("a version manager that is a link, and one that a variable has moved", async (context) => {
    fixture.write("disk/volta/bin/tool", echo("volta"));
    fixture.write("disk/cargo/bin/other", echo("cargo"));
    fixture.write("disk/cargo/credentials.toml", CANARY);
    fixture.link(join(fixture.base, "disk/volta"), "home/.volta");
    const PATH = [join(fixture.home, ".volta/bin"), join(fixture.base, "disk/cargo/bin"), fixture.env.PATH].join(
      delimiter,
    );
    const env = { PATH, CARGO_HOME: join(fixture.base, "disk/cargo") };
    const { stdout } = await fixture.sh(context, `tool; other; grep -rs ${CANARY} ${fixture.base}; :`, { env });
    expect(stdout).toBe("volta\ncargo\n");
  });

  test("a socket among programs is absent", async (context) => {
    fixture.write("home/bin/tool", echo("ran"));
    const path = join(fixture.home, "bin", "agent.sock");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const { stdout } = await withPath(context, ["home/bin"], `tool; [ -e ${path} ] && echo there`);
    server.close();
    expect(stdout).toBe("ran\n");
  });

  test("a project on the PATH stays absent", async (context) => {
    fixture.write("project/bin/tool", echo("ran"));
    fixture.write("project/lib/source", CANARY);
    const { stdout } = await withPath(context, ["project/bin", "project", "cache/place", "cache"], "tool 2>/dev/null");
    expect(stdout).toBe("");
  });

  test("hundreds of links do not create hundreds of mounts", () => {
    for (let index = 0; index < 600; index += 1) {
      fixture.write(`home/src/r${index}/tool`, "");
      fixture.link(`../src/r${index}/tool`, `home/bin/t${index}`);
    }
    mkdirSync(join(fixture.home, ".git"));
    const PATH = [join(fixture.home, "bin"), fixture.env.PATH].join(delimiter);
    expect(cellFor(fixture.place({ env: { PATH } })).mounts.length).toBeLessThan(300);
  });
});

describe("the runtime", () => {
  test("that is a checkout is mounted with its package, without entries that start with a dot", async (context) => {
    const program = fixture.write("home/src/cli/bundle/agent.sh", '#!/bin/sh\n. "$(dirname "$0")/../part.sh"\n');
    fixture.write("home/src/cli/package.json", "{}");
    fixture.write("home/src/cli/part.sh", 'echo part; grep -rs "$1" ~\n');
    for (const path of ["home/src/cli/.env", "home/src/cli/.git/config", "home/src/other/.env"])
      fixture.write(path, CANARY);
    expect((await fixture.run(context, [CANARY], { program })).stdout).toBe("part\n");
  });

  test("that is a link in node_modules is mounted with its package", async (context) => {
    fixture.write("tools/node_modules/agent/bundle/agent.sh", echo("agent"));
    fixture.link("../agent/bundle/agent.sh", "tools/node_modules/.bin/agent");
    const program = join(fixture.base, "tools/node_modules/.bin/agent");
    expect(await fixture.run(context, [], { program })).toMatchObject({ stdout: "agent\n", stderr: "" });
  });

  test("that is a single file among repositories is mounted alone", async (context) => {
    const program = fixture.write("home/src/agent.sh", '#!/bin/sh\necho ran; grep -rs "$1" ~\n');
    fixture.write("home/src/other/.env", CANARY);
    expect((await fixture.run(context, [CANARY], { program })).stdout).toBe("ran\n");
  });

  test("sees a linked extension at the path of its source", async (context) => {
    const source = join(fixture.home, "src", "extension");
    fixture.write("home/src/extension/hook.sh", echo("hook"));
    fixture.write("home/src/extension/.env", CANARY);
    fixture.write("home/src/other/.env", CANARY);
    const install = (name: string, text: string) =>
      fixture.write(`home/.gemini/extensions/${name}/.gemini-extension-install.json`, text);
    install("maestro", JSON.stringify({ source, type: "link" }));
    install("broken", "{");
    install("null", "null");
    install("everything", JSON.stringify({ source: fixture.home, type: "link" }));
    install("copied", JSON.stringify({ source: join(fixture.home, "src/other"), type: "local" }));
    const { stdout } = await fixture.sh(context, `${source}/hook.sh; grep -rs ${CANARY} ~; :`);
    expect(stdout).toBe("hook\n");
  });

  test.for<[what: string, files: string[], env: Record<string, string>, isThere: boolean]>([
    ["no other credentials", [], {}, true],
    ["an env file in ~/.gemini", ["home/.gemini/.env"], {}, false],
    ["an account", ["home/.gemini/oauth_creds.json"], {}, false],
    ["an exported key", [], { GEMINI_API_KEY: "key" }, false],
  ])("reads ~/.env only when no other credentials exist: %s", async ([, files, env, isThere], context) => {
    for (const path of ["home/.env", ...files]) fixture.write(path, "X=1\n");
    const { stdout } = await fixture.sh(context, "[ -e ~/.env ] && echo there; :", { env });
    expect(stdout).toBe(isThere ? "there\n" : "");
  });
});

// `maestro run --sandbox` from the outside: a real repository, real worktrees, an agent that tries to read files it must not read, setup and
// validation commands of a project with dependencies. Linux with bubblewrap.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readlinkSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { bubblewrap, socketScope } from "../support/bubblewrap.ts";
import { type IsolatedProject, withIsolated } from "../support/isolated.ts";
import { TEST_TIMEOUT_MS } from "../support/processes.ts";
import type { PhaseSpec } from "../support/project.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const CANARY = `canary-${randomUUID()}`;

const handoff = `## Task Report
- Status: success
- Files Created: none
- Files Modified: seen.txt
- Files Deleted: none
- Validation: pass
- Summary: Looked around.

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

const phase = (validation: string[] = []): PhaseSpec => ({ id: "looks", files_modified: ["seen.txt"], validation });

/** Its agent is a script that writes down what it sees. */
async function inSandbox(
  context: TestContext,
  script: string,
  use: {
    prepare?: (project: IsolatedProject) => void;
    validation?: string[];
    files?: Record<string, string>;
    env?: Record<string, string>;
  },
): Promise<string> {
  bubblewrap(context);
  const files = {
    "seen.txt": "",
    ".gitignore": "node_modules\n.env\n*.secret\n",
    "src/a.ts": `${CANARY}\n`,
    ...use.files,
  };
  let seen = "";
  await withIsolated(files, [phase(use.validation)], async (project) => {
    const answer = JSON.stringify({ response: handoff });
    const text = `#!/bin/sh\ncat >/dev/null\nPROJECT='${project.path}'\n{ ${script}\n} >seen.txt 2>&1\ncat <<'END'\n${answer}\nEND\n`;
    chmodSync(project.write(".bin/gemini", text), 0o755);
    use.prepare?.(project);
    const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0", ...use.env }, "--sandbox").ended;
    expect(run.code, `${run.stderr}\n${run.stdout}\n${project.read("seen.txt")}`).toBe(0);
    seen = project.read("seen.txt");
  });
  return seen;
}

describe("an agent of maestro run --sandbox", () => {
  test("finds its worktree, and neither the project nor anything else of the home or of other repositories", async (context) => {
    const secrets = [
      ...[".home/.databrickscfg", ".home/.Xauthority", ".home/.some-tool-nobody-knows", ".home/notes/passwords.txt"],
      ...[".home/src/other/.env", ".home/src/other/.git/config", ".env", "local.secret"],
    ];
    const script = `grep -rls ${CANARY} "$PROJECT" "$HOME" "$PWD/../../../.." /home /srv /mnt --exclude=seen.txt --exclude=gemini; ls "$PROJECT/src" ~/.databrickscfg; cat src/a.ts`;
    const seen = await inSandbox(context, script, {
      prepare: (project) => {
        for (const path of secrets) project.write(path, CANARY);
      },
    });
    expect(seen).toMatch(/^\S+\/src\/a\.ts\nls: .*\nls: .*\ncanary-/);
    expect(seen.match(new RegExp(CANARY, "g"))).toHaveLength(1);
  });

  test("does not read the passwords of the machine, nor its keys", async (context) => {
    const script =
      "for f in /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh /etc/ssl/private /var/log /srv /boot; do [ -e $f ] && echo $f; done; getent passwd root | cut -d: -f1; ls /etc/ssl/certs | wc -l";
    const seen = await inSandbox(context, script, {});
    expect(seen).toMatch(/^root\n\d+\n$/);
  });

  test("has limits: no core files, not any number of processes and files, no file without end", async (context) => {
    const seen = await inSandbox(context, "cat /proc/self/limits", {});
    const limit = (name: string) => new RegExp(`^${name} +(\\S+) +(\\S+)`, "m").exec(seen)?.slice(1);
    expect(limit("Max core file size")).toEqual(["0", "0"]);
    expect(limit("Max processes")).toEqual(["4096", "4096"]);
    expect(limit("Max file size")).toEqual([String(16 * 1024 ** 3), String(16 * 1024 ** 3)]);
    expect(Number(limit("Max open files")?.[1])).toBeLessThanOrEqual(65_536);
    expect(limit("Max address space")).toEqual(["unlimited", "unlimited"]);
  });

  test("sees no process of the machine, and no name of it", async (context) => {
    const sleeper = spawn("sleep", ["4711"], { detached: true });
    try {
      const namespaces = ["uts", "ipc", "pid"].map((name) => `/proc/self/ns/${name}`);
      const script = `grep -ls 4711 /proc/[0-9]*/cmdline; kill -0 ${sleeper.pid} 2>/dev/null && echo reached; for n in ${namespaces.join(" ")}; do readlink $n; done`;
      const seen = (await inSandbox(context, script, {})).trim().split("\n");
      expect(seen).toHaveLength(3);
      for (const outside of namespaces.map((path) => readlinkSync(path))) expect(seen).not.toContain(outside);
    } finally {
      sleeper.kill("SIGKILL");
    }
  });

  test("does not reach an abstract socket of the machine, and has sockets of its own", async (context) => {
    bubblewrap(context);
    if (socketScope() === null) context.skip("this kernel has no Landlock that scopes sockets");
    const name = `\0maestro-${randomUUID()}`;
    const server = createServer((socket) => socket.end("outside\n"));
    await new Promise<void>((resolve) => server.listen(name, resolve));
    const own = name.slice(1);
    const code = `const net = require("node:net"); const own = "\\0own-${own}";
      const tell = (path) => new Promise((done) => net.connect(path).on("data", (d) => console.log(String(d).trim())).on("error", (e) => { console.log(e.code); done(); }).on("close", done));
      net.createServer((s) => s.end("inside")).listen(own, async () => { await tell("\\0${own}"); await tell(own); process.exit(); });`;
    try {
      const seen = await inSandbox(context, `node -e '${code}'`, {});
      expect(seen).toBe("EPERM\ninside\n");
    } finally {
      server.close();
    }
  });
});

describe("commands that run in a sandbox", () => {
  const tools = {
    "package.json": '{ "name": "top", "workspaces": ["packages/*"], "scripts": { "test": "node check.js" } }',
    "check.js": 'console.log(require("lib"), require("@org/a"), require("@org/b"));\n',
    "packages/a/package.json": '{ "name": "@org/a", "main": "index.js" }',
    "packages/a/index.js":
      'module.exports = "a of " + (__dirname.includes("maestro-test-cache") ? "the worktree" : __dirname);\n',
    "packages/b/package.json": '{ "name": "@org/b", "main": "index.js" }',
    "packages/b/index.js": 'module.exports = require("inner");\n',
  };
  function install(project: IsolatedProject): void {
    project.write("node_modules/lib/index.js", "module.exports = 'lib';\n");
    project.write("node_modules/.bin/tool", "#!/bin/sh\necho tool\n");
    chmodSync(join(project.path, "node_modules/.bin/tool"), 0o755);
    project.write("packages/b/node_modules/inner/index.js", "module.exports = 'inner of b';\n");
    mkdirSync(join(project.path, "node_modules/@org"));
    for (const name of ["a", "b"]) {
      symlinkSync(`../../packages/${name}`, join(project.path, "node_modules/@org", name));
    }
  }

  test("find the dependencies that the worktree shares, and the packages of its workspace in the worktree", async (context) => {
    const seen = await inSandbox(
      context,
      "npm test --silent; npx --no-install tool; echo x 2>/dev/null >node_modules/lib/index.js || echo closed",
      {
        files: tools,
        prepare: install,
        validation: [
          "npm test --silent | grep 'lib a of the worktree inner of b'",
          "npx --no-install tool",
          "git --version",
        ],
        env: { MAESTRO_WORKTREE_SETUP: "node check.js && ! ls /etc/shadow" },
      },
    );
    expect(seen).toContain("lib a of the worktree inner of b\ntool\n");
    expect(seen).toContain("closed");
  });

  test("know the user by name and address, and nothing else of the user's git", async (context) => {
    const script =
      "cd $(mktemp -d) && git init -q . && git commit -q --allow-empty -m x && git log --format='%an <%ae>'; git config --list --global | grep -v ^user";
    const seen = await inSandbox(context, script, {
      prepare: (project) => project.write(".home/.gitconfig", `[credential]\n\thelper = ${CANARY}\n`),
    });
    expect(seen.trim().split("\n").at(-1)).toBe("User <user@example.com>");
    expect(seen).not.toContain(CANARY);
  });
});

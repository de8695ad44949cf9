import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, type TestContext, test } from "vitest";
import { bubblewrap, socketScope } from "../../../test/support/bubblewrap.ts";
import { filesBelow, GitProject } from "../../../test/support/git-repository.ts";
import { isAlive, until } from "../../../test/support/processes.ts";
import { root } from "../../../test/support/project.ts";
import { CANARY, SandboxFixture } from "../../../test/support/sandbox-fixture.ts";
import { snapshot } from "../../git/snapshot/snapshot.ts";
import { addWorktree } from "../../git/worktree/worktree.ts";
import { Lifeline } from "../process/lifeline.ts";
import { Supervisor } from "../process/supervisor.ts";
import { endAll, RUN_MARKER } from "../process/tree.ts";
import { cellFor, type Whereabouts } from "./cell.ts";
import { type Cell, inSandbox } from "./sandbox.ts";

const places = [
  ["among temporary files", tmpdir()],
  ["elsewhere", join(root, "node_modules", ".cache", "maestro-test")],
] as const;

describe.each(places)("a project %s", (where, parent) => {
  let fixture: SandboxFixture;
  beforeEach(() => {
    fixture = new SandboxFixture(parent);
  });
  afterEach(() => fixture.remove());

  test("the worktree is writable, and nothing else on the machine can be changed or created", async (context) => {
    const { base, home, project } = fixture;
    const before = filesBelow(base);
    const own = [project, `${project}/src`, `${project}/.gemini/state`, home, `${home}/.config`];
    const machine = ["/", "/etc", "/usr", "/var", "/run", "/sys", "/proc"];
    // A checkout below the temporary directory is inside the sandbox's private one.
    const isApart = where === "elsewhere" && !/^\/(?:var\/)?tmp\//.test(base);
    const beside = isApart ? [base, `${base}/cache`, `${base}/cache/place/p1-1`] : [];
    const tries = [...own, ...machine, ...beside].map(
      (path) => `touch '${path}/maestro-was-here' 2>/dev/null && echo ${path}`,
    );
    const script = `${tries.join("\n")}\necho changed >src/a.ts; mkdir new; echo new >new/b.ts; rm -f .git; pwd`;
    const { stdout } = await fixture.sh(context, script);
    expect(stdout).toBe(`${fixture.worktree}\n`);
    expect(filesBelow(base)).toEqual({
      ...before,
      "cache/place/p1-1/project/src/a.ts": "x changed\n",
      "cache/place/p1-1/project/new/b.ts": "- new\n",
    });
  });

  test("temporary files are private, wherever the user keeps them", async (context) => {
    const name = `maestro-${process.pid}-${Date.now()}`;
    const script = `echo x >/tmp/${name} && echo x >/var/tmp/${name} && cat "$TMPDIR/${name}" && ls /tmp`;
    const { code, stdout } = await fixture.sh(context, script, { env: { TMPDIR: join(fixture.base, "own") } });
    expect(code).toBe(0);
    expect(stdout).toContain(`x\n`);
    expect(stdout).not.toMatch(/maestro-test-|bash_jobs/);
    expect([`/tmp/${name}`, `/var/tmp/${name}`].filter((path) => existsSync(path))).toEqual([]);
  });

  test("the project and the rest of the home are absent, under every name", async (context) => {
    const hidden = [
      ...["project/.env", "project/config/master.key", "home/src/other/.env", "home/src/other/readme"],
      ...["home/.databrickscfg", "home/.Xauthority", "home/.unknown-tool/token", "home/notes.txt", "home/.gitconfig"],
      ...["home/.config/tool/settings", "home/.local/share/keyrings/login", "home/.cargo/credentials.toml"],
      ...["home/.cache/tool/session", "home/.m2/settings.xml", "home/.gradle/gradle.properties", "home/.npmrc"],
    ];
    for (const path of hidden) fixture.write(path, CANARY);
    fixture.write("home/.cargo/registry/crate", "crate\n");
    const files = [...hidden, "project/src/a.ts"].map((path) => `'${fixture.base}/${path}'`).join(" ");
    const script = `grep -rs ${CANARY} ${fixture.base}; for f in ${files}; do [ -e "$f" ] && echo "$f"; done; ls -A ${fixture.base} ~; cat ~/.cargo/registry/crate`;
    const { stdout } = await fixture.sh(context, script);
    expect(stdout).toBe(`${fixture.base}:\ncache\nhome\nproject\n\n${fixture.home}:\n.cache\n.cargo\n.gemini\ncrate\n`);
  });

  test("only the session is visible of the state, and it is read-only", async (context) => {
    fixture.write("project/.gemini/state/archive/old.md", CANARY);
    fixture.write("project/.gemini/parallel/b1/results/other.json", CANARY);
    fixture.write("project/.gemini/plans/plan.md", CANARY);
    const policy = fixture.write("project/.gemini/parallel/b1/read-only.toml", "policy\n");
    const state = join(fixture.project, ".gemini");
    const script = `grep -rs ${CANARY} ${fixture.base}; cat ${state}/state/progress.jsonl ${policy}; echo x >>${state}/state/progress.jsonl || echo closed`;
    const { stdout } = await fixture.sh(context, `{ ${script}; } 2>/dev/null`, { files: [policy] });
    expect(stdout).toBe("{}\npolicy\nclosed\n");
  });

  test("additions to the session from outside are visible inside", async (context) => {
    const script = "echo inside >started; until [ -e go ]; do sleep 0.05; done; cat $STATE/state/progress.jsonl";
    const ended = fixture.sh(context, script, { env: { STATE: join(fixture.project, ".gemini") } });
    await until("it runs", () => existsSync(join(fixture.worktree, "started")));
    renameSync(
      fixture.write("project/.gemini/state/new", "next\n"),
      join(fixture.project, ".gemini/state/progress.jsonl"),
    );
    writeFileSync(join(fixture.worktree, "go"), "");
    expect((await ended).stdout).toBe("next\n");
  });

  test("the git directory, the pointer to it and the worktrees of others are absent", async (context) => {
    const { base, project } = fixture;
    const script = `ls -A ${project}/.git; cat .git; ls ${base}/cache/place; git status 2>&1 | head -1 | cut -c1-27; grep -rs ${CANARY} ${base}; echo end`;
    const { stdout } = await fixture.sh(context, script);
    expect(stdout).toBe("p1-1\nfatal: not a git repository\nend\n");
    expect(fixture.read("cache/place/p1-1/project/.git")).toContain("gitdir: ");
  });

  test("a git directory elsewhere, such as that of a linked worktree, is absent too", async (context) => {
    fixture.write("main/.git/worktrees/w/HEAD", CANARY);
    rmSync(join(fixture.project, ".git"), { recursive: true });
    fixture.write("project/.git", `gitdir: ${fixture.base}/main/.git/worktrees/w\n`);
    const commonDir = join(fixture.base, "main", ".git");
    const { toplevel, place } = fixture.place().repository as NonNullable<Whereabouts["repository"]>;
    const repository = { toplevel, place, commonDir, gitDir: join(commonDir, "worktrees", "w") };
    const script = `cat ${fixture.project}/.git; ls -A ${commonDir}; grep -rs ${CANARY} ${fixture.base}; echo end`;
    expect((await fixture.sh(context, script, { repository })).stdout).toBe("end\n");
  });

  test("a git directory above the project is absent even when no repository is known", async (context) => {
    const projectRoot = join(fixture.project, "src");
    const { stdout } = await fixture.sh(
      context,
      `ls -A ${fixture.project}/.git; cat ${fixture.project}/.git/HEAD; echo end`,
      {
        repository: null,
        projectRoot,
        stateDir: join(projectRoot, ".gemini"),
      },
    );
    expect(stdout).toBe("end\n");
  });

  test("links neither hide nor expose anything: a home, a settings directory, keys stored elsewhere", async (context) => {
    const { base } = fixture;
    fixture.write("vault/ssh/id", CANARY);
    fixture.write("home/dotfiles/npmrc", CANARY);
    renameSync(join(base, "home", ".config"), join(base, "home", "dotfiles", "config"));
    fixture.write("home/dotfiles/config/gh/hosts.yml", CANARY);
    fixture.link("dotfiles/config", "home/.config");
    fixture.link("dotfiles/npmrc", "home/.npmrc");
    fixture.link(join(base, "vault", "ssh"), "home/.ssh");
    fixture.link(join(base, "home"), "link");
    fixture.link(join(base, "vault"), "cache/place/p1-1/project/node_modules");
    const { stdout } = await fixture.sh(
      context,
      `grep -Rs ${CANARY} ${base} ~/ .; ls -A ~; touch ~/x 2>/dev/null || echo closed`,
      { env: { HOME: join(base, "link") }, linked: [join(fixture.project, "node_modules")] },
    );
    expect(stdout).toBe(".cache\n.gemini\nclosed\n");
  });

  test("a secret that is replaced or created while a process is inside does not appear", async (context) => {
    fixture.write("home/.git-credentials", CANARY);
    fixture.write("home/.cargo/bin/tool", "tool\n");
    fixture.write("home/.cargo/credentials.toml", CANARY);
    const script = `echo inside >started; until [ -e go ]; do sleep 0.05; done; grep -rs ${CANARY} ~; echo end`;
    const ended = fixture.sh(context, script);
    await until("a process is inside", () => existsSync(join(fixture.worktree, "started")));
    for (const name of [".git-credentials", ".cargo/credentials.toml", ".netrc", ".bash_history"]) {
      renameSync(fixture.write("home/src/new", CANARY), join(fixture.home, name));
    }
    writeFileSync(join(fixture.worktree, "go"), "");
    expect((await ended).stdout).toBe("end\n");
  });

  test("variables that name directories do not expose one that contains a home", async (context) => {
    fixture.write("home/secret", CANARY);
    const env = {
      SSL_CERT_DIR: [fixture.home, fixture.base, "/", "certs"].join(delimiter),
      NVM_DIR: fixture.home,
      CARGO_HOME: fixture.base,
      GOPATH: "/",
      XDG_CACHE_HOME: fixture.home,
      GOOGLE_APPLICATION_CREDENTIALS: fixture.home,
      PATH: [fixture.home, fixture.base, "/", "/etc", fixture.env.PATH].join(delimiter),
    };
    const { stdout } = await fixture.sh(context, `grep -rs ${CANARY} ${fixture.base}; ls /etc/shadow; echo end`, {
      env,
    });
    expect(stdout).toBe("end\n");
  });

  test.each([
    ["by name", (file: string) => ({ GOOGLE_APPLICATION_CREDENTIALS: file })],
    ["on Vertex AI", () => ({ GOOGLE_GENAI_USE_VERTEXAI: "true" })],
  ] as const)("Google credentials stay readable, and nothing beside them: %s", async (_, env) => {
    const file = fixture.write("home/.config/gcloud/application_default_credentials.json", "mine\n");
    fixture.write("home/.config/gcloud/credentials.db", CANARY);
    const { mounts } = cellFor(fixture.place({ env: env(file) }));
    expect(mounts.filter(({ path }) => path.startsWith(dirname(file)))).toEqual([
      { kind: "machine", path: file, writable: false },
    ]);
  });

  test("Gemini CLI has its directory: the files it reads, copies of the files it writes, and no conversations", async (context) => {
    fixture.write("home/.gemini/settings.json", "{}\n", 0o600);
    fixture.write("home/.gemini/oauth_creds.json", "token\n", 0o600);
    fixture.write("home/.gemini/extensions/maestro/gemini-extension.json", "manifest\n");
    fixture.write("home/.gemini/tmp/other/chats/one.jsonl", CANARY);
    fixture.write("home/.gemini/history/other/one", CANARY);
    fixture.write("home/.gemini/projects.json", CANARY);
    fixture.write("home/.gemini/antigravity-browser-profile/Cookies", CANARY);
    fixture.write("home/dotfiles/GEMINI.md", "rules\n");
    fixture.link("../dotfiles/GEMINI.md", "home/.gemini/GEMINI.md");
    fixture.link(join(fixture.home, "dotfiles"), "home/.gemini/commands");
    const before = filesBelow(fixture.home);
    const script = `cd ~/.gemini; grep -rs ${CANARY} .; ls -A; cat oauth_creds.json GEMINI.md commands/GEMINI.md extensions/*/*
      echo renewed >oauth_creds.json; echo '{}' >p.tmp && mv p.tmp projects.json; mv settings.json GEMINI.md; mkdir -p tmp/a history/a
      touch extensions/x commands/x 2>/dev/null; cat oauth_creds.json; ls -A tmp`;
    const { stdout } = await fixture.sh(context, script);
    expect(stdout).toBe(
      "GEMINI.md\ncommands\nextensions\noauth_creds.json\nsettings.json\ntoken\nrules\nrules\nmanifest\nrenewed\na\n",
    );
    expect(filesBelow(fixture.home)).toEqual(before);
  });

  test("a home without that directory gets a temporary one, also when GEMINI_CLI_HOME names another home", async (context) => {
    const other = join(fixture.base, "home", "other");
    mkdirSync(join(other, ".gemini"), { recursive: true });
    const write = (home: string) => `echo {} >"${home}/.gemini/projects.json" && echo written`;
    expect((await fixture.sh(context, write("$HOME"))).stdout).toBe("written\n");
    const env = { GEMINI_CLI_HOME: other };
    expect((await fixture.sh(context, write("$GEMINI_CLI_HOME"), { env })).stdout).toBe("written\n");
    expect(existsSync(join(fixture.home, ".gemini"))).toBe(false);
    expect(existsSync(join(other, ".gemini", "projects.json"))).toBe(false);
  });

  test("sockets of the user's session and of the SSH agent are unreachable", async (context) => {
    const runtime = join(fixture.base, "runtime");
    mkdirSync(runtime);
    const sockets = [join(runtime, "bus"), join(fixture.home, "agent.sock")];
    const servers = await Promise.all(sockets.map(listen));
    const code = `for (const path of process.argv.slice(1)) require("node:net").connect(path)
      .on("connect", () => { console.log("connected", path); process.exit(); }).on("error", (e) => console.log(e.code));`;
    const env = { XDG_RUNTIME_DIR: runtime, SSH_AUTH_SOCK: sockets[1] ?? "" };
    try {
      const { stdout } = await fixture.run(context, ["-e", code, ...sockets], { program: process.execPath, env });
      expect(stdout).toMatch(/^(?:ENOENT|ECONNREFUSED|ENOTSOCK)\n(?:ENOENT|ECONNREFUSED|ENOTSOCK)\n$/);
    } finally {
      for (const server of servers) server.close();
    }
  });

  test("of the running services only name resolution is visible", async (context) => {
    const needed = /^(?:maestro|systemd|resolvconf|NetworkManager|nscd|current-system|booted-system)?$/;
    fixture.write("home/.gemini/settings.json", "{}\n");
    const { stdout } = await fixture.sh(context, "ls -A /run; cat /etc/resolv.conf >/dev/null || echo no names >&2");
    expect(stdout.split("\n").filter((name) => !needed.test(name))).toEqual([]);
  });

  test("a home with many files costs no time", async (context) => {
    for (let index = 0; index < 450; index += 1) mkdirSync(join(fixture.home, `.d${index}`));
    fixture.write("home/.npmrc", CANARY);
    fixture.write("home/.ssh/id", CANARY);
    fixture.write("home/.gemini/settings.json", "{}\n");
    const few = new Set(cellFor(new SandboxFixture(parent).place()).mounts.map(({ path }) => path)).size;
    expect(cellFor(fixture.place()).mounts.length).toBeLessThan(few + 10);
    const script = `grep -rs ${CANARY} ~; touch ~/x ~/.ssh/x 2>/dev/null; echo x >~/.gemini/projects.json; ls -d ~/.d44? 2>/dev/null | wc -l`;
    const { stdout } = await fixture.sh(context, script);
    expect(stdout).toBe("0\n");
    expect(existsSync(join(fixture.home, "x"))).toBe(false);
  });

  test("the network is available, so that a model can be called", async (context) => {
    const server = createServer((socket) => socket.end("hello\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const code = `require("node:net").connect(${port}, "127.0.0.1").pipe(process.stdout)`;
    const { stdout } = await fixture.run(context, ["-e", code], { program: process.execPath });
    server.close();
    expect(stdout).toBe("hello\n");
  });

  test("dependencies shared with the project can be read and run but not changed, except for the caches of programs in them", async (context) => {
    fixture.write("project/node_modules/lib/index.js", "console.log('lib')\n");
    fixture.write("project/node_modules/.cache/old", "old\n");
    symlinkSync(join(fixture.project, "node_modules"), join(fixture.worktree, "node_modules"));
    const script = `'${process.execPath}' node_modules/lib/index.js; touch node_modules/x 2>/dev/null || echo closed
      echo new >node_modules/.cache/new && ls node_modules/.cache`;
    const linked = [join(fixture.project, "node_modules")];
    expect((await fixture.sh(context, script, { linked })).stdout).toBe("lib\nclosed\nnew\n");
    expect(fixture.read("project/node_modules/.cache/old")).toBe("old\n");
  });

  test("a project that is its own worktree is writable except for its state, and its git directory is absent", async (context) => {
    const script = `echo new >src/b.ts; touch .gemini/state/x .git/x 2>/dev/null; rm -rf .git 2>/dev/null; ls -A .git; cat .gemini/state/progress.jsonl`;
    const { stdout } = await fixture.sh(context, script, { worktree: fixture.project, repository: null });
    expect(stdout).toBe("{}\n");
    expect(fixture.read("project/src/b.ts")).toBe("new\n");
    expect(fixture.read("project/.git/HEAD")).toBe(CANARY);
    expect(existsSync(join(fixture.project, ".gemini", "state", "x"))).toBe(false);
  });

  test("a home is rejected as a worktree, because all its secrets would be visible", () => {
    const over = { worktree: fixture.home, projectRoot: fixture.home, repository: null };
    expect(() => cellFor(fixture.place(over))).toThrow(/home directory/);
    expect(() => cellFor(fixture.place({ ...over, worktree: fixture.base }))).toThrow(/home directory/);
  });
});

function listen(path: string): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(path, () => resolve(server)));
}

describe("programs in hidden places", () => {
  let fixture: SandboxFixture;
  beforeEach(() => {
    fixture = new SandboxFixture(tmpdir());
  });
  afterEach(() => fixture.remove());

  test("a package below the temporary directory is mounted as a whole", async (context) => {
    fixture.write("tools/lib/agent/bundle/agent.sh", '#!/bin/sh\n. "$(dirname "$(realpath "$0")")/../part.sh"\n');
    fixture.write("tools/lib/agent/part.sh", "echo part\n");
    fixture.link("../lib/agent/bundle/agent.sh", "tools/bin/agent");
    const { stdout } = await fixture.run(context, [], { program: join(fixture.base, "tools/bin/agent") });
    expect(stdout).toBe("part\n");
  });

  test("a version behind a link in the runtime directory is found on the PATH", async (context) => {
    fixture.write("home/versions/20/bin/helper", "#!/bin/sh\necho 20\n");
    fixture.link(join(fixture.home, "versions", "20"), "runtime/shells/123");
    const env = {
      XDG_RUNTIME_DIR: join(fixture.base, "runtime"),
      PATH: [join(fixture.base, "runtime/shells/123/bin"), fixture.env.PATH].join(delimiter),
    };
    expect((await fixture.sh(context, "helper", { env })).stdout).toBe("20\n");
  });

  test("the home stays hidden when the PATH names a directory with a secret", async (context) => {
    fixture.write("home/.docker/bin/helper", "#!/bin/sh\necho helper\n");
    fixture.write("home/.docker/config.json", CANARY);
    const env = { PATH: [join(fixture.home, ".docker/bin"), fixture.env.PATH].join(delimiter) };
    expect((await fixture.sh(context, `helper; grep -rs ${CANARY} ~`, { env })).stdout).toBe("helper\n");
  });
});

describe("an incomplete or wrong environment", () => {
  let fixture: SandboxFixture;
  beforeEach(() => {
    fixture = new SandboxFixture(join(root, "node_modules", ".cache", "maestro-test"));
  });
  afterEach(() => fixture.remove());

  test.for<[what: string, env: (fixture: SandboxFixture) => Record<string, string>]>([
    ["no home", () => ({ HOME: "" })],
    ["the root as home", () => ({ HOME: "/" })],
    ["a home that does not exist", () => ({ HOME: "/nowhere" })],
    ["a relative home", () => ({ HOME: "home", GEMINI_CLI_HOME: "." })],
    ["a runtime directory that is the home", ({ home }) => ({ XDG_RUNTIME_DIR: home })],
    ["a runtime directory above the project", ({ base }) => ({ XDG_RUNTIME_DIR: base })],
    ["a home that is the project's state", ({ project }) => ({ HOME: join(project, ".gemini") })],
    ["a PATH with relative and odd entries", ({ env }) => ({ PATH: `:.:bin:/tmp:/run:${env.PATH}` })],
  ])("%s", async ([, env], context) => {
    const script = `echo x >made && cat made; [ -e ${fixture.project}/src/a.ts ] && echo there; touch /etc/x "$HOME/x" 2>/dev/null`;
    const { stdout, stderr } = await fixture.sh(context, script, { env: env(fixture) });
    expect(stderr).toBe("");
    expect(stdout).toBe("x\n");
    expect(existsSync(join(fixture.project, ".gemini", "x"))).toBe(false);
  });
});

describe("a process in a sandbox", () => {
  let fixture: SandboxFixture;
  beforeEach(() => {
    fixture = new SandboxFixture(tmpdir());
  });
  afterEach(() => fixture.remove());

  test.for([
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -9 $$", 137],
    ["kill -TERM $$; sleep 5", 143],
  ] as const)("ends as it would outside: %s", async ([script, code], context) => {
    expect((await fixture.sh(context, script)).code).toBe(code);
  });

  test("gets its streams and arguments unchanged", async (context) => {
    const args = ["a b", "--", "--ro-bind", "$HOME", "'\"", "x\ny", ""];
    const script = 'cat; printf "<%s>" "$@"; echo oops >&2';
    const { code, stdout, stderr } = await fixture.run(context, ["-c", script, "sh", ...args], {}, "from outside\n");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "oops\n" });
    expect(stdout).toBe(`from outside\n${args.map((arg) => `<${arg}>`).join("")}`);
  });

  test("may have any name", async (context) => {
    const program = fixture.write("home/bin/a=b c", "#!/bin/sh\necho $1\n");
    expect((await fixture.run(context, ["named"], { program })).stdout).toBe("named\n");
  });

  test("that does not exist is reported as not found", async (context) => {
    const { code, stderr } = await fixture.run(context, [], { program: "/nowhere/agent" });
    expect([126, 127]).toContain(code);
    expect(stderr).toContain("/nowhere/agent");
  });

  test("cannot see or reach other processes, and has no privileges", async (context) => {
    const script = `kill -0 ${process.pid} 2>/dev/null && echo reached; ls -d /proc/[0-9]* | wc -l; grep -E "CapEff|CapPrm|NoNewPrivs" /proc/self/status
      umount /tmp 2>/dev/null && echo unmounted; mount -o remount,rw,bind / 2>/dev/null && echo remounted`;
    const { stdout } = await fixture.sh(context, script);
    expect(stdout.replace(/^\d\n/, "few\n")).toBe(
      "few\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n",
    );
  });

  test("cannot change settings of the whole machine, even as root", async (context) => {
    // Writes the current value back, so that a success changes nothing.
    const script =
      'cd /proc/sys/kernel; v=$(cat core_pattern); { echo "$v" >core_pattern; } 2>/dev/null || echo refused';
    expect((await fixture.sh(context, script)).stdout).toBe("refused\n");
  });

  test("leaves no process behind, not even one that left its group and cleared its environment (F13)", async (context) => {
    const script =
      "setsid env -i sleep 4711 & setsid env -i sh -c 'while :; do echo x >>late; sleep 0.05; done' & sleep 0.2";
    expect((await fixture.sh(context, script)).code).toBe(0);
    await until("nothing is left", () => processesInside(fixture).length === 0);
  });

  test("works for a user other than root", async (context) => {
    if (process.getuid?.() !== 0) context.skip("every other test shows it already");
    const bwrap = bubblewrap(context);
    fixture.write("home/.ssh/id", CANARY);
    giveAway(fixture.base);
    const script = "id -u; cat ~/.ssh/id; touch ~/x /etc/x; echo x >made && cat made .git";
    const command = { program: "/bin/sh", args: ["-c", script] };
    const { program, args } = inSandbox(bwrap, command, cellOfNobody(fixture), socketScope());
    const child = spawn(program, args, { cwd: fixture.worktree, env: fixture.env, uid: NOBODY, gid: NOBODY });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    await new Promise((resolve) => child.once("close", resolve));
    expect(stdout).toBe(`${NOBODY}\nx\n`);
  });
});

const NOBODY = 65_534;

function giveAway(path: string): void {
  chownSync(path, NOBODY, NOBODY);
  chmodSync(path, 0o755);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveAway(join(path, entry.name));
    else lchownSync(join(path, entry.name), NOBODY, NOBODY);
  }
}

function cellOfNobody(fixture: SandboxFixture): Cell {
  process.seteuid?.(NOBODY);
  try {
    return cellFor(fixture.place());
  } finally {
    process.seteuid?.(0);
  }
}

/** Processes whose current directory is the worktree, seen from outside. */
function processesInside({ worktree }: SandboxFixture): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readlinkSync(`/proc/${name}/cwd`) === worktree;
      } catch {
        return false;
      }
    })
    .map(Number);
}

describe("a supervised sandbox", () => {
  let fixture: SandboxFixture;
  let supervisor: Supervisor;
  beforeEach(() => {
    fixture = new SandboxFixture(tmpdir());
    const lifeline = new Lifeline(join(root, "dist", "warden.cjs"), "cell", 2_000, (message) => console.warn(message));
    supervisor = new Supervisor(lifeline, 1_500);
  });
  afterEach(async () => {
    supervisor.stopAll("stopped", true);
    await supervisor.close();
    fixture.remove();
  });

  function launch(context: TestContext, script: string, timeoutMs = 20_000) {
    const command = inSandbox(
      bubblewrap(context),
      { program: "/bin/sh", args: ["-c", script] },
      cellFor(fixture.place()),
      socketScope(),
    );
    const results = (name: string) => join(fixture.project, ".gemini", name);
    return supervisor.launch({
      ...command,
      cwd: fixture.worktree,
      env: { ...fixture.env, [RUN_MARKER]: "cell.1" },
      marker: "cell.1",
      stdin: fixture.write("project/.gemini/prompt", "the prompt\n"),
      stdout: results("out"),
      stderr: results("err"),
      exitFile: results("exit"),
      timeoutMs,
      check: () => null,
    });
  }
  const begun = () => until("it runs", () => existsSync(join(fixture.worktree, "begun")));

  test("reads its prompt from and writes its result to files that are absent inside", async (context) => {
    const { exit } = launch(context, `cat; echo wrong >&2; touch ${fixture.project}/.gemini/exit 2>/dev/null; exit 3`);
    expect(await exit).toMatchObject({ code: 3, killed: null });
    expect(fixture.read("project/.gemini/out")).toBe("the prompt\n");
    expect(fixture.read("project/.gemini/err")).toBe("wrong\n");
    expect(fixture.read("project/.gemini/exit")).toBe("3\n");
  });

  test("gets a grace period when it is stopped, and its exit code counts", async (context) => {
    const { exit, stop } = launch(
      context,
      "trap 'sleep 0.3; echo tidy >tidied; exit 0' TERM; touch begun; sleep 60 & wait",
    );
    await begun();
    stop("stopped");
    expect(await exit).toMatchObject({ code: 0, killed: "stopped" });
    expect(fixture.read("cache/place/p1-1/project/tidied")).toBe("tidy\n");
    expect(fixture.read("project/.gemini/exit")).toBe("0\n");
  });

  test("dies of the signal when the program does not handle it", async (context) => {
    const { exit, stop } = launch(context, "touch begun; exec sleep 60");
    await begun();
    stop("stopped");
    const { code, durationMs } = await exit;
    expect(code).toBe(143);
    expect(durationMs).toBeLessThan(1_500);
    expect(existsSync(join(fixture.project, ".gemini", "exit"))).toBe(false);
  });

  test("is killed with everything in it when it does not end (F14, P8)", async (context) => {
    const daemon = "setsid env -i sh -c \"trap '' TERM; while :; do sleep 0.1; done\"";
    const { exit } = launch(context, `trap '' TERM; ${daemon} & touch begun; while :; do sleep 0.1; done`, 300);
    const inside = await until("it runs", () => processesInside(fixture).length > 4 && processesInside(fixture));
    expect(await exit).toMatchObject({ code: 137, killed: "timeout" });
    await until("all are gone", () => !inside.some(isAlive));
  });

  test("is found by the marker in its environment", async (context) => {
    const { exit } = launch(context, "touch begun; exec sleep 60");
    await begun();
    await endAll({ groups: new Set(), runs: new Set(["cell"]) }, 1_000);
    expect(await exit).toMatchObject({ code: 143, killed: null });
    expect(processesInside(fixture)).toEqual([]);
  });
});

describe("the worktree of a repository", () => {
  test("holds what the attempt did in its sandbox, which could not touch the repository", async (context) => {
    const bwrap = bubblewrap(context);
    const project = new GitProject();
    try {
      project.write("src/a.ts", "one\n");
      project.write(".gitignore", "node_modules\n");
      project.write("node_modules/lib/index.js", "lib\n");
      project.commit();
      const repository = await project.open();
      const taken = await snapshot(repository, { exclude: [], include: [] });
      const [worktree, other] = [
        await addWorktree(repository, "s", "p1-1", taken),
        await addWorktree(repository, "s", "p2-1", taken),
      ];
      const before = project.untouchables();
      const script = `echo two >src/a.ts; rm -rf .git ${project.path}/.git ${other.path} 2>/dev/null; git add -A 2>/dev/null && echo added
        cat node_modules/lib/index.js; cat .git; ls ${repository.place}`;
      const { program, args } = inSandbox(
        bwrap,
        { program: "/bin/sh", args: ["-c", script] },
        cellFor({
          worktree: worktree.path,
          projectRoot: project.path,
          stateDir: join(project.path, ".gemini"),
          repository,
          linked: worktree.apart.map((path) => join(project.path, path)),
          program: "/bin/sh",
          env: process.env,
        }),
        socketScope(),
      );
      const { stdout } = spawnSync(program, args, { cwd: worktree.root, encoding: "utf8" });
      expect(stdout).toBe("lib\np1-1\n");
      expect(project.untouchables()).toEqual(before);
      expect(project.gitIn(worktree.path, "status", "--porcelain")).toBe(" M src/a.ts");
      expect(existsSync(join(other.path, "src", "a.ts"))).toBe(true);
    } finally {
      project.remove();
    }
  });
});

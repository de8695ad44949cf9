// A throw-away git repository with a home of its own: nothing of the person who runs the tests is read, nothing of theirs is written.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { openRepository } from "../../src/git/open.ts";
import type { Repository } from "../../src/git/repository.ts";
import { initRepository } from "./empty-repository.ts";

const variables = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"] as const;

const reading = new Set(["cat-file", "diff", "diff-tree", "log", "ls-tree", "rev-parse", "show"]);

export class GitProject {
  readonly base: string;
  readonly path: string;
  readonly cache: string;
  readonly #saved = Object.fromEntries(variables.map((name) => [name, process.env[name]]));

  /** `init`: arguments of `git init`; null for a directory without a repository. */
  constructor(init: string[] | null = [], name = "project") {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "maestro-git-")));
    this.path = join(this.base, name);
    this.cache = join(this.base, "cache");
    mkdirSync(this.path);
    mkdirSync(join(this.base, "home"));
    process.env.HOME = join(this.base, "home");
    process.env.XDG_CONFIG_HOME = join(this.base, "home", ".config");
    process.env.GIT_CONFIG_GLOBAL = join(this.base, "home", ".gitconfig");
    process.env.GIT_CONFIG_NOSYSTEM = "1";
    if (init !== null) initRepository(this.path, init);
  }

  /** As the user runs it; the answer without its last newline. */
  git(...args: string[]): string {
    return this.gitIn(this.path, ...args);
  }

  gitIn(cwd: string, ...args: string[]): string {
    // A test reads Maestro's own objects too, also before a reference keeps them.
    const own = { GIT_ALTERNATE_OBJECT_DIRECTORIES: this.ownObjects().join(":") };
    const reads = args.some((arg) => reading.has(arg));
    return this.#run(cwd, reads ? { ...process.env, ...own } : process.env, args);
  }

  /** As `git`, with nothing but the user's object database. */
  plainGit(...args: string[]): string {
    return this.#run(this.path, process.env, args);
  }

  /** Where Maestro keeps its own objects. */
  ownObjects(): string[] {
    const below = (path: string) => (existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []);
    const caches = [...below(this.cache), ...below(join(this.cache, "maestro"))];
    return caches.flatMap((place) => below(join(place, "git", "projects")).map((project) => join(project, "objects")));
  }

  #run(cwd: string, env: NodeJS.ProcessEnv, args: string[]): string {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd, env, encoding: "utf8", maxBuffer: 1 << 28 });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.replace(/\n$/, "");
  }

  commit(message = "work"): string {
    this.git("add", "-A");
    this.git("commit", "-q", "--allow-empty", "-m", message);
    return this.git("rev-parse", "HEAD");
  }

  write(path: string, content: string | Uint8Array, mode?: number): void {
    const full = join(this.path, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    if (mode !== undefined) chmodSync(full, mode);
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), "utf8");
  }

  exists(path: string): boolean {
    return lstatSync(join(this.path, path), { throwIfNoEntry: false }) !== undefined;
  }

  /** `root`: the project, when it is not the top of the repository. */
  async open(root = this.path): Promise<Repository> {
    const opening = await openRepository(root, this.cache);
    if (opening.kind !== "open") throw new Error(`not opened: ${opening.reason}`);
    return opening.repository;
  }

  /** What only the user may change: index, references, reflog, configuration, stash, working tree. */
  untouchables(): Record<string, string> {
    const gitDir = join(this.path, ".git");
    const kept = ["index", "HEAD", "config", "packed-refs", "logs", "refs/heads", "refs/stash", "info"];
    const inGit = kept.flatMap((name) => Object.entries(filesBelow(join(gitDir, name), gitDir)));
    const files = Object.entries(filesBelow(this.path, this.path)).filter(([name]) => !/(^|\/)\.git\//.test(name));
    return Object.fromEntries([...inGit.map(([name, text]) => [`.git/${name}`, text]), ...files]);
  }

  remove(): void {
    for (const [name, value] of Object.entries(this.#saved)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** Every file below a directory: its permissions to run and its content as text of one character per byte; links as "-> target". */
export function filesBelow(path: string, root = path): Record<string, string> {
  // Also for a path that leads through a file.
  const stat =
    existsSync(dirname(path)) && statSync(dirname(path)).isDirectory()
      ? lstatSync(path, { throwIfNoEntry: false })
      : undefined;
  if (stat === undefined) return {};
  const name = relative(root, path);
  if (stat.isSymbolicLink()) return { [name]: `-> ${readlinkSync(path)}` };
  if (stat.isFile()) return { [name]: `${stat.mode & 0o100 ? "x" : "-"} ${readFileSync(path, "latin1")}` };
  if (!stat.isDirectory()) return {};
  return Object.assign({}, ...readdirSync(path).map((entry) => filesBelow(join(path, entry), root)));
}

/** As `filesBelow` without what git keeps there: what an attempt sees. */
export function workFiles(path: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filesBelow(path)).filter(([name]) => name !== ".git" && !name.startsWith(".git/")),
  );
}

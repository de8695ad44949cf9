// The import table of docs/architecture.md. Each rule names who may import what; everything else is refused.
const allowed = {
  plan: ["agents"],
  session: ["plan", "handoff", "agents"],
  agents: [],
  extension: ["agents"],
  handoff: [],
  prompt: ["session", "plan", "agents", "handoff"],
  runtimes: ["session", "plan", "agents", "handoff"],
  disk: [],
  store: ["disk", "session", "plan", "agents", "handoff", "views"],
  views: ["session", "plan", "agents", "handoff"],
  git: ["disk"],
  engine: ["git", "disk", "store", "runtimes", "prompt", "session", "plan", "agents", "handoff", "views"],
  warden: ["engine"],
  // Attempts on other machines. Only a run with --workers loads it: the engine knows it as an interface.
  workers: ["engine", "git", "disk", "store", "runtimes", "session", "plan", "agents", "handoff", "views"],
  player: ["runtimes", "plan"],
  // Of runtimes only what it prints.
  acp: ["runtimes", "agents", "disk", "guard"],
  guard: [],
  // Of the engine only what records a delegation: see `hooks-load-git-only-around-a-delegation`.
  hooks: ["disk", "store", "session", "guard", "handoff", "prompt", "agents", "views", "engine/delegated"],
  // The page in the browser. Of the engine only its pure scheduler: see `the-page-runs-in-a-browser`.
  web: ["session", "plan", "handoff", "views"],
  // Decisions of the page take the path of the MCP tool.
  dashboard: [
    "web/model",
    "mcp",
    "engine",
    "git",
    "disk",
    "store",
    "runtimes",
    "session",
    "plan",
    "agents",
    "handoff",
    "views",
  ],
  mcp: ["engine", "disk", "store", "runtimes", "prompt", "session", "plan", "agents", "handoff", "views"],
  cli: [
    "engine",
    "git",
    "disk",
    "store",
    "runtimes",
    "prompt",
    "session",
    "plan",
    "agents",
    "handoff",
    "views",
    "extension",
    "guard",
    "dashboard",
    "workers",
  ],
};

/** The files of the engine that decide and touch nothing: the page asks the scheduler why a phase waits. */
const pureEngine = "^src/engine/(?:schedule|priority|quota/backoff)[.]ts$";

const leaves =
  "^src/(?:secrets/[\\w-]+|settings|setting-layers|extension-path|shape|search-path|ids|errors|exit-codes|text|dotenv|front-matter|duration|amounts|yaml|plain-yaml|program-root)[.]ts$";

/** The files that start processes, by folder: base names, in whatever subfolder they are. */
const starters = {
  // Agents and their commands, directly or by the warden; the warden; a detached engine; the sandbox's tests of this machine; a process list where /proc is missing.
  engine: ["supervisor", "lifeline", "start-detached", "sandbox", "ancestors"],
  // What the engine asks it to start.
  warden: ["main"],
  // The dashboard of a run, and the user's browser.
  dashboard: ["beside-run", "open-page"],
  // This program again, to check a runtime; the shell, here or through ssh, that sets up an exchange.
  cli: ["check-runtimes", "exchange-shell"],
  // An agent behind the bridge, and its commands; in the process group of the attempt.
  acp: ["agent-process", "terminals"],
  // Git, and nothing else.
  git: ["run"],
  // The start time of a process where /proc is missing.
  disk: ["identity"],
};

const starterFiles = Object.entries(starters).map(
  ([folder, names]) => `^src/${folder}(/|/.*/)(${names.join("|")})[.]ts$`,
);

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-orphans",
      severity: "error",
      from: { orphan: true, path: "^src/", pathNot: "(main|start)[.]tsx?$|[.]test[.]ts$" },
      to: {},
    },
    { name: "unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "not-to-test",
      severity: "error",
      from: { path: "^src/", pathNot: "[.]test[.]ts$" },
      to: { path: "^test/|[.]test[.]ts$" },
    },
    {
      name: "only-main-is-an-entry",
      severity: "error",
      from: { pathNot: "^src/[^/]+/start[.]ts$" },
      to: { path: "^src/[^/]+/main[.]ts$" },
    },
    ...Object.entries(allowed).map(([folder, targets]) => ({
      name: `${folder}-imports-only-what-the-table-allows`,
      severity: "error",
      from: { path: `^src/${folder}/`, pathNot: "[.]test[.]ts$" },
      to: {
        path: "^src/",
        pathNot: `${leaves}|^src/(${[folder, ...targets].join("|")})/${folder === "web" ? `|${pureEngine}` : ""}`,
      },
    })),
    {
      name: "the-page-runs-in-a-browser",
      comment:
        "What the page loads from other folders must not import a module of Node either: the build for browsers fails then.",
      severity: "error",
      from: { path: "^src/web/", pathNot: "[.]test[.]ts$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "hooks-load-git-only-around-a-delegation",
      comment:
        "A hook starts in the time of bare Node. Only delegated-work.ts, a bundle of its own, runs git and reads the project.",
      severity: "error",
      from: { path: "^src/hooks/", pathNot: "^src/hooks/delegated-work[.]ts$" },
      to: { path: "^src/engine/" },
    },
    {
      name: "leaves-import-nothing-of-ours-but-leaves",
      severity: "error",
      from: { path: leaves },
      to: { path: "^src/", pathNot: leaves },
    },
    {
      name: "pure-folders-touch-no-machine",
      comment:
        "plan, session, handoff, prompt, runtimes, views and guard decide; store and engine act. Reading files belongs to store, agents and cli.",
      severity: "error",
      from: {
        path: ["^src/(plan|session|handoff|prompt|runtimes|views|guard|web/model)/", pureEngine],
        pathNot: "[.]test[.]ts$",
      },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?(path|crypto|util)$" },
    },
    {
      name: "few-files-start-processes",
      comment:
        "Every process has to have a process group that the warden knows, or a time limit: so the list of starters is short.",
      severity: "error",
      from: { path: "^src/", pathNot: ["[.]test[.]ts$", ...starterFiles] },
      to: { dependencyTypes: ["core"], path: "^(node:)?(child_process|cluster|worker_threads)$" },
    },
    {
      name: "nothing-opens-the-network",
      comment:
        "Only agents talk to a network: Maestro itself neither connects nor listens, and evaluates no code but its own from the cache of compiled code. A hook reads its standard input with net.Socket; the dashboard listens on loopback.",
      severity: "error",
      from: { path: "^src/", pathNot: "[.]test[.]ts$|^src/hooks/input[.]ts$|^src/disk/compiled-code[.]ts$" },
      to: {
        dependencyTypes: ["core"],
        path: "^(node:)?(https|http2|net|tls|dgram|dns|inspector|vm|repl)(/|$)",
      },
    },
    {
      name: "only-the-queue-connects",
      comment: "One folder talks to Redis. Everything that it reads there is a hint: git carries the results.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/workers/queue/" },
      to: { path: "node_modules/(bullmq|ioredis)/" },
    },
    {
      name: "one-machine-loads-no-queue",
      comment: "The code of workers loads only with --workers, so nothing else imports it but by import().",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/workers/|^src/cli/workers/" },
      to: { path: "^src/workers/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-the-dashboard-listens",
      comment: "It serves HTTP, on 127.0.0.1; biome.json lets it import what listens, and nothing that connects.",
      severity: "error",
      from: { path: "^src/", pathNot: "[.]test[.]ts$|^src/dashboard/" },
      to: { dependencyTypes: ["core"], path: "^(node:)?http(/|$)" },
    },
    {
      name: "fold-and-handoff-start-in-the-time-of-bare-node",
      comment: "Hooks load these on every tool call: no schema library, no YAML.",
      severity: "error",
      from: {
        path: "^src/(session/(fold|transitions)[.]|handoff/|disk/|store/journal/)",
        pathNot: "[.]test[.]ts$",
      },
      to: { path: "node_modules/(zod|yaml|commander)/", dependencyTypesNot: ["type-only"] },
    },
  ],
  required: [
    {
      name: "listed-starters-start-processes",
      comment: "A file that no longer starts processes leaves the list of starters.",
      severity: "error",
      module: { path: starterFiles, pathNot: "[.]test[.]ts$" },
      to: { path: "^(node:)?child_process$" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};

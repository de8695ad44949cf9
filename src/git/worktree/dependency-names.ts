// Names of directories that hold dependencies: they are large, mostly ignored, and linked into worktrees instead of being copied.

/** What package managers fill and nobody edits. */
export const dependencyNames: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  "jspm_packages",
  "__pypackages__",
  ".venv",
  "venv",
  "vendor",
  "Pods",
  "deps",
  "elm-stuff",
]);

// Names of dependency directories: they are large, usually ignored, and linked into worktrees instead of being copied.

/** Directories that package managers fill and users do not edit. */
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

// What is known about the repository a project lies in. Found out by open.ts; data, no behaviour.

/** Everything is read once, when the repository is opened; paths are absolute and real. */
export interface Repository {
  projectRoot: string;
  toplevel: string;
  /** The project below the toplevel: "" or "packages/api/". */
  prefix: string;
  gitDir: string;
  commonDir: string;
  objectFormat: ObjectFormat;
  head: { kind: "unborn" | "branch"; branch: string } | { kind: "detached" };
  /** What the user's git does to line endings. Ours does nothing: what is on disk is what is kept. */
  autocrlf: "true" | "input" | "false";
  eol: string | null;
  /** Whether the executable bit on disk means something. */
  fileMode: boolean;
  /** Whether links are links on disk; otherwise they are files that hold their target. */
  symlinks: boolean;
  ignoreCase: boolean;
  precomposeUnicode: boolean;
  /** Where the user's own attributes are, for questions about them. */
  attributesFile: string | undefined;
  /** Ours, outside the project: the worktrees of this repository and what we need for them. */
  place: string;
}

export type ObjectFormat = "sha1" | "sha256";

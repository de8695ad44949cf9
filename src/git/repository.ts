// The facts about a project's repository, as open.ts finds them. Data only, no behaviour.

/** Read once, when the repository is opened. Paths are absolute and real. */
export interface Repository {
  projectRoot: string;
  toplevel: string;
  /** The path of the project below the toplevel: "" or "packages/api/". */
  prefix: string;
  gitDir: string;
  commonDir: string;
  objectFormat: ObjectFormat;
  /** How the user's git converts line endings. Maestro's git converts nothing: it stores the bytes on disk. */
  autocrlf: "true" | "input" | "false";
  eol: string | null;
  /** Whether the executable bit on disk is meaningful. */
  fileMode: boolean;
  /** Whether the disk supports links; otherwise a link is a file that contains its target. */
  symlinks: boolean;
  ignoreCase: boolean;
  precomposeUnicode: boolean;
  /** The user's own attributes file, for queries about attributes. */
  attributesFile: string | undefined;
  /** Maestro's directory for this repository, outside the project: worktrees and everything they need. */
  place: string;
  /**
   * Where Maestro's git writes objects: a directory of its own for each project, so that the user's object database gets only what a
   * reference keeps (objects/move.ts). git reads the user's objects, and those in `borrowed`, as well.
   */
  objects: string;
  /** Further object directories of Maestro's that git reads from. */
  borrowed: readonly string[];
}

export type ObjectFormat = "sha1" | "sha256";

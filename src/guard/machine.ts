// What the judge knows about the machine. Plain data: the judge itself never accesses the disk.

export interface Machine {
  /** Absolute. */
  projectRoot: string;
  /** Absolute: where the command starts; defaults to the project root. */
  cwd?: string;
  home: string | undefined;
  tmpdir: string | undefined;
  /** Absolute: the resolved MAESTRO_STATE_DIR. */
  stateDir: string;
  /** The installed extension: hooks, policies, agents, dist. It must never be written. */
  extensionRoot: string | undefined;
  /** Resolves the links of a path that may not exist. Called only for destinations. */
  realpath?: (path: string) => string;
  /** Resolves a shape through links that the same command line has created. */
  through?: (path: string) => string;
  /** The rule against file content through the shell does not hold. */
  areWritesFree?: boolean;
  /** Whether a directory below a temporary one is the user's own and private, and a file in it has no other name. */
  isOwnScratch?: (directory: string, path: string) => boolean;
  /** Whether a session exists in `stateDir`. Called only for commands that would remove or replace its files. */
  hasSession?: () => boolean;
}

// What the judge knows of the machine. Plain data: the judge itself looks at nothing.

export interface Machine {
  /** Absolute. */
  projectRoot: string;
  /** Absolute: where the command starts; the project root when it is not given. */
  cwd?: string;
  home: string | undefined;
  tmpdir: string | undefined;
  /** Absolute: MAESTRO_STATE_DIR resolved. */
  stateDir: string;
  /** The installed extension: hooks, policies, agents, dist. Never a destination. */
  extensionRoot: string | undefined;
  /** Follows the links of a path that may not exist. Only called for destinations. */
  realpath?: (path: string) => string;
  /** Where a shape leads through links that the command line itself has made. */
  through?: (path: string) => string;
  /** Whether a session lies in `stateDir`. Only asked about what would sweep it away unnamed. */
  hasSession?: () => boolean;
}

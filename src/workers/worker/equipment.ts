// What a worker has on its machine to run attempts with. The command line provides it.

import type { Player } from "../../engine/cast.ts";
import type { IsolationOptions } from "../../engine/isolation.ts";
import type { Supervisor } from "../../engine/process/supervisor.ts";
import type { RunContext } from "../../engine/run-context.ts";
import type { Repository } from "../../git/repository.ts";
import type { Environment } from "../../setting-layers.ts";
import type { StateLocation } from "../../store/location.ts";

export interface Equipment {
  env: Environment;
  now: () => Date;
  /** The id of this worker's run: it marks every process that it starts. */
  run: string;
  supervisor: Supervisor;
  /** Undefined when the worker has no such runtime. `root`: where the agent will work. */
  player: (runtime: string, passes: readonly string[], root: string) => Player | undefined;
  /** Throws when this machine has no sandbox. */
  sandbox: (repository: Repository, location: StateLocation) => Promise<IsolationOptions["sandbox"]>;
  /** For the setup command: the variables that it gets, and the exported ones that a text names and that it does not get. */
  environment: (passes: readonly string[]) => Pick<RunContext, "environment" | "withheld">;
  prices: RunContext["prices"];
  redact: (text: string) => string;
  warn: (message: string) => void;
}

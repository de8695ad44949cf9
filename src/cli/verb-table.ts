// Every verb of `maestro`, in the order of the help. To add a verb, add a file in verbs/ and a line here.

import type { Verb } from "./verb.ts";
import { abort } from "./verbs/abort.ts";
import { agents } from "./verbs/agents.ts";
import { apply } from "./verbs/apply.ts";
import { archive } from "./verbs/archive.ts";
import { dashboard } from "./verbs/dashboard.ts";
import { approve } from "./verbs/decide/approve.ts";
import { reject } from "./verbs/decide/reject.ts";
import { reopen } from "./verbs/decide/reopen.ts";
import { diff } from "./verbs/diff.ts";
import { dispatch } from "./verbs/dispatch.ts";
import { doctor } from "./verbs/doctor.ts";
import { guard } from "./verbs/guard.ts";
import { logs } from "./verbs/logs.ts";
import { exchange } from "./verbs/machine/exchange.ts";
import { quota } from "./verbs/machine/quota.ts";
import { runtimes } from "./verbs/machine/runtimes.ts";
import { worker } from "./verbs/machine/worker.ts";
import { workers } from "./verbs/machine/workers.ts";
import { rehearse } from "./verbs/rehearse.ts";
import { report } from "./verbs/report.ts";
import { resume } from "./verbs/resume.ts";
import { retry } from "./verbs/retry.ts";
import { revert } from "./verbs/revert.ts";
import { run } from "./verbs/run.ts";
import { handoff } from "./verbs/scripts/handoff.ts";
import { state } from "./verbs/scripts/state.ts";
import { workspace } from "./verbs/scripts/workspace.ts";
import { session } from "./verbs/session.ts";
import { setup } from "./verbs/setup.ts";
import { skip } from "./verbs/skip.ts";
import { status } from "./verbs/status.ts";
import { stop } from "./verbs/stop.ts";
import { validate } from "./verbs/validate.ts";
import { verify } from "./verbs/verify.ts";
import { watch } from "./verbs/watch.ts";

export const verbs: readonly Verb[] = [
  run,
  resume,
  rehearse,
  validate,
  status,
  watch,
  dashboard,
  logs,
  diff,
  apply,
  revert,
  report,
  stop,
  approve,
  reject,
  reopen,
  retry,
  skip,
  abort,
  archive,
  verify,
  dispatch,
  quota,
  exchange,
  runtimes,
  worker,
  workers,
  doctor,
  setup,
  workspace,
  state,
  session,
  agents,
  guard,
  handoff,
];

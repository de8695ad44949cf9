// maestro quota: shows the credentials that sessions on this machine use, and their limits.

import { quotaRoot } from "../../engine/quota/quota-root.ts";
import { sharedStates } from "../../engine/quota/shared-quota.ts";
import { plural } from "../../views/text/amount.ts";
import { oneLine } from "../../views/text/cell.ts";
import { clockTime } from "../../views/text/duration.ts";
import { type Io, printJson } from "../io.ts";

/** As many characters of a fingerprint as a user compares. */
const SHOWN_CHARS = 8;

export function quota(io: Io, flags: { json?: boolean }): number {
  const now = io.now().getTime();
  const credentials = sharedStates(quotaRoot(io.env), now).map(({ fingerprint, state: { limit, holders } }) => ({
    credential: fingerprint.slice(0, SHOWN_CHARS),
    kind: holders[0]?.kind ?? null,
    limited: limit !== null,
    until: limit === null ? null : new Date(limit.until).toISOString(),
    slots: limit?.slots ?? null,
    running: holders.reduce((sum, { running }) => sum + running, 0),
    sessions: holders.map(({ session, project, pid, running }) => ({ session, project, pid, running })),
  }));
  if (flags.json) printJson(io, { credentials });
  else if (credentials.length === 0) io.out("No session uses a credential now, and no credential is limited.\n");
  else for (const one of credentials) io.out(`${credentialLines(one, now).join("\n")}\n`);
  return 0;
}

interface Shown {
  credential: string;
  kind: string | null;
  until: string | null;
  slots: number | null;
  running: number;
  sessions: { session: string; project: string; pid: number; running: number }[];
}

function credentialLines({ credential, kind, until, slots, running, sessions }: Shown, now: number): string[] {
  const name = kind === null ? credential : `${credential} (${kind})`;
  return [
    `${oneLine(name)}: ${plural(running, "attempt")} running, ${limitText(until, slots, now)}`,
    ...sessions.map(
      (one) => `  ${oneLine(one.session)}: ${one.running} running, process ${one.pid}, ${oneLine(one.project)}`,
    ),
  ];
}

function limitText(until: string | null, slots: number | null, now: number): string {
  if (until === null || slots === null) return "no limit";
  const most = `at most ${plural(slots, "attempt")} at a time`;
  return Date.parse(until) > now ? `nothing starts before ${clockTime(new Date(until))}, then ${most}` : most;
}

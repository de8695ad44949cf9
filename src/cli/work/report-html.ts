// maestro report --html: writes the report of a session as one HTML file that needs no network.

import { mkdtempSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { layoutOf } from "../../dashboard/layout.ts";
import { readPage } from "../../dashboard/page.ts";
import { reportFile } from "../../dashboard/report-file.ts";
import { summaryOf } from "../../dashboard/session-list.ts";
import { MaestroError, reasonOf } from "../../errors.ts";
import { isDelegated } from "../../session/seen.ts";
import type { Session } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import type { StateLocation } from "../../store/location.ts";
import { sessionRecords } from "../../store/session-records.ts";
import type { Prices } from "../../views/report/prices.ts";

/** Beside this program, in dist/. */
const pageFile = fileURLToPath(new URL("./dashboard.html", import.meta.url));

export interface ReportSource {
  location: StateLocation;
  /** Without it, the name of the project's directory. */
  project?: string;
  session: Session;
  redact: (text: string) => string;
  prices: Prices;
  /** Infinity: no limit. */
  slots: number;
  maxRetries: number;
  now: Date;
}

/** The page with the session's journal in it. */
export function htmlReport({
  location,
  session,
  redact,
  prices,
  slots,
  maxRetries,
  now,
  ...rest
}: ReportSource): string {
  const found = sessionRecords(location, session.session_id, redact);
  if (found === undefined) {
    throw new MaestroError("no_session", `The journal of session ${session.session_id} does not exist`);
  }
  return reportFile(readPage(pageFile), {
    overview: {
      control: false,
      slots: Number.isFinite(slots) ? slots : null,
      max_retries: maxRetries,
      prices: [...prices],
      project: rest.project ?? basename(location.projectRoot),
      sessions: [summaryOf(session, found.isActive)],
      unread: 0,
    },
    layout: layoutOf(session.phases),
    records: found.records,
    written: now.toISOString(),
    driven: found.isActive && (runningEngine(location) !== undefined || session.phases.some(isDelegated)),
  });
}

/** Writes the file for its owner only, because a report may contain private code; returns its path. */
export function writeReport(cwd: string, file: string, html: string): string {
  const path = resolve(cwd, file);
  try {
    writeFileSync(path, html, { mode: 0o600 });
  } catch (error) {
    throw new MaestroError("io", `Cannot write the report ${path}: ${reasonOf(error)}`, { cause: error });
  }
  return path;
}

/** In a new directory of its own: no other user can have put a link there. */
export function writeTemporaryReport(parent: string, html: string): string {
  return writeReport(mkdtempSync(join(parent, "maestro-report-")), "report.html", html);
}

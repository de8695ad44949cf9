// maestro report: shows a session's results, duration and cost.

import { declaredPath } from "../../session/deliverables.ts";
import type { Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { isThere } from "../../store/files/declared-files.ts";
import { seenSession } from "../../store/seen-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { reportLines } from "../../views/report/report.ts";
import { reportJson } from "../../views/report/report-json.ts";
import { spendingJson } from "../../views/report/spending.ts";
import { decisionLook, openStore, settingsOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { paint } from "../paint.ts";
import { pricesOf } from "../prices.ts";
import { sessionFor } from "./results.ts";

interface ReportFlags {
  json?: boolean;
  /** The file; true: named after the session. */
  html?: string | true;
}

export async function report(io: Io, id: string | undefined, flags: ReportFlags): Promise<number> {
  const settings = settingsOf(io);
  const store = openStore(io, settings);
  const session = seenSession(store.location, sessionFor(store, id), io.now());
  if (flags.html !== undefined) {
    const path = await writeHtml(io, settings, store, session, flags.html);
    if (flags.json) printJson(io, { session_id: session.session_id, file: path });
    else io.out(`The report is in ${path}\n`);
    return 0;
  }
  if (flags.json) {
    const missing = missingFiles(io.cwd, session);
    const decisions = decisionLook(io, settings);
    const prices = pricesOf(io, settings);
    const facts = reportJson(session, { prices, now: io.now(), missingFiles: missing, decisions });
    printJson(io, { ...facts, tokens: spendingJson(facts.tokens) });
  } else io.out(`${reportOf(io, settings, session).join("\n")}\n`);
  return 0;
}

async function writeHtml(
  io: Io,
  settings: ResolvedSettings,
  store: SessionStore,
  session: Session,
  file: string | true,
): Promise<string> {
  const { htmlReport, writeReport } = await import("./report-html.ts");
  const concurrent = settings.values.MAESTRO_MAX_CONCURRENT;
  const html = htmlReport({
    location: store.location,
    session,
    redact: store.redact,
    prices: pricesOf(io, settings),
    slots: concurrent === 0 ? Number.POSITIVE_INFINITY : concurrent,
    maxRetries: settings.values.MAESTRO_MAX_RETRIES,
    now: io.now(),
  });
  return writeReport(io.cwd, file === true ? `maestro-report-${session.session_id}.html` : file, html);
}

/** The report as lines of text. */
export function reportOf(io: Io, settings: ResolvedSettings, session: Session): string[] {
  const width = Math.min(120, io.screen()?.columns ?? 100);
  return reportLines(session, {
    prices: pricesOf(io, settings),
    now: io.now(),
    paint: paint(io.color),
    width,
    missingFiles: missingFiles(io.cwd, session),
    decisions: decisionLook(io, settings),
  });
}

/** Files that a completed phase should have created but that do not exist. */
function missingFiles(projectRoot: string, session: Session): { phase: string; file: string }[] {
  return session.phases
    .filter((phase) => phase.status === "completed")
    .flatMap((phase) => {
      const declared = (phase.plan?.files_created ?? []).filter((file) => !declaredPath(file).isGlob);
      const missing = declared.filter((file) => !isThere(projectRoot, file));
      return missing.map((file) => ({ phase: phase.id, file }));
    });
}

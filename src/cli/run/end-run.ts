// Ends a run: prints the report and archives the session, or prints what the user must decide, and chooses the exit code.

import { setImmediate } from "node:timers/promises";
import type { EngineEnd } from "../../engine/run-end.ts";
import { runExitCodes, signalCodes } from "../../exit-codes.ts";
import type { Repository } from "../../git/repository.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { isClosed, type Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { archiveQuestion } from "../../store/operations.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { decisionLines, openDecisions } from "../../views/decision/open-decisions.ts";
import { requirementsJson, unansweredLines } from "../../views/report/report-requirements.ts";
import { decisionLook, programOf, tellUser } from "../context.ts";
import { type Io, printJsonLine } from "../io.ts";
import { pruneAfterArchive } from "../session/recovery.ts";
import { reportOf } from "../work/report.ts";

export interface EndedRun {
  store: SessionStore;
  settings: ResolvedSettings;
  end: EngineEnd;
  json: boolean;
  yes: boolean;
  /** Do not archive the completed session. */
  keepOpen: boolean;
  /** The repository that the run has opened. */
  repository?: Repository | null;
}

export async function endRun(io: Io, ended: EndedRun): Promise<number> {
  const { store, settings, end, json } = ended;
  const session = requireSession(store.session);
  const code = end.kind === "interrupted" ? signalCodes[end.signal] : runExitCodes[end.kind];
  if (!json) for (const line of closingLines(io, settings, session, end)) tellUser(io, `${line}\n`);
  await setImmediate();
  const archived = end.kind === "completed" && !ended.keepOpen ? await archiveIfWanted(io, ended) : undefined;
  if (json) {
    const open = () => openDecisions(session, decisionLook(io, settings));
    const unmet = end.kind === "unanswered" ? { requirements: requirementsJson(session) } : {};
    const failed = end.kind === "failed" ? { failed: end.phases } : {};
    const phases =
      end.kind === "failed" || end.kind === "review" || end.kind === "budget"
        ? { ...failed, open_decisions: open() }
        : unmet;
    const value = { type: "run.finished", session_id: session.session_id, status: session.status, end: end.kind };
    printJsonLine(io, { ...value, ...phases, exit_code: code, archived: archived ?? null });
  }
  return code;
}

function closingLines(io: Io, settings: ResolvedSettings, session: Session, end: EngineEnd): string[] {
  const next = 'Resume it with "maestro resume".';
  switch (end.kind) {
    case "completed":
      return reportOf(io, settings, session);
    case "unanswered":
      return [...reportOf(io, settings, session), "", ...unansweredLines(session, programOf(io))];
    case "done":
      return [...reportOf(io, settings, session), "", "The session is open for the final review."];
    case "chosen": {
      const left = session.phases.filter((phase) => !isClosed(phase)).map((phase) => phase.id);
      return [
        `The chosen phases are done. Not finished yet: phase ${left.slice(0, 10).join(", ")}${left.length > 10 ? ", ..." : ""}. ${next}`,
      ];
    }
    case "failed": {
      if (end.phases.length === 0) return ['No further phase can start. See why with "maestro status".'];
      return decisionLines(session, decisionLook(io, settings));
    }
    case "review":
    case "budget":
      return decisionLines(session, decisionLook(io, settings));
    case "interrupted":
      return [`Session ${session.session_id} was interrupted; all finished work is kept. ${next}`];
    case "quota":
      return [`The provider rejected requests for too long; session ${session.session_id} is interrupted. ${next}`];
    case "aborted":
      return [`Session ${session.session_id} was aborted. Archive it with "maestro archive".`];
  }
}

/** Archives the completed session if the settings or the user say so; returns the path of the archive. */
async function archiveIfWanted(
  io: Io,
  { store, settings, json, yes, repository }: EndedRun,
): Promise<string | undefined> {
  if (!settings.values.MAESTRO_AUTO_ARCHIVE && !yes) {
    const isWanted = io.interactive && /^y/i.test((await io.ask(`${archiveQuestion} [y/N] `)) ?? "");
    if (!isWanted) {
      if (!io.interactive && !json) io.out(`\n${archiveQuestion}\n  ${programOf(io)} archive\n`);
      return undefined;
    }
  }
  const archived = store.archive();
  if (!json) io.out(`\nArchived: ${archived.session}\n`);
  await pruneAfterArchive(io, settings, archived, repository ?? undefined);
  return archived.session;
}

// maestro rehearse: runs a plan with the real engine, prompts, journal and views, but with simulated agents. It calls no model and
// writes only to a temporary directory.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MaestroError } from "../../errors.ts";
import { signalCodes } from "../../exit-codes.ts";
import { modelFor } from "../../runtimes/models.ts";
import { rehearsalRuntime } from "../../runtimes/rehearsal/rehearsal.ts";
import { scriptOf } from "../../runtimes/rehearsal/script.ts";
import { requireSession } from "../../session/decide/operation.ts";
import type { Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { locateState } from "../../store/location.ts";
import { createSession } from "../../store/operations.ts";
import { SessionStore } from "../../store/session-store.ts";
import { reviewView } from "../../store/view/view-review.ts";
import { rehearsalForecast, rehearsalLines } from "../../views/report/rehearsal.ts";
import { chosenBudget, planEstimate } from "../budget.ts";
import { approvePlan, type CheckedPlan, redactorOf, rosterOf, settingsOf } from "../context.ts";
import { refuseInsideAttempt } from "../inside-attempt.ts";
import { type Io, printJson } from "../io.ts";
import { paint } from "../paint.ts";
import { pricesOf } from "../prices.ts";
import { type EngineFlags, engineSettings } from "./engine-options.ts";
import { noIsolation } from "./isolation.ts";
import { runSession } from "./run-session.ts";

const player = fileURLToPath(new URL("./player.js", import.meta.url));
const DEFAULT_STAGE_SECONDS = 8;

export interface RehearseFlags extends EngineFlags {
  seconds?: string;
  /** The file; true: one in a new temporary directory. */
  html?: string | true;
}

export async function rehearse(io: Io, planPath: string, flags: RehearseFlags): Promise<number> {
  refuseInsideAttempt(io);
  const settings = settingsOf(io);
  pricesOf(io, settings);
  const approved = await approvePlan(io, settings, planPath);
  const stage = realpathSync(mkdtempSync(join(tmpdir(), "maestro-rehearsal-")));
  try {
    return await play(io, settings, approved, flags, stage);
  } finally {
    rmSync(stage, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function play(
  io: Io,
  settings: ResolvedSettings,
  approved: CheckedPlan,
  flags: RehearseFlags,
  stage: string,
): Promise<number> {
  const plan = join(".gemini", "plans", basename(approved.path));
  mkdirSync(join(stage, dirname(plan)), { recursive: true });
  writeFileSync(join(stage, plan), approved.bytes);
  const script = join(stage, ".gemini", "rehearsal.json");
  const played = scriptOf(approved.plan, seconds(flags.seconds) * 1000, settings.values.MAESTRO_MAX_RETRIES);
  writeFileSync(script, JSON.stringify(played));
  const store = new SessionStore(locateState(stage, ".gemini"), {
    now: io.now,
    redact: redactorOf(io),
    warn: (message) => io.err(`WARNING: ${message}\n`),
    review: (session, text, sessionAt) => reviewView(session, text, settings.values.MAESTRO_MAX_RETRIES, sessionAt),
    viewDelayMs: 250,
  });
  const mode = flags.mode === "sequential" ? "sequential" : "parallel";
  // The live table estimates the remaining time from these minutes, so they are the simulated durations.
  const phases = played.phases.map(({ ms, ...phase }) => ({
    ...phase,
    estimate: { ...phase.estimate, minutes: ms / 60_000 },
  }));
  // A rehearsal has nothing to answer requirements with.
  const { requirements: _, ...rest } = approved.plan;
  const staged = { ...approved, plan: { ...rest, phases }, path: plan };
  createSession(store, { ...staged, task: null, executionMode: mode, now: io.now() });
  const limits = engineSettings(settings, flags);
  const end = await runSession(io, {
    store,
    settings,
    played: {
      runtime: rehearsalRuntime(process.execPath, [player, "agent", script]),
      program: process.execPath,
    },
    engine: limits,
    keepGoing: false,
    display: flags.json ? "none" : "auto",
    isolation: noIsolation(stage),
    projectRoot: stage,
    // The user's validation commands could have side effects, so they are simulated too.
    validator: () => ({ program: process.execPath, args: [player, "validation", script] }),
  });
  if (end.kind === "interrupted") return signalCodes[end.signal];
  const slots = mode === "sequential" ? 1 : limits.slots;
  printForecast(io, settings, approved, flags, requireSession(store.session), slots);
  if (flags.html !== undefined) await writeHtml(io, settings, flags, store, slots);
  return end.kind === "completed" ? 0 : 1;
}

async function writeHtml(
  io: Io,
  settings: ResolvedSettings,
  { html: file, json }: RehearseFlags,
  store: SessionStore,
  slots: number,
): Promise<void> {
  const { htmlReport, writeReport, writeTemporaryReport } = await import("../work/report-html.ts");
  const html = htmlReport({
    location: store.location,
    project: "rehearsal",
    session: requireSession(store.session),
    redact: store.redact,
    prices: pricesOf(io, settings),
    slots,
    maxRetries: settings.values.MAESTRO_MAX_RETRIES,
    now: io.now(),
  });
  const path = typeof file === "string" ? writeReport(io.cwd, file, html) : writeTemporaryReport(tmpdir(), html);
  const line = `\nSee it in a browser: ${path}\n`;
  // The answer of --json is one document.
  if (json) io.err(line);
  else io.out(line);
}

function printForecast(
  io: Io,
  settings: ResolvedSettings,
  { report, plan }: CheckedPlan,
  flags: RehearseFlags,
  session: Session,
  slots: number,
): void {
  const agents = new Map(rosterOf(io).agents.map((agent) => [agent.name, agent]));
  const models = new Map(
    plan.phases.map(({ id, agent }) => [
      id,
      modelFor(agents.get(agent) ?? { name: agent }, settings.values, flags.model),
    ]),
  );
  const cap = chosenBudget(settings, flags);
  const forecast = rehearsalForecast(session, {
    profile: report.profile,
    criticalPath: report.dependency_graph.critical_path,
    models,
    prices: pricesOf(io, settings),
    slots: Number.isFinite(slots) ? slots : null,
    budget: cap === undefined ? undefined : { cap, estimated: planEstimate(io, settings, plan.phases, flags.model) },
  });
  if (flags.json) printJson(io, forecast);
  else io.out(`${rehearsalLines(forecast, paint(io.color)).join("\n")}\n`);
}

function seconds(given: string | undefined): number {
  if (given === undefined) return DEFAULT_STAGE_SECONDS;
  const value = Number(given);
  if (given.trim() !== "" && value >= 0 && value <= 3600) return value;
  throw new MaestroError("usage", `--seconds must be a number from 0 to 3600 (got: ${given})`);
}

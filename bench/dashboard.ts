// Measures the page in Chromium with 3,000 phases and 25,000 records, and with a log of 100 MB: first paint, the longest frame while
// scrubbing and scrolling, memory; the size of the report; and a run with and without a page that shows it.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { layoutOf } from "../src/dashboard/layout.ts";
import { readPage } from "../src/dashboard/page.ts";
import { reportFile } from "../src/dashboard/report-file.ts";
import { summaryOf } from "../src/dashboard/session-list.ts";
import type { SessionEvent } from "../src/session/events.ts";
import { fold, type TimedEvent } from "../src/session/fold.ts";
import type { Session } from "../src/session/session.ts";
import { encodeChange, journalStart } from "../src/store/journal/record.ts";
import { measureLookedOn } from "./support/looked-on.ts";
import { report } from "./support/measure.ts";

const PHASES = 3_000;
const RECORDS = 25_000;
const LOG_BYTES = 100 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;
const SESSION = "2026-02-14-large";
const root = process.cwd();
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

const STEPS = 60;

/** Runs in the page: moves the slider to a share of the session, and lets the page draw. */
const scrubTo = (share: number) => `(async () => {
  const slider = document.querySelector(".replay input[type=range]");
  slider.value = String(1 + Math.round((Number(slider.max) - 1) * ${share}));
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise(requestAnimationFrame);
})()`;

/** Runs in the page: scrolls the log to a share of it, and lets the page draw what it reads in the next frame. */
const scrollTo = (share: number) => `(async () => {
  const box = document.querySelector(".log-lines");
  box.scrollTop = box.scrollHeight * ${share};
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
})()`;

/** The most that a step cost. CPU time, because other programs on the machine would count as frames. */
async function longestStep(page: Page, scriptOf: (step: number) => string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
  };
  let longest = 0;
  for (let step = 0, before = await spent(); step < STEPS; step += 1) {
    await page.evaluate(scriptOf(step));
    const after = await spent();
    longest = Math.max(longest, after - before);
    before = after;
  }
  await session.detach();
  return longest;
}

if (chromium === undefined) console.log("  SKIPPED: Chromium is not installed (Debian: apt-get install chromium)");
else await main(chromium);

async function main(executablePath: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "maestro-bench-dashboard-"));
  // A path that the bundler does not follow.
  const playwright = pathToFileURL(join(root, "node_modules/playwright-core/index.mjs")).href;
  const { chromium: kind } = (await import(playwright)) as typeof import("playwright-core");
  const browser = await kind.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await measureReport(page, scratch);
    await page.close();
    const other = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await measureLog(other, scratch);
    await other.close();
    await measureLookedOn(browser);
  } finally {
    await browser.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measureReport(page: Page, scratch: string): Promise<void> {
  const records = recordsOf(events());
  const session = fold(records) as Session;
  const html = reportFile(readPage(join(root, "dist/dashboard.html")), {
    overview: {
      control: false,
      slots: 40,
      max_retries: 2,
      prices: [],
      project: "large",
      sessions: [summaryOf(session, false)],
      unread: 0,
    },
    layout: layoutOf(session.phases),
    records,
    written: "2026-02-15T22:58:00.000Z",
    driven: false,
  });
  const journal = Buffer.byteLength(records.map((record) => JSON.stringify(record)).join("\n"));
  const limit = (0.5 * journal + 100 * 1024) / MEGABYTE;
  report(`report of a journal of ${(journal / MEGABYTE).toFixed(1)} MB`, html.length / MEGABYTE, "MB", limit);
  const path = join(scratch, "report.html");
  writeFileSync(path, html);
  const started = performance.now();
  await page.goto(pathToFileURL(path).href);
  await page.locator(".lane-row").first().waitFor();
  report("from opening the report to its first rows", performance.now() - started, "ms", 1500);
  for (const view of ["timeline", "graph"]) {
    await page.evaluate(`location.hash = "#//${view}"`);
    await page.waitForTimeout(300);
    // Forth and back.
    const longest = await longestStep(page, (step) => scrubTo(Math.abs(Math.sin(step / 7))));
    report(`longest frame while scrubbing, ${view}`, longest, "ms CPU", 100);
  }
  report("memory of the page", await memoryOf(page), "MB", 300);
}

async function measureLog(page: Page, scratch: string): Promise<void> {
  const project = join(scratch, "project");
  const results = join(project, ".gemini/parallel", SESSION, "results");
  for (const folder of [results, join(results, "../prompts"), join(project, ".gemini/state")])
    mkdirSync(folder, { recursive: true });
  const [created, ...rest] = events().filter(({ type }) => type !== "session.noted");
  const few = [created as SessionEvent, ...rest.slice(0, 8)];
  writeFileSync(
    join(project, ".gemini/state/progress.jsonl"),
    encodeChange(journalStart, "2026-02-14T22:58:00.000Z", few).bytes,
  );
  const line = `${"a line of a log that has about one hundred characters, so that a million of them are a hundred MB".padEnd(99)}\n`;
  writeFileSync(join(results, "coder.p1-1.json"), line.repeat(Math.ceil(LOG_BYTES / line.length)));
  const server = spawn(process.execPath, [join(root, "dist/maestro.js"), "dashboard", "--json"], { cwd: project });
  try {
    const url = await new Promise<string>((resolve) =>
      server.stdout.once("data", (text) => resolve(JSON.parse(text).url)),
    );
    await page.goto(url);
    await page.locator(".lane-row").first().waitFor();
    await page.evaluate(`location.hash = "#/${SESSION}/timeline?phase=1&tab=log"`);
    const started = performance.now();
    const lines = Math.floor(statSync(join(results, "coder.p1-1.json")).size / line.length);
    await page.getByRole("region", { name: `Log of attempt 1, ${lines} lines` }).waitFor({ timeout: 120_000 });
    report("reading a log of 100 MB", performance.now() - started, "ms");
    report(
      "longest frame while scrolling it",
      await longestStep(page, (step) => scrollTo(step / STEPS)),
      "ms CPU",
      100,
    );
    report("memory of the page with it", await memoryOf(page), "MB", 300);
  } finally {
    server.kill();
  }
}

/** What the page's own process holds: the heap alone would not count long texts. */
async function memoryOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const browser = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo = [] } = (await browser?.send("SystemInfo.getProcessInfo")) ?? {};
  const anonymous = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0));
  return Math.max(...anonymous) / 1024;
}

/** Every phase runs once; notes fill the rest. */
function events(): SessionEvent[] {
  const ids = Array.from({ length: PHASES }, (_, at) => String(at + 1));
  const phases = ids.map((id, at) => ({
    id,
    title: `Phase ${id} of a large plan`,
    agent: "coder",
    description: "Work on it.",
    validation_criteria: [],
    validation: [],
    parallel: true,
    blocked_by: at < 40 ? [] : [ids[at - 40], ids[at - 37]],
    files_created: [],
    files_modified: [],
    files_deleted: [],
  }));
  const plan = { title: "A large plan", path: "plan.md", hash: "0".repeat(64), design_document: null, phases };
  const created = { type: "session.created", session_id: SESSION, task: null, execution_mode: "parallel", plan };
  const work = ids.flatMap((phase) => [
    { type: "phase.moved", phase, from: "pending", to: "in_progress" },
    {
      type: "attempt.started",
      ...{ phase, attempt: 1, agent: "coder", run: "r1", runtime: "gemini", model: null },
      ...{ batch: SESSION, name: `coder.p${phase}-1`, prompt_bytes: 900, timeout_ms: 600_000 },
    },
    {
      type: "attempt.finished",
      ...{ phase, attempt: 1, outcome: "success", exit_code: 0, signal: null, duration_ms: 60_000 },
      usage: [{ model: "gemini-2.5-pro", input: 1000, output: 100, cached: 0, thoughts: 0 }],
    },
    { type: "phase.moved", phase, from: "in_progress", to: "completed" },
  ]);
  const notes = Array.from({ length: RECORDS - work.length - 1 }, (_, at) => ({
    type: "session.noted",
    text: `Note ${at}: something that happened while the agents were at work, in a few words.`,
  }));
  return [
    created,
    ...work.flatMap((event, at) => [event, ...notes.slice(at, at + 1)]),
    ...notes.slice(work.length),
  ] as unknown as SessionEvent[];
}

function recordsOf(all: readonly SessionEvent[]): TimedEvent[] {
  const start = Date.parse("2026-02-14T22:58:00.000Z");
  return all.map(
    (event, at) => ({ ...event, seq: at + 1, ts: new Date(start + at * 500).toISOString() }) as TimedEvent,
  );
}

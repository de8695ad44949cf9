// The dashboard in a real browser: a live run with stand-in agents, a decision that reaches the engine, reload, restart, seven tabs; and
// pages of other origins that attack it.

import { createServer } from "node:http";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from "vitest";
import { closeBrowser, goTo, type Visit, violations, visit, visiting, watch } from "../support/browser.ts";
import { startDashboard, type TestDashboard, withDashboard } from "../support/dashboard.ts";
import { runPlan } from "../support/engine-run.ts";
import { again, agent, withIsolated } from "../support/isolated.ts";
import { hostile } from "../support/page-session.ts";
import { TEST_TIMEOUT_MS, until, withRemoved } from "../support/processes.ts";
import { Project } from "../support/project.ts";
import { played, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
afterAll(closeBrowser);

const SESSION = "2026-02-14-task-api";
const rows = (page: Page) => page.locator(".lane-row");

/** Runs in the page: notifications are counted instead of shown. */
const notified = `globalThis.told = []; globalThis.Notification = class {
  static permission = "granted";
  static requestPermission() { return Promise.resolve("granted"); }
  constructor(title) { globalThis.told.push(title); }
};`;

describe("a live run in the page", () => {
  const phases = [
    agent("1", ["a.txt"], ["write", ["a.txt", "first\nchanged\n"]]),
    scripted("2", { "*": [["exit", 7]] }),
    agent(
      "3",
      ["c.txt"],
      ["say", "plain words\n"],
      ["stderr", "\u001b[31mred\u001b[0m words"],
      ["say", `${hostile}\n`],
      ["signal", "go"],
      ["say", "the end\n"],
    ),
  ];

  test("shows the log as it grows, and a decision taken in the page reaches the engine", (context) =>
    withIsolated({ "a.txt": "first\nsecond\n", "c.txt": "c\n" }, phases, (project) =>
      visiting(context, { viewport: { width: 1280, height: 900 } }, async ({ page, faults }) => {
        const run = project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, "--keep-going", "--yes");
        await withDashboard(project, ["--control"], async (dashboard) => {
          await page.addInitScript(notified);
          await page.goto(dashboard.url);
          await page.locator(".head h1", { hasText: "Task API" }).waitFor();
          expect(page.url()).not.toContain("code");
          expect(await page.evaluate("document.cookie")).toBe("");
          await page.getByRole("link", { name: /Needs you 1/ }).click();
          const card = page.getByRole("article", { name: /Phase 2/ });
          await card.waitFor();
          expect(await page.title()).toMatch(/^\(1\) /);
          expect(await page.locator("link[rel=icon]").getAttribute("href")).toContain(encodeURIComponent(">1</text>"));
          // Notifications are off until the user switches them on, and do not report what was there before.
          await page.getByRole("button", { name: "Notify" }).click();
          expect(await page.evaluate("globalThis.told")).toEqual([]);
          // The log of a running phase, followed live.
          await goTo(page, `#/${SESSION}/timeline?phase=3&tab=log`);
          const log = page.locator(".log-lines");
          await log.getByText("plain words").waitFor();
          expect(await page.evaluate("globalThis.pwned ?? null")).toBeNull();
          expect(await log.locator("img, script, a").count()).toBe(0);
          expect(await log.textContent()).toContain("\\u202e");
          await page.getByLabel("Which output").selectOption("errors");
          expect(await log.locator(".f1").first().textContent()).toBe("red");
          // Every view, while the engine runs.
          const shown: [view: string, text: string][] = [
            ["timeline", "running"],
            ["graph?phase=3", "running, coder"],
            ["whatif", "The engine's own scheduler"],
            ["history", "1 of 1 session"],
          ];
          for (const [view, text] of shown) {
            await goTo(page, `#/${SESSION}/${view}`);
            await page.locator("main").getByText(text).first().waitFor({ state: "attached" });
          }
          // The decision, while the engine runs.
          await goTo(page, `#/${SESSION}/needs`);
          await card.getByRole("button", { name: "Skip" }).click();
          await page.getByText("The engine acts on it.").waitFor();
          await page.getByRole("button", { name: "Stop" }).waitFor();
          await page.getByText("Nothing needs you.").waitFor();
          project.signal("go");
          expect((await run.ended).code).toBe(0);
          await goTo(page, `#/${SESSION}/timeline?phase=1&tab=diff`);
          await page.locator(".lines .added", { hasText: "changed" }).waitFor();
          await page.locator(".head .mark", { hasText: "completed" }).waitFor();
          expect(await page.evaluate("globalThis.told")).toEqual(["Session completed"]);
          expect(await violations(page)).toEqual([]);
        });
        expect(status(project).phases.map((phase: { status: string }) => phase.status)).toEqual([
          "completed",
          "skipped",
          "completed",
        ]);
        expect(faults).toEqual([]);
      }),
    ));
});

describe("decisions in the page", () => {
  const phases = [
    again("1", ["a.txt"], [["write", ["a.txt", "first\n"]]], ["write", ["a.txt", "better\n"]]),
    scripted("2", { "*": [["exit", 7]] }),
    agent("3", ["c.txt"], ["hang"]),
  ];
  const files = { "a.txt": "a\n", "c.txt": "c\n", "mine.txt": "mine\n" };
  const stops = "Stop the engine? Its agents are interrupted; the session can be resumed.";
  const aborts = "Abort the session for good? It cannot be resumed.";

  test("reject, approve, reopen, retry, stop and abort reach the engine and the record (C41)", (context) =>
    withIsolated(files, phases, (project) =>
      visiting(context, {}, async ({ page, faults, confirmed }) => {
        confirmed.push(stops, aborts);
        const run = project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, "--keep-going", "--review", "phase", "--yes");
        await withDashboard(project, ["--control"], async (dashboard) => {
          await page.goto(dashboard.url);
          await page.locator(".head h1", { hasText: "Task API" }).waitFor();
          await goTo(page, `#/${SESSION}/needs`);
          const review = page.getByRole("article", { name: /^Review: phase 1/ });
          const press = (card: Locator, name: string) => card.getByRole("button", { name, exact: true }).click();
          const guide = (card: Locator, text: string) => card.getByLabel("Guidance for the next attempt").fill(text);
          const told = (text: string) => page.getByRole("status").getByText(text).waitFor();

          // The diff is there before the answer; a rejection needs guidance.
          await review.locator(".lines .added", { hasText: "first" }).waitFor();
          expect(await review.getByRole("button", { name: "Reject" }).isDisabled()).toBe(true);
          await guide(review, "Write better.");
          await press(review, "Reject");
          await review.locator(".lines .added", { hasText: "better" }).waitFor();
          expect(project.eventsOf("1", "phase.reopened")).toMatchObject([
            { rejected: expect.any(String), guidance: "Write better." },
          ]);

          // The project moved on under the review: the work is shown again, and then approved as it is now.
          const before = project.events("review.opened").at(-1)?.tree;
          project.write("mine.txt", "changed meanwhile\n");
          await press(review, "Approve");
          await told("the work has changed since it was shown to you");
          expect(project.events("review.approved")).toEqual([]);
          await until("the review of the new tree", () => project.events("review.opened").at(-1)?.tree !== before);
          await page.reload();
          await press(review, "Approve");
          await told("The engine acts on it.");
          const after = project.events("review.opened").at(-1)?.tree;
          expect(project.events("review.approved")).toMatchObject([{ phases: ["1"], tree: after }]);

          // The engine integrates the work; the completed phase is reopened beside the view.
          await goTo(page, `#/${SESSION}/needs?phase=1`);
          const panel = page.getByRole("complementary", { name: "Phase 1" });
          await panel.getByText("Reopen this phase").click();
          expect(project.read("a.txt")).toBe("better\n");
          expect(await violations(page)).toEqual([]);
          await press(panel, "Reopen");
          await until("the reopened phase", () => project.eventsOf("1", "phase.reopened").length === 2);
          expect(project.eventsOf("1", "phase.reopened").at(-1)).not.toHaveProperty("rejected");
          await until("its third attempt", () => project.eventsOf("1", "attempt.started").length === 3);

          const failed = page.getByRole("article", { name: /^Phase 2/ });
          await guide(failed, "Exit with 0.");
          await press(failed, "Retry with guidance");
          const failures = () => project.eventsOf("2", "phase.moved").filter(({ to }) => to === "failed");
          await until("the second attempt", () => failures().length === 2);
          expect(JSON.stringify(project.eventsOf("2", "phase.moved"))).toContain("Exit with 0.");

          // Every button of the head is on a narrow screen too.
          await page.setViewportSize({ width: 320, height: 640 });
          const last = await page.getByRole("button", { name: "Keys" }).boundingBox();
          expect((last?.x ?? 999) + (last?.width ?? 0)).toBeLessThanOrEqual(320);
          await press(page.getByRole("banner"), "Stop");
          await page.setViewportSize({ width: 1280, height: 800 });
          await run.ended;
          await page.locator(".head .mark", { hasText: "interrupted" }).waitFor();
          await press(failed, "Abort session");
          await told("The session is aborted.");
          await page.locator(".head .mark", { hasText: "aborted" }).waitFor();
        });
        expect(status(project)).toMatchObject({ status: "failed" });
        expect(faults).toEqual([]);
      }),
    ));
});

/** An archived session in which phase 1 was retried, and an open one in which it failed. The tests share them, a dashboard and a page. */
describe("the page of a project", () => {
  const project = new Project();
  let dashboard: TestDashboard;
  let shared: Visit | undefined;

  beforeAll(async () => {
    await runPlan(project, [played(1, [["exit", 3]]), { id: 2 }]);
    const failing = [played(1, [["exit", 7]]), { id: 2 }];
    await runPlan(project, failing, { words: ["--keep-going"], env: { MAESTRO_MAX_RETRIES: "0" } });
    dashboard = await startDashboard(project, ["--control"]);
  }, TEST_TIMEOUT_MS);
  afterAll(() => withRemoved(project, () => dashboard.end()));

  /** The page, logged in. */
  async function loggedIn(context: TestContext): Promise<Visit> {
    if (shared !== undefined) return shared;
    shared = await visit(context, {});
    await shared.page.goto(dashboard.url);
    await rows(shared.page).first().waitFor();
    return shared;
  }

  test("finds archived sessions, compares two, and opens each by its address", async (context) => {
    const { page, faults } = await loggedIn(context);
    await page.getByRole("link", { name: "History" }).click();
    const sessions = page.locator(".sessions > li");
    await sessions.nth(1).waitFor();
    const structure = await page.locator("main").ariaSnapshot();
    await expect(`${structure.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "DATE")}\n`).toMatchFileSnapshot(
      "snapshots/history.txt",
    );
    await page.getByLabel("Search sessions").fill("exit code 3");
    await page.locator(".matches").waitFor();
    expect(await sessions.count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await sessions.first().getByRole("button", { name: "Compare" }).click();
    await page.getByText("First difference: phase 1 (status, tries).").waitFor();
    // Tokens of the stand-in are known, changes without a repository are not.
    expect(await page.locator(".compare tbody tr").first().textContent()).toContain("unknown");
    await goTo(page, `#/${SESSION}/timeline?phase=1`);
    await page.locator("aside.phase table tbody tr").nth(1).waitFor();
    await page.locator(".head .mark", { hasText: "completed" }).waitFor();
    const lost: [string, string][] = [
      ["#//history?with=2020-01-01-none", "Session 2020-01-01-none cannot be read."],
      ["#/2020-01-01-none/timeline", "This project has no such session."],
      [`#/${SESSION}/timeline?phase=1&attempt=9&tab=log`, "Phase 1 has no attempt 9 at this moment."],
    ];
    for (const [place, text] of lost) {
      await goTo(page, place);
      await page.locator(".stage").getByText(text).waitFor();
    }
    await goTo(page, "#//timeline");
    await page.locator(".head .mark", { hasText: "failed" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("opens a line of a long log by its address, in the part of the output that it names", async (context) => {
    const { page, faults } = await loggedIn(context);
    const log = `.gemini/parallel/${SESSION}-2/results/coder.p1-1.log`;
    project.write(
      log,
      Array.from({ length: 40_000 }, (_, at) => `line ${at + 1} of a log that comes in parts\n`).join(""),
    );
    await goTo(page, `#/${SESSION}-2/timeline?phase=1&tab=log&part=errors&line=39000`);
    await page.locator(".log-line.marked", { hasText: "line 39000 of" }).waitFor();
    expect(await page.getByLabel("Which output").inputValue()).toBe("errors");
    await page.getByRole("button", { name: "Link to line 39002" }).click();
    await page.locator(".log-line.marked", { hasText: "line 39002 of" }).waitFor();
    expect(await page.evaluate("location.hash")).toContain("tab=log&part=errors");
    await page.getByLabel("Which output").selectOption("output");
    await page.locator(".log-lines").waitFor({ state: "detached" });
    await goTo(page, `#/${SESSION}-2/timeline`);
    expect(faults).toEqual([]);
  });

  test("gives a page of another port, or of a name that leads to this machine, nothing and no decision (T11)", async (context) => {
    const { page } = await loggedIn(context);
    const target = `http://127.0.0.1:${dashboard.port}`;
    const other = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<p>hello"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const evil = await page.context().newPage();
    try {
      await evil.goto(`http://127.0.0.1:${port}/`);
      const skip = JSON.stringify({ action: "skip", phase_id: "1", user_decision: true });
      const tried = await evil.evaluate<string[]>(`(async () => {
              const path = "${target}/api/sessions/${SESSION}-2/decisions";
              const body = ${JSON.stringify(skip)};
              const ways = [
                () => fetch("${target}/api/sessions", { credentials: "include" }).then((answer) => "read " + answer.status),
                () => fetch(path, { method: "POST", mode: "no-cors", credentials: "include", body }).then((answer) => answer.type),
                () => fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body }).then((answer) => "sent " + answer.status),
                () => new Promise((resolve) => { const channel = new BroadcastChannel("maestro"); channel.onmessage = () => resolve("token"); channel.postMessage({ kind: "who" }); setTimeout(() => resolve("silence"), 300); }),
                () => new Promise((resolve) => { const frame = document.createElement("iframe"); frame.src = "${target}/"; frame.onload = () => { try { resolve("frame " + frame.contentDocument.title) } catch { resolve("blocked") } }; document.body.append(frame); setTimeout(() => resolve("blocked"), 1000); }),
              ];
              const told = [];
              for (const way of ways) told.push(await way().catch((error) => error.name));
              return told;
            })()`);
      expect(tried.map((told) => (told === null ? "blocked" : told))).toEqual([
        "TypeError",
        expect.stringMatching(/opaque|TypeError/),
        "TypeError",
        "silence",
        expect.stringMatching(/blocked|^frame $/),
      ]);
      const rebound = await evil.goto(`http://evil.test:${dashboard.port}/`);
      expect(rebound?.status()).toBe(403);
      expect(await evil.evaluate(`fetch("/api/sessions").then(({ status }) => status)`)).toBe(403);
      const posted = `fetch("/api/login", { method: "POST", headers: { "content-type": "application/json" }, body: '{"code":"x"}' }).then(({ status }) => status)`;
      expect(await evil.evaluate(posted)).toBe(403);
    } finally {
      await evil.close();
      other.close();
    }
    expect(status(project).phases[0]?.status).toBe("failed");
  });

  test("survives a reload, seven tabs, and a server that was killed and started again", async (context) => {
    const { page, faults } = await loggedIn(context);
    await page.reload();
    await rows(page).nth(1).waitFor();
    // Other tabs ask the first one for its token, and one tab holds the only stream.
    const tabs = await Promise.all(Array.from({ length: 6 }, () => page.context().newPage()));
    const complaints = tabs.map((tab) => watch(tab));
    for (const tab of tabs) await tab.goto(`http://127.0.0.1:${dashboard.port}/`);
    await Promise.all(tabs.map((tab) => rows(tab).nth(1).waitFor()));
    await page.close();
    // The tab that held the stream is gone: another one takes over.
    const [tab, second] = tabs as [Page, Page];
    dashboard.process.child.kill("SIGKILL");
    await tab.getByText("The dashboard does not answer").waitFor();
    expect(await violations(tab)).toEqual([]);
    expect(await rows(tab).count()).toBe(2);
    dashboard = await startDashboard(project, ["--port", String(dashboard.port)]);
    await tab.getByText("This page is not logged in").waitFor();
    expect(await violations(tab)).toEqual([]);
    // A login in any tab, also one without the stream, is a login for all.
    await second.getByLabel(/Enter the code from the address/).fill(dashboard.url);
    await second.getByRole("button", { name: "Log in" }).click();
    project.maestro(["session", "note", "written meanwhile"]);
    for (const one of tabs) {
      await one.locator(".moment-text", { hasText: "written meanwhile" }).waitFor();
      await one.getByText("This page is not logged in").waitFor({ state: "detached" });
    }
    expect([...faults, ...complaints.flat()]).toEqual([]);
  });
});

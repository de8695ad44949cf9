// The dashboard in a real browser: a live run with stand-in agents, a decision that reaches the engine, reload, restart, seven tabs; and
// pages of other origins that attack it.

import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test, vi } from "vitest";
import { closeBrowser, violations, visiting, watch } from "../support/browser.ts";
import { startDashboard, withDashboard } from "../support/dashboard.ts";
import { runPlan } from "../support/engine-run.ts";
import { agent, withIsolated } from "../support/isolated.ts";
import { hostile } from "../support/page-session.ts";
import { TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { played, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
afterAll(closeBrowser);

const SESSION = "2026-02-14-task-api";
const rows = (page: Page) => page.locator(".lane-row");

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
          await page.goto(dashboard.url);
          await page.locator(".head h1", { hasText: "Task API" }).waitFor();
          expect(page.url()).not.toContain("code");
          expect(await page.evaluate("document.cookie")).toBe("");
          await page.getByRole("link", { name: /Needs you 1/ }).click();
          const card = page.getByRole("article", { name: /Phase 2/ });
          await card.waitFor();
          expect(await page.title()).toMatch(/^\(1\) /);
          // The log of a running phase, followed live.
          await page.evaluate(`location.hash = "#/${SESSION}/timeline?phase=3&tab=log"`);
          const log = page.locator(".log-lines");
          await log.getByText("plain words").waitFor();
          expect(await page.evaluate("globalThis.pwned ?? null")).toBeNull();
          expect(await log.locator("img, script, a").count()).toBe(0);
          expect(await log.textContent()).toContain("\\u202e");
          await page.getByLabel("Which output").selectOption("errors");
          expect(await log.locator(".f1").first().textContent()).toBe("red");
          // The decision, while the engine runs.
          await page.evaluate(`location.hash = "#/${SESSION}/needs"`);
          await card.getByRole("button", { name: "Skip" }).click();
          await page.getByText("The engine acts on it.").waitFor();
          await page.getByText("Nothing needs you.").waitFor();
          project.signal("go");
          expect((await run.ended).code).toBe(0);
          await page.evaluate(`location.hash = "#/${SESSION}/timeline?phase=1&tab=diff"`);
          await page.locator(".lines .added", { hasText: "changed" }).waitFor();
          await page.locator(".head .mark", { hasText: "completed" }).waitFor();
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

describe("the page of a session", () => {
  test("survives a reload, seven tabs, and a server that was killed and started again", (context) =>
    withProcesses(async (project) => {
      await runPlan(project, [played(1, []), { id: 2, blocked_by: [1] }], { words: ["--keep-open"] });
      const first = await startDashboard(project);
      await visiting(context, {}, async ({ page, faults }) => {
        await page.goto(first.url);
        await rows(page).nth(1).waitFor();
        await page.reload();
        await rows(page).nth(1).waitFor();
        // Other tabs ask the first one for its token, and one tab holds the only stream.
        const tabs = await Promise.all(Array.from({ length: 6 }, () => page.context().newPage()));
        for (const tab of tabs) await tab.goto(`http://127.0.0.1:${first.port}/`);
        await Promise.all(tabs.map((tab) => rows(tab).nth(1).waitFor()));
        await page.close();
        // The tab that held the stream is gone: another one takes over.
        const [tab] = tabs as [Page];
        watch(tab);
        first.process.child.kill("SIGKILL");
        await tab.getByText("The dashboard does not answer").waitFor();
        expect(await rows(tab).count()).toBe(2);
        const second = await startDashboard(project, ["--port", String(first.port)]);
        await tab.getByText("This page is not logged in").waitFor();
        await tab.getByLabel(/The code of the address/).fill(second.url);
        await tab.getByRole("button", { name: "Log in" }).click();
        await tab.getByText("This page is not logged in").waitFor({ state: "detached" });
        project.maestro(["session", "note", "written meanwhile"]);
        await tab.locator(".moment-text", { hasText: "written meanwhile" }).waitFor();
        expect(faults).toEqual([]);
        await second.end();
      });
    }));

  test("finds archived sessions, compares two, and opens each by its address", (context) =>
    withProcesses(async (project) => {
      await runPlan(project, [played(1, [["exit", 3]]), { id: 2 }]);
      await runPlan(project, [played(1, []), { id: 2 }], { words: ["--keep-open"] });
      await withDashboard(project, [], (dashboard) =>
        visiting(context, {}, async ({ page, faults }) => {
          await page.goto(dashboard.url);
          await rows(page).first().waitFor();
          await page.getByRole("link", { name: "History" }).click();
          const sessions = page.locator(".sessions > li");
          await sessions.nth(1).waitFor();
          await page.getByLabel("Search sessions").fill("exit code 3");
          await page.locator(".matches").waitFor();
          expect(await sessions.count()).toBe(1);
          expect(await violations(page)).toEqual([]);
          await sessions.first().getByRole("button", { name: "Compare" }).click();
          await page.getByText("First difference: phase 1 (tries).").waitFor();
          await page.goto(`http://127.0.0.1:${dashboard.port}/#/${SESSION}/timeline?phase=1`);
          await page.locator("aside.phase table tbody tr").nth(1).waitFor();
          expect(faults).toEqual([]);
        }),
      );
    }));
});

describe("a page of another origin (T11)", () => {
  test("on another port, or by a name that leads to this machine, reads nothing and decides nothing", (context) =>
    withProcesses(async (project) => {
      await runPlan(project, [played(1, [["exit", 7]])], { env: { MAESTRO_MAX_RETRIES: "0" } });
      await withDashboard(project, ["--control"], async (dashboard) => {
        const target = `http://127.0.0.1:${dashboard.port}`;
        const other = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<p>hello"));
        await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
        const address = other.address();
        const port = typeof address === "object" && address !== null ? address.port : 0;
        try {
          await visiting(context, {}, async ({ page }) => {
            await page.goto(dashboard.url);
            await rows(page).first().waitFor();
            const evil = await page.context().newPage();
            await evil.goto(`http://127.0.0.1:${port}/`);
            const skip = JSON.stringify({ action: "skip", phase_id: "1", user_decision: true });
            const tried = await evil.evaluate<string[]>(`(async () => {
              const path = "${target}/api/sessions/${SESSION}/decisions";
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
          });
        } finally {
          other.close();
        }
      });
      expect(status(project).phases[0]?.status).toBe("failed");
    }));
});

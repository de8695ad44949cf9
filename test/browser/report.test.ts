// The report in a real browser, from file:// with the network cut off: every view, both themes, 320 px, the keyboard alone, addresses that
// lead nowhere, and hostile texts. All tests share one page, which each opens anew.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from "vitest";
import { closeBrowser, goTo, type Visit, violations, visit } from "../support/browser.ts";
import { hostileRecords, reportAt, sampleRecords } from "../support/page-session.ts";
import { root } from "../support/project.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const scratch = mkdtempSync(join(tmpdir(), "maestro-page-"));
let report = "";
let hostileReport = "";
let shared: Visit | undefined;

beforeAll(() => {
  report = reportAt(scratch, sampleRecords());
  hostileReport = reportAt(scratch, hostileRecords(), "hostile.html");
});
afterAll(async () => {
  await closeBrowser();
  rmSync(scratch, { recursive: true, force: true });
});

/** After so many records of the sample the quota is exhausted, and an attempt is at work. */
const RUNNING = 12;

const wide = { width: 1280, height: 800 };
const narrow = { width: 320, height: 640 };

/** The shared page at a place of the report; `use` must leave no complaint of the page behind. */
async function opened(context: TestContext, place: string, use: (page: Visit["page"]) => Promise<void>): Promise<void> {
  shared ??= await visit(context, { offline: true });
  const { page, faults } = shared;
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "no-preference", media: "screen" });
  await page.setViewportSize(wide);
  await page.goto("about:blank");
  await page.goto(place.startsWith("file:") ? place : `${report}${place}`);
  await page.locator("#page > .stage").waitFor();
  await use(page);
  expect(faults.splice(0)).toEqual([]);
}

/** A key is pressed before the page has drawn what it does, and `page.url()` lags behind both. */
const soon = { timeout: 20_000 };
const addressOf = (page: Visit["page"]) => expect.poll(() => page.evaluate<string>("location.href"), soon);
const countOf = (found: ReturnType<Visit["page"]["locator"]>) => expect.poll(() => found.count(), soon);

const places = [
  "#//needs",
  "#//timeline",
  "#//graph?phase=4",
  "#//whatif",
  "#//history",
  "#//timeline?phase=2",
  "#//timeline?phase=2&tab=diff",
  "#//timeline?phase=2&tab=log",
];

/** Runs in the page: the elements that hostile texts would have made there. */
const whatIsMade = `({
  pwned: globalThis.pwned ?? null,
  elements: document.querySelectorAll("#page img, #page script, #page iframe, #page [onmouseover], #page [onerror]").length,
  links: [...document.querySelectorAll("#page a")].map((link) => link.getAttribute("href") ?? "").filter((href) => !href.startsWith("#")),
  bidi: /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.title + document.querySelector("#page").outerHTML),
})`;

/** Runs in the page: the parts that have to be scrolled sideways, besides those that are made for it. */
const tooWide = `[...document.querySelectorAll("#page, main, aside, .panel-body, .card, .tools, .sessions")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className || one.tagName)`;

/** Runs in the page: whether the labels of the axis cover each other. */
const coveredLabels = `[...document.querySelectorAll(".tick")].filter((one) => one.offsetWidth > 0 && one.textContent !== "")
  .map((one) => one.getBoundingClientRect()).filter((box, at, all) => at > 0 && all[at - 1].right > box.left).length`;

describe("the report", () => {
  test("shows every view without a network, as its accessible structure is recorded", (context) =>
    opened(context, "", async (page) => {
      // History needs a server: dashboard.test.ts has its structure.
      const shown: [name: string, place: string, part: string][] = [
        ["needs", "#//needs", "main"],
        ["timeline", "#//timeline", "main"],
        ["graph", "#//graph", "main"],
        ["whatif", "#//whatif", "main"],
        ["phase", "#//timeline?phase=2", "aside.phase"],
        ["why", "#//timeline?phase=6&seq=20", "aside.phase"],
        ["replay", "#//timeline?seq=20", ".replay"],
      ];
      for (const [name, place, part] of shown) {
        await goTo(page, place);
        await page.locator(part).waitFor();
        await expect(`${await page.locator(part).ariaSnapshot()}\n`).toMatchFileSnapshot(`snapshots/${name}.txt`);
      }
      await goTo(page, "#//timeline");
      expect(await page.title()).toBe("(1) Task API: a small service - task-api");
    }));

  test("of a rehearsal shows every view", async (context) => {
    const file = join(scratch, "rehearsal.html");
    const words = ["rehearse", "examples/task-api-impl-plan.md", "--seconds", "0.5", "--html", file];
    const { status, stderr } = spawnSync(process.execPath, [join(root, "dist/maestro.js"), ...words], {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: scratch },
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    await opened(context, `file://${file}`, async (page) => {
      const shown: [place: string, text: string][] = [
        ["#//needs", "Nothing needs you."],
        ["#//timeline", "Module boundaries"],
        ["#//graph", "completed, architect"],
        ["#//whatif", "The engine's own scheduler"],
        ["#//timeline?phase=5", "Routes and handlers"],
      ];
      for (const [place, text] of shown) {
        await goTo(page, place);
        await page.locator(".stage").getByText(text).first().waitFor({ state: "attached" });
      }
      await page.locator(".head .mark", { hasText: "completed" }).waitFor();
      await goTo(page, "#//timeline?phase=11&seq=12");
      await page.locator("aside .why", { hasText: "Blocked by" }).waitFor();
    });
  });

  test("that is written during a run shows the run at that moment", async (context) => {
    const records = sampleRecords().slice(0, RUNNING);
    const mark = (page: Visit["page"]) => page.locator(".head .mark .word").textContent();
    await opened(context, reportAt(scratch, records, "running.html", true), async (page) => {
      expect(await mark(page)).toBe("in progress");
      expect(await page.locator(".lane-row .bar.running").count()).toBeGreaterThan(0);
      await page.locator("main .now").first().waitFor();
    });
    // Without an engine nothing runs, and the quota was exhausted only until an hour before.
    await opened(context, `${reportAt(scratch, records, "idle.html")}#//needs`, async (page) => {
      expect(await mark(page)).toBe("not running");
      await page.getByText("Nothing needs you.").waitFor();
    });
  });

  test("moves through time: everything on the page is the session of that record", (context) =>
    opened(context, "#//timeline?phase=3", async (page) => {
      const panel = page.locator("aside.phase");
      await panel.getByText("completed").first().waitFor();
      const slider = page.getByRole("slider", { name: "Moment of the session" });
      await slider.fill("6");
      await panel.getByText("Attempt 1 of api-designer").or(panel.getByText("It can start")).first().waitFor();
      expect(await page.locator(".past").textContent()).toBe("replay");
      await addressOf(page).toContain("seq=6");
      // The decisions that were open at that moment, not now.
      await goTo(page, "#//needs?seq=6");
      await page.getByText("Nothing needed your decision at this moment.").waitFor();
      expect(await page.title()).toMatch(/^\(1\) /);
      // Both ends: the first record, and the present.
      await slider.fill("1");
      await goTo(page, "#//timeline?seq=1");
      await countOf(page.locator(".lane-row .bar")).toBe(0);
      await page.keyboard.press("[");
      await addressOf(page).toContain("seq=1");
      await slider.fill((await slider.getAttribute("max")) ?? "");
      await addressOf(page).not.toContain("seq=");
      await countOf(page.locator(".past")).toBe(0);
      await page.keyboard.press("]");
      await addressOf(page).not.toContain("seq=");
      // A link to a moment opens at that moment.
      await page.goto("about:blank");
      await page.goto(`${report}#//timeline?phase=6&seq=20`);
      expect(await page.locator("aside .why").textContent()).toContain("Blocked by 4 (pending), 5 (pending)");
    }));

  test("plays to the end and stops there", (context) =>
    opened(context, "#//timeline?seq=30", async (page) => {
      await page.getByLabel("Speed").selectOption("50");
      await page.getByRole("button", { name: "Play" }).click();
      await page.getByRole("button", { name: "Play" }).waitFor();
      await addressOf(page).not.toContain("seq=");
    }));

  test("says what other slots would have meant", (context) =>
    opened(context, "#//whatif", async (page) => {
      const rows = page.locator(".whatif tbody tr");
      await rows.first().waitFor();
      expect(await rows.nth(1).locator("td").first().textContent()).toBe("5 min 7 s");
      await page.getByLabel("Without the retry").check();
      expect(await rows.nth(1).locator("td").first().textContent()).toBe("4 min 53 s");
    }));

  test("says of an address that leads nowhere what does not exist", (context) =>
    opened(context, "#//timeline?phase=99&tab=log", async (page) => {
      const stage = page.locator(".stage");
      const lost: [string, string][] = [
        ["#//timeline?phase=99&tab=log", "The session has no phase 99 at this moment."],
        ["#//timeline?phase=%3Cimg%20onerror%3D1%3E", "The session has no phase <img onerror=1> at this moment."],
        ["#//timeline?phase=2&attempt=9&tab=diff", "Phase 2 has no attempt 9 at this moment."],
        ["#//timeline?phase=2&attempt=-1&tab=nothing&line=x", "The schema has tasks and tags."],
        ["#/%E0%A4%A/unknown?seq=999999", "Blocked by 4 (failed)."],
      ];
      for (const [place, text] of lost) {
        await goTo(page, place);
        await stage.getByText(text).first().waitFor();
      }
    }));

  test("prints all phases, one after the other, and is the page again afterwards", (context) =>
    opened(context, "#//timeline?phase=2", async (page) => {
      await page.emulateMedia({ media: "print" });
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      await page.locator(".printed-phase").nth(6).waitFor();
      await countOf(page.locator(".printed-phase")).toBe(7);
      await countOf(page.locator(".print .lane-row")).toBe(7);
      await countOf(page.locator("button, .replay")).toBe(0);
      await page.evaluate("dispatchEvent(new Event('afterprint'))");
      await page.locator("aside.phase").waitFor();
      expect((await page.pdf()).length).toBeGreaterThan(10_000);
    }));
});

describe("the page", () => {
  test("has no fault that axe-core knows, in either theme, in any view, on a phone too", (context) =>
    opened(context, "", async (page) => {
      for (const place of places) {
        await goTo(page, place);
        await page.locator("#main").waitFor({ state: "attached" });
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await violations(page), `${place} ${colorScheme}`).toEqual([]);
        }
        await page.setViewportSize(narrow);
        await page.locator("main:visible").waitFor();
        expect(await violations(page), `${place} narrow`).toEqual([]);
        await page.setViewportSize(wide);
      }
    }));

  test("fits into 320 pixels, without moving for those who want no motion", (context) =>
    opened(context, "", async (page) => {
      await page.setViewportSize(narrow);
      await page.emulateMedia({ reducedMotion: "reduce" });
      for (const place of places) {
        await goTo(page, place);
        await page.locator("#main").waitFor({ state: "attached" });
        expect(await page.evaluate(tooWide), place).toEqual([]);
        expect(await page.evaluate(coveredLabels), place).toBe(0);
      }
      const moving = await page.evaluate<number>(
        "document.getAnimations().filter(({ playState }) => playState === 'running').length",
      );
      expect(moving).toBe(0);
      for (const dialog of ["Commands", "Keys"]) {
        await page.getByRole("button", { name: dialog }).click();
        const box = await page.getByRole("dialog", { name: dialog }).boundingBox();
        expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 999) <= 320, dialog).toBe(true);
        await page.keyboard.press("Escape");
      }
      // The phase is alone on the screen, and the way to the content leads there.
      await page.getByRole("button", { name: "Skip to the content" }).press("Enter");
      expect(await page.evaluate("document.activeElement.className")).toBe("phase");
      await page.getByRole("button", { name: "Close the phase" }).click();
      await countOf(page.locator(".lane-row")).toBe(7);
    }));

  test("is used with the keyboard alone", (context) =>
    opened(context, "", async (page) => {
      // Until it is drawn closed, a dialog takes the keys.
      const closed = (name: string) => page.getByRole("dialog", { name }).waitFor({ state: "detached" });
      const chosen = () => expect.poll(() => page.locator("aside.phase h2").textContent(), soon);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.activeElement.id")).toBe("main");
      await page.keyboard.press("j");
      await chosen().toBe("1 Module boundaries");
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      await chosen().toBe("2 Schema and migrations");
      await page.keyboard.press("Enter");
      await addressOf(page).toContain("tab=log");
      await page.keyboard.press("Escape");
      await countOf(page.locator("aside.phase")).toBe(0);
      await page.keyboard.press("g");
      await page.keyboard.press("w");
      await page.locator(".whatif").waitFor();
      // A view without a field searches with the commands.
      await page.keyboard.press("/");
      await page.getByRole("dialog", { name: "Commands" }).waitFor();
      await page.keyboard.press("Escape");
      await closed("Commands");
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      await page.locator("#filter").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("search");
      await countOf(page.locator(".lane-row")).toBe(1);
      await page.locator("#filter").fill("");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await closed("Keys");
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Commands" }).waitFor();
      await page.keyboard.type("routes hand");
      await page.keyboard.press("Enter");
      await closed("Commands");
      await chosen().toBe("4 Routes and handlers");
      const before = await page.evaluate<string>("location.href");
      await page.keyboard.press("[");
      await addressOf(page).not.toBe(before);
      await page.keyboard.press("l");
      await addressOf(page).toBe(before);
      // Every part can be reached with Tab, and shows that it has the focus.
      await page.keyboard.press("Tab");
      const ring = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle");
      expect(ring).toBe("solid");
      // The way back leads through the places.
      await page.goBack();
      await page.locator("aside.phase").waitFor({ state: "detached" });
    }));

  test("shows hostile texts as text, wherever an agent can put them", async (context) => {
    const asked: string[] = [];
    await opened(context, hostileReport, async (page) => {
      page.on("request", (request) => asked.push(request.url()));
      const more = ["#//needs?phase=1", "#//timeline?phase=1", "#//timeline?phase=1&tab=diff", "#//graph?phase=2"];
      for (const place of [...places, ...more]) {
        await goTo(page, place);
        await page.locator("#main").waitFor({ state: "attached" });
        expect(await page.evaluate(whatIsMade), place).toEqual({ pwned: null, elements: 0, links: [], bidi: false });
      }
      await page.setViewportSize(narrow);
      for (const place of ["#//needs", "#//history", "#//timeline?phase=1", "#//timeline?phase=1&tab=diff"]) {
        await goTo(page, place);
        expect(await page.evaluate(tooWide), place).toEqual([]);
      }
      await goTo(page, "#//needs");
      await countOf(page.locator(".need")).toBe(2);
      await page.keyboard.press(":");
      await page.keyboard.type("onerror");
      await countOf(page.getByRole("option")).toBeGreaterThan(2);
      expect(await page.evaluate(whatIsMade)).toMatchObject({ pwned: null, elements: 0, bidi: false });
      await page.keyboard.press("Escape");
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      await page.locator(".printed-phase").first().waitFor();
      expect(await page.evaluate(whatIsMade)).toEqual({ pwned: null, elements: 0, links: [], bidi: false });
    });
    expect(asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
  });
});

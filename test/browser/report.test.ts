// The report in a real browser, from file:// with the network cut off: every view, both themes, 320 px, the keyboard alone, and hostile
// texts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { closeBrowser, goTo, violations, visiting } from "../support/browser.ts";
import { hostileRecords, reportAt, sampleRecords } from "../support/page-session.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const scratch = mkdtempSync(join(tmpdir(), "maestro-page-"));
let report = "";
let hostileReport = "";

beforeAll(() => {
  report = reportAt(scratch, sampleRecords());
  hostileReport = reportAt(scratch, hostileRecords(), "hostile.html");
});
afterAll(async () => {
  await closeBrowser();
  rmSync(scratch, { recursive: true, force: true });
});

const places = [
  "#//needs",
  "#//timeline",
  "#//graph?phase=4",
  "#//whatif",
  "#//timeline?phase=2",
  "#//timeline?phase=2&tab=diff",
];
const offline = { offline: true };

/** Runs in the page: what hostile texts would have made there. */
const whatIsMade = `({
  pwned: globalThis.pwned ?? null,
  elements: document.querySelectorAll("#page img, #page script, #page iframe, #page [onmouseover], #page [onerror]").length,
  links: [...document.querySelectorAll("#page a")].map((link) => link.getAttribute("href") ?? "").filter((href) => !href.startsWith("#")),
  bidi: /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.querySelector("#page").textContent),
})`;

describe("the report", () => {
  test("shows every view without a network, as its accessible structure is recorded", (context) =>
    visiting(context, offline, async ({ page, faults }) => {
      const names = ["needs", "timeline", "graph", "whatif", "phase"];
      const addresses = ["#//needs", "#//timeline", "#//graph", "#//whatif", "#//timeline?phase=2"];
      await page.goto(report);
      for (const [at, name] of names.entries()) {
        await goTo(page, addresses[at] ?? "");
        const part = page.locator(name === "phase" ? "aside.phase" : "main");
        await part.waitFor();
        await expect(`${await part.ariaSnapshot()}\n`).toMatchFileSnapshot(`snapshots/${name}.txt`);
      }
      expect(await page.title()).toBe("(1) Task API: a small service - Maestro");
      expect(faults).toEqual([]);
    }));

  test("moves through time: everything on the page is the session of that record", (context) =>
    visiting(context, offline, async ({ page, faults }) => {
      await page.goto(`${report}#//timeline?phase=3`);
      const panel = page.locator("aside.phase");
      await panel.getByText("completed").first().waitFor();
      const slider = page.getByRole("slider", { name: "Moment of the session" });
      await slider.fill("6");
      await panel
        .getByText("Blocked by 1 (completed)")
        .or(panel.getByText(/Blocked by|It can start|running/))
        .first()
        .waitFor();
      expect(await page.locator(".past").textContent()).toBe("replay");
      expect(page.url()).toContain("seq=6");
      await page.getByRole("button", { name: "End" }).click();
      await panel.getByText("completed").first().waitFor();
      expect(page.url()).not.toContain("seq=");
      // A link to a moment opens at that moment.
      await page.goto("about:blank");
      await page.goto(`${report}#//timeline?phase=6&seq=20`);
      expect(await page.locator("aside .why").textContent()).toContain("Blocked by 4 (pending), 5 (pending)");
      expect(faults).toEqual([]);
    }));

  test("says what other slots would have meant", (context) =>
    visiting(context, offline, async ({ page }) => {
      await page.goto(`${report}#//whatif`);
      const rows = page.locator(".whatif tbody tr");
      await rows.first().waitFor();
      expect(await rows.nth(1).locator("td").first().textContent()).toBe("5 min 7 s");
      await page.getByLabel("Without the retry").check();
      expect(await rows.nth(1).locator("td").first().textContent()).toBe("4 min 53 s");
    }));
});

describe("the page", () => {
  test("has no fault that axe-core knows, in either theme, in any view", (context) =>
    visiting(context, { ...offline, viewport: { width: 1280, height: 800 } }, async ({ page }) => {
      await page.goto(report);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        for (const place of places) {
          await goTo(page, place);
          await page.locator("main").waitFor({ state: "attached" });
          expect(await violations(page), `${place} ${colorScheme}`).toEqual([]);
        }
      }
    }));

  test("fits into 320 pixels, without moving for those who want no motion", (context) =>
    visiting(
      context,
      { ...offline, viewport: { width: 320, height: 640 }, reducedMotion: "reduce" },
      async ({ page }) => {
        await page.goto(report);
        for (const place of places) {
          await goTo(page, place);
          await page.locator("main").waitFor({ state: "attached" });
          const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
          expect(wide, place).toBeLessThanOrEqual(320);
        }
        const moving = await page.evaluate<number>(
          "document.getAnimations().filter(({ playState }) => playState === 'running').length",
        );
        expect(moving).toBe(0);
        await page.getByRole("button", { name: "Close the phase" }).click();
        expect(await page.locator(".lane-row").count()).toBe(7);
      },
    ));

  test("is used with the keyboard alone", (context) =>
    visiting(context, offline, async ({ page, faults }) => {
      await page.goto(report);
      await page.locator(".lane-row").first().waitFor();
      const chosen = () => page.locator("aside.phase h2").textContent();
      await page.keyboard.press("j");
      expect(await chosen()).toBe("1 Module boundaries");
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      expect(await chosen()).toBe("2 Schema and migrations");
      await page.keyboard.press("Enter");
      expect(page.url()).toContain("tab=log");
      await page.keyboard.press("Escape");
      expect(await page.locator("aside.phase").count()).toBe(0);
      await page.keyboard.press("g");
      await page.keyboard.press("w");
      await page.locator(".whatif").waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      await page.keyboard.press("/");
      await page.keyboard.type("search");
      expect(await page.locator(".lane-row").count()).toBe(1);
      await page.locator("#filter").fill("");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("routes hand");
      await page.keyboard.press("Enter");
      expect(await chosen()).toBe("4 Routes and handlers");
      const before = page.url();
      await page.keyboard.press("[");
      expect(page.url()).not.toBe(before);
      await page.keyboard.press("l");
      expect(page.url()).toBe(before);
      // Every part can be reached with Tab, and shows that it has the focus.
      await page.keyboard.press("Tab");
      const ring = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle");
      expect(ring).toBe("solid");
      expect(faults).toEqual([]);
    }));

  test("shows hostile texts as text, wherever an agent can put them", (context) =>
    visiting(context, offline, async ({ page, faults }) => {
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      await page.goto(hostileReport);
      for (const place of [
        ...places,
        "#//needs?phase=1",
        "#//timeline?phase=1",
        "#//timeline?phase=1&tab=diff",
        "#//history",
      ]) {
        await goTo(page, place);
        await page.locator("main").waitFor({ state: "attached" });
        const made = await page.evaluate(whatIsMade);
        expect(made, place).toEqual({ pwned: null, elements: 0, links: [], bidi: false });
      }
      expect(asked.filter((url) => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
      expect(faults).toEqual([]);
    }));

  test("prints all phases, one after the other", (context) =>
    visiting(context, offline, async ({ page }) => {
      await page.goto(report);
      await page.locator(".lane-row").first().waitFor();
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      await page.locator(".printed-phase").first().waitFor();
      expect(await page.locator(".printed-phase").count()).toBe(7);
      expect(await page.locator(".print .lane-row").count()).toBe(7);
    }));
});

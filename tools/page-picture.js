// Makes the pictures of the dashboard, docs/pictures/dashboard-*.png, from a real rehearsal in Chromium: node tools/page-picture.js
// The rehearsal's report is opened at a moment in which agents run, so that the picture shows a run and not its end.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("..", import.meta.url));
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** A record after the failed attempt, with several agents at work. */
const MOMENT = 34;
const pictures = [
  { name: "dashboard-timeline", place: `#//timeline?seq=${MOMENT}`, height: 586 },
  { name: "dashboard-phase", place: "#//timeline?phase=4", height: 640 },
  { name: "dashboard-graph", place: `#//graph?seq=${MOMENT}`, height: 520 },
];

const scratch = mkdtempSync(join(tmpdir(), "maestro-picture-"));
const report = join(scratch, "report.html");
try {
  const words = ["dist/maestro.js", "rehearse", "examples/task-api-impl-plan.md", "--seconds", "20", "--html", report];
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: scratch },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The rehearsal exited with ${status}: ${stderr}`);
  if (executablePath === undefined) throw new Error("Chromium is not installed (Debian: apt-get install chromium)");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  for (const { name, place, height } of pictures) {
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      const page = await browser.newPage({
        colorScheme,
        viewport: { width: 1120, height },
        timezoneId: "UTC",
        reducedMotion: "reduce",
      });
      await page.goto(`${pathToFileURL(report).href}${place}`);
      await page.locator("main > *").first().waitFor();
      const path = `docs/pictures/${name}-${colorScheme}.png`;
      await page.screenshot({ path: join(root, path) });
      console.log(path);
      await page.close();
    }
  }
  await browser.close();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

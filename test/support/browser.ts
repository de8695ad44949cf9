// A real browser for the tests of the page: Debian's Chromium, installed on a clean machine, driven by playwright-core.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { TestContext } from "vitest";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const INSTALL_MS = 300_000;

let browser: Promise<Browser> | undefined;
let missing: string | undefined;

/** One browser for all tests of a file. Without one the test is skipped, with the reason. */
async function testBrowser(context: Pick<TestContext, "skip">): Promise<Browser> {
  const executablePath = places.find((path) => existsSync(path)) ?? install();
  if (executablePath === undefined) return context.skip(missing);
  browser ??= chromium.launch({
    executablePath,
    // As root it does not start with its sandbox; the name is for the test of DNS rebinding.
    args: ["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1", "--disable-gpu"],
  });
  return browser;
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/** Only root with apt installs: that is a container or a virtual machine made for this, never a user's machine. */
function install(): string | undefined {
  if (missing !== undefined) return undefined;
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.warn("Installing Chromium for the tests of the page.");
    const options = ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=15"];
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...options, "chromium"], {
      stdio: "ignore",
      timeout: INSTALL_MS,
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  const found = places.find((path) => existsSync(path));
  if (found !== undefined) return found;
  missing = "no Chromium on this machine, and it could not be installed (Debian: apt-get install chromium)";
  console.warn(`SKIPPED: the tests of the page, because there is ${missing}.`);
  return undefined;
}

export interface Visit {
  page: Page;
  /** What the page complained about: exceptions, violations of its policy, and questions that no test expects. */
  faults: string[];
  /** Questions of the page that are answered with yes. */
  confirmed: string[];
}

/** A new page in a profile of its own, which ends with the browser. The time zone is fixed, because pages show local times. */
export async function visit(context: Pick<TestContext, "skip">, options: BrowserContextOptions): Promise<Visit> {
  const profile = await (await testBrowser(context)).newContext({ timezoneId: "UTC", locale: "en-GB", ...options });
  const page = await profile.newPage();
  const confirmed: string[] = [];
  return { page, confirmed, faults: watch(page, confirmed) };
}

/** Runs `use` with a new page, and closes it. */
export async function visiting<T>(
  context: Pick<TestContext, "skip">,
  options: BrowserContextOptions,
  use: (visit: Visit) => Promise<T>,
): Promise<T> {
  const opened = await visit(context, options);
  try {
    return await use(opened);
  } finally {
    await opened.page.context().close();
  }
}

export function watch(page: Page, confirmed: readonly string[] = []): string[] {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/net::ERR|status of 4\d\d/.test(message.text())) faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    if (confirmed.includes(dialog.message())) return void dialog.accept();
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return faults;
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with the page as it is now, by all of its rules. */
export async function violations(page: Page): Promise<string[]> {
  if (await page.evaluate(`typeof axe === "undefined"`)) await page.evaluate(axe);
  return page.evaluate<
    string[]
  >(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary = "" }) => id + ": " + html.slice(0, 160) + " " + failureSummary.slice(0, 200))))`);
}

/** Changes the fragment of the address, as a link does. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

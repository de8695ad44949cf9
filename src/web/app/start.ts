// Starts the page: from the data of a report, or from the server after the login.

import { effect } from "@preact/signals";
import { readRoute } from "../model/route.ts";
import type { ReportData } from "../model/wire.ts";
import { askOtherTabs, getOverview, login, takeCode, token } from "./api.ts";
import {
  addRecords,
  clearRecords,
  clock,
  connection,
  idlePulse,
  isPrinting,
  layout,
  overview,
  pulse,
  route,
  sessionId,
} from "./state.ts";
import { Follower } from "./stream.ts";

/** How often the list of sessions is read again. */
const SESSIONS_MS = 5_000;
const CLOCK_MS = 1_000;
/** Without an engine only the age of what waits for the user changes. */
const IDLE_CLOCK_MS = 30_000;

export async function start(): Promise<void> {
  addEventListener("hashchange", () => void changed());
  addEventListener("beforeprint", () => {
    isPrinting.value = true;
  });
  addEventListener("afterprint", () => {
    isPrinting.value = false;
  });
  const data = document.getElementById("journal")?.textContent ?? "";
  if (data !== "") return startReport(data);
  setInterval(() => {
    const now = Date.now();
    if (pulse.value.driven || now - clock.value >= IDLE_CLOCK_MS) clock.value = now;
  }, CLOCK_MS);
  await logIn();
  follow();
  setInterval(() => void readSessions(), SESSIONS_MS);
}

async function startReport(data: string): Promise<void> {
  const bytes = Uint8Array.from(atob(data.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const report = JSON.parse(await new Response(stream).text()) as ReportData;
  overview.value = report.overview;
  layout.value = report.layout;
  connection.value = "report";
  pulse.value = { ...idlePulse, driven: report.driven };
  addRecords(report.records);
  clock.value = Date.parse(report.written);
}

/** The user may paste a new address into the tab, after the server was restarted. */
async function changed(): Promise<void> {
  if (/^#code=/.test(location.hash)) await logIn();
  else if (location.hash.startsWith("#/") || location.hash === "") route.value = readRoute(location.hash);
}

async function logIn(): Promise<void> {
  const code = takeCode();
  const isIn = code !== null ? await login(code).catch(() => false) : token.value !== null || (await askOtherTabs());
  if (!isIn && token.value === null) connection.value = "refused";
  else await readSessions();
}

/** Logs in with a code that the user typed, or with the address that contains it. */
export async function enter(text: string): Promise<boolean> {
  const code = text.trim().replace(/^.*#code=/, "");
  if (!(await login(code).catch(() => false))) return false;
  await readSessions();
  return true;
}

/** Reads the sessions that the last answer left out. */
let rest: ReturnType<typeof setTimeout> | undefined;

async function readSessions(): Promise<void> {
  if (token.value === null) return;
  const answer = await getOverview().catch(() => null);
  if (answer === 401) connection.value = "refused";
  if (typeof answer !== "object" || answer === null) return;
  overview.value = answer;
  clearTimeout(rest);
  if (answer.unread > 0) rest = setTimeout(() => void readSessions(), 0);
  // The stream brings the rest as soon as it is open.
  if (connection.value === "refused" || answer.sessions.length === 0) connection.value = "live";
}

/** Follows the session of the address; another one starts anew. */
function follow(): void {
  let follower: Follower | undefined;
  let known: string | null = null;
  effect(() => {
    const id = sessionId.value;
    if (id === known) return;
    known = id;
    follower?.close();
    clearRecords();
    follower = id === null ? undefined : new Follower(id);
  });
}

// Draws attention when something needs the user: the number in the title and in the icon, and, if the user switches them on,
// notifications: needs you, failed and finished only.

import { effect, signal } from "@preact/signals";
import { visible } from "../../views/text/visible.ts";
import { connection, frame, overview } from "./state.ts";

const KEY = "maestro-notify";

export const isNotifying = signal(isWanted() && mayNotify());

/** A report that is opened from a file may have no storage. */
function isWanted(): boolean {
  try {
    return localStorage.getItem(KEY) === "yes";
  } catch {
    return false;
  }
}

function mayNotify(): boolean {
  return "Notification" in globalThis && Notification.permission === "granted";
}

/** Asks the browser for permission when they are switched on. */
export async function switchNotifications(): Promise<void> {
  if (isNotifying.value) {
    localStorage.removeItem(KEY);
    isNotifying.value = false;
    return;
  }
  if (!("Notification" in globalThis)) return;
  const answer = await Notification.requestPermission();
  isNotifying.value = answer === "granted";
  if (isNotifying.value) localStorage.setItem(KEY, "yes");
}

/** A disc; with a number on a warm ground when decisions wait. */
function icon(count: number): string {
  const ground = count > 0 ? "#c2410c" : "#2563eb";
  const text = count === 0 ? "M" : count > 9 ? "9+" : String(count);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="${ground}"/><text x="16" y="22" font-family="sans-serif" font-size="17" font-weight="700" text-anchor="middle" fill="#fff">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Every open tab sends the notification; the browser shows one of each `tag`. */
function notify(title: string, body: string, tag: string): void {
  new Notification(title, { body: visible(body), tag });
}

export function watchAttention(): void {
  let known = { session: "", needs: new Set<string>(), status: "" };
  effect(() => {
    const now = frame.value;
    const { project } = overview.value ?? { project: "Maestro" };
    if (now === null) {
      document.title = visible(project);
      return;
    }
    const { session, needs } = now;
    // The number stays that of the present in a replay.
    const count = now.isLive ? needs.length : known.needs.size;
    document.title = `${count > 0 ? `(${count}) ` : ""}${visible(`${session.title} - ${project}`)}`;
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (link !== null && link.dataset.count !== String(count)) {
      link.dataset.count = String(count);
      link.href = icon(count);
    }
    if (!now.isLive) return;
    const fresh = needs.filter(({ key }) => !known.needs.has(key));
    const isEnd = session.status !== known.status && /^(?:completed|failed)$/.test(session.status);
    if (known.session === session.session_id && connection.value === "live" && isNotifying.peek()) {
      for (const { title, key } of fresh.slice(0, 3)) notify("Maestro needs you", title, key);
      if (isEnd) notify(`Session ${session.status}`, session.title, session.session_id);
    }
    known = { session: session.session_id, needs: new Set(needs.map(({ key }) => key)), status: session.status };
  });
}

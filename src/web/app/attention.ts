// Draws attention when something needs the user: the number in the title and in the icon, and, if the user switches them on,
// notifications: needs you, failed and finished only.

import { effect, signal } from "@preact/signals";
import { visible } from "../../views/text/visible.ts";
import { connection, frame } from "./state.ts";

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

export function watchAttention(): void {
  let known = { needs: new Set<string>(), status: "", isFirst: true };
  effect(() => {
    const now = frame.value;
    if (now === null) return;
    const { session, needs } = now;
    const count = needs.length;
    document.title = `${count > 0 ? `(${count}) ` : ""}${visible(session.title)} - Maestro`;
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (link !== null && link.dataset.count !== String(count)) {
      link.dataset.count = String(count);
      link.href = icon(count);
    }
    if (!now.isLive || connection.value !== "live") return;
    const keys = new Set(needs.map(({ key }) => key));
    const fresh = needs.filter(({ key }) => !known.needs.has(key));
    if (!known.isFirst && isNotifying.peek()) {
      for (const { title } of fresh.slice(0, 3)) new Notification("Maestro needs you", { body: visible(title) });
      const isEnd = session.status !== known.status && /^(?:completed|failed)$/.test(session.status);
      if (isEnd) new Notification(`Session ${session.status}`, { body: visible(session.title) });
    }
    known = { needs: keys, status: session.status, isFirst: false };
  });
}

// Talks to the server: the login with the one-time code, the token, requests with it. The token is in the tab's own storage, and other tabs
// of this page may ask for it; it is never in an address.

import { signal } from "@preact/signals";
import type { Overview } from "../model/wire.ts";

const KEY = "maestro-token";
const channel = new BroadcastChannel("maestro");
const ASK_MS = 400;

export const token = signal<string | null>(stored());

/** A report that is opened from a file may have no storage. */
function stored(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

type Message = { kind: "who" } | { kind: "token"; token: string };

channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if (data.kind === "who" && token.value !== null) channel.postMessage({ kind: "token", token: token.value });
});

/** Takes the code out of the address: it stays neither on the screen nor in the history. */
export function takeCode(): string | null {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, "", `${location.pathname}#/`);
  return code;
}

export async function login(code: string): Promise<boolean> {
  const answer = await fetch("/api/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  if (!answer.ok) return false;
  const { token: given } = (await answer.json()) as { token: string };
  keep(given);
  return true;
}

/** Another tab of the same page may have logged in. */
export function askOtherTabs(): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (isFound: boolean) => {
      channel.removeEventListener("message", listen);
      clearTimeout(timer);
      resolve(isFound);
    };
    const listen = ({ data }: MessageEvent<Message>) => {
      if (data.kind !== "token") return;
      keep(data.token);
      finish(true);
    };
    const timer = setTimeout(() => finish(false), ASK_MS);
    channel.addEventListener("message", listen);
    channel.postMessage({ kind: "who" });
  });
}

export function forget(): void {
  sessionStorage.removeItem(KEY);
  token.value = null;
}

function keep(given: string): void {
  sessionStorage.setItem(KEY, given);
  token.value = given;
}

export function get(path: string, signal?: AbortSignal): Promise<Response> {
  return fetch(path, {
    headers: { authorization: `Bearer ${token.value}` },
    ...(signal === undefined ? {} : { signal }),
  });
}

export async function getOverview(): Promise<Overview | number> {
  const answer = await get("/api/sessions");
  return answer.ok ? ((await answer.json()) as Overview) : answer.status;
}

export interface DecisionAnswer {
  isDone: boolean;
  text: string;
}

/** Arguments of maestro_decide. */
export async function decide(session: string, input: Record<string, unknown>): Promise<DecisionAnswer> {
  const answer = await fetch(`/api/sessions/${encodeURIComponent(session)}/decisions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token.value}` },
    body: JSON.stringify({ ...input, user_decision: true }),
  });
  const body = (await answer.json().catch(() => ({}))) as { message?: string; next?: string; approved?: boolean };
  const text = body.message ?? body.next ?? (answer.ok ? "Recorded." : `Refused (${answer.status}).`);
  return { isDone: answer.ok && body.approved !== false, text };
}

export function attemptPath(session: string, phase: string, attempt: number, what: "log" | "prompt" | "diff"): string {
  const parts = [session, "attempts", phase, String(attempt), what].map(encodeURIComponent);
  return `/api/sessions/${parts.join("/")}`;
}

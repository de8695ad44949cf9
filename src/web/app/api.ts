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

/** `isNew`: from a login just now, so that it replaces one that a restarted server does not know. */
type Message = { kind: "who" } | { kind: "token"; token: string; isNew: boolean };

channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
  if (data.kind === "who") share(false);
  else if (data.isNew || token.value === null) keep(data.token);
});

function share(isNew: boolean): void {
  if (token.value !== null) channel.postMessage({ kind: "token", token: token.value, isNew } satisfies Message);
}

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
  share(true);
  return true;
}

/** Another tab of the same page may have logged in. */
export function askOtherTabs(): Promise<boolean> {
  channel.postMessage({ kind: "who" } satisfies Message);
  return Promise.race([
    loggedIn().then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), ASK_MS)),
  ]);
}

/** Waits until this tab has a token. */
export function loggedIn(): Promise<void> {
  return new Promise((resolve) => {
    const stop = token.subscribe((value) => {
      if (value === null) return;
      // Called at once when the token is there already: then `stop` does not exist yet.
      queueMicrotask(() => stop());
      resolve();
    });
  });
}

function keep(given: string | null): void {
  if (given === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, given);
  token.value = given;
}

/** Forgets a token that the server does not know: it was restarted. */
export async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const used = token.value;
  const answer = await fetch(path, {
    headers: { authorization: `Bearer ${used}` },
    ...(signal === undefined ? {} : { signal }),
  });
  if (answer.status === 401 && token.value === used) keep(null);
  return answer;
}

export type Answered = { text: string; headers: Headers } | { error: string; isLost: boolean };

/** A text of the server, or why it cannot be read. `isLost`: asking again later may help. */
export async function getText(path: string, signal?: AbortSignal): Promise<Answered> {
  try {
    const answer = await get(path, signal);
    const text = await answer.text();
    if (answer.ok) return { text, headers: answer.headers };
    return { error: (JSON.parse(text) as { message: string }).message, isLost: answer.status === 401 };
  } catch {
    return { error: "The dashboard does not answer.", isLost: true };
  }
}

export async function getOverview(): Promise<Overview | number> {
  const answer = await get("/api/sessions");
  return answer.ok ? ((await answer.json()) as Overview) : answer.status;
}

export interface Decided {
  /** Why it was refused; null: it was recorded. */
  refusal: string | null;
  isDriven: boolean;
}

/** Arguments of maestro_decide. */
export async function decide(session: string, input: Record<string, unknown>): Promise<Decided> {
  const answer = await fetch(`/api/sessions/${encodeURIComponent(session)}/decisions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token.value}` },
    body: JSON.stringify({ ...input, user_decision: true }),
  });
  const body = (await answer.json().catch(() => ({}))) as {
    message?: string;
    approved?: boolean;
    engine_running?: boolean;
  };
  const isDone = answer.ok && body.approved !== false;
  return {
    refusal: isDone ? null : (body.message ?? `Refused (${answer.status}).`),
    isDriven: body.engine_running === true,
  };
}

export function attemptPath(session: string, phase: string, attempt: number, what: "log" | "prompt" | "diff"): string {
  const parts = [session, "attempts", phase, String(attempt), what].map(encodeURIComponent);
  return `/api/sessions/${parts.join("/")}`;
}

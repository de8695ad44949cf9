// Which requests the server answers at all, before it looks at what they ask for. Everything that is not named here is denied. Pure.

import { type LogPart, logParts } from "../web/model/route.ts";

export interface AskedRequest {
  method: string;
  /** Path and query, as sent. */
  target: string;
  /** Undefined when it is missing or repeated. */
  host: string | undefined;
  origin: string | undefined;
  fetchSite: string | undefined;
  contentType: string | undefined;
}

export interface Denied {
  status: number;
  message: string;
}

export type AskedRoute =
  | { kind: "page" }
  | { kind: "login" }
  | { kind: "sessions" }
  | { kind: "records"; session: string; after: number }
  | { kind: "log"; session: string; phase: string; attempt: number; part: LogPart; from: number }
  | { kind: "prompt" | "diff"; session: string; phase: string; attempt: number }
  | { kind: "decisions"; session: string };

const MAX_TARGET = 2_000;

/** What the request asks for; or why it is denied, regardless of the token. The token is checked afterwards. */
export function routeOf(asked: AskedRequest, port: number): AskedRoute | Denied {
  const foreign = refuseForeign(asked, port);
  if (foreign !== undefined) return foreign;
  if (asked.target.length > MAX_TARGET) return { status: 414, message: "The address is too long." };
  const [path = "", query = ""] = asked.target.split("?", 2);
  const route = read(path, new URLSearchParams(query));
  if (route === undefined) return { status: 404, message: "This address does not exist." };
  const method = route.kind === "login" || route.kind === "decisions" ? "POST" : "GET";
  if (asked.method !== method) return { status: 405, message: `This address accepts only ${method}.` };
  if (method === "POST" && !/^application\/json(?:;\s*charset=utf-8)?$/i.test(asked.contentType ?? ""))
    return { status: 415, message: "The body must be application/json." };
  return route;
}

/**
 * A page of another origin that makes its name lead to 127.0.0.1 still sends its own name as Host, and for a POST an Origin that equals it: so
 * both are compared with what the server is called, never with each other.
 */
function refuseForeign({ host, origin, fetchSite, target }: AskedRequest, port: number): Denied | undefined {
  const names = [`127.0.0.1:${port}`, `localhost:${port}`];
  const denied = (what: string): Denied => ({ status: 403, message: `${what} is not this dashboard.` });
  if (host === undefined || !names.includes(host)) return denied("The host of the request");
  if (origin !== undefined && origin !== `http://${host}`) return denied("The origin of the request");
  // Another port of the same machine is `same-site`; agents start servers there.
  const isApi = target === "/api" || target.startsWith("/api/");
  if (isApi && fetchSite !== undefined && fetchSite !== "same-origin") return denied("The sender of the request");
  return undefined;
}

function read(path: string, query: URLSearchParams): AskedRoute | undefined {
  if (path === "/") return { kind: "page" };
  if (path === "/api/login") return { kind: "login" };
  if (path === "/api/sessions") return { kind: "sessions" };
  const [, api, sessions, session, what, ...rest] = path.split("/").map(decoded);
  if (api !== "api" || sessions !== "sessions" || !session) return undefined;
  if (what === "records" && rest.length === 0) return { kind: "records", session, after: count(query.get("after")) };
  if (what === "decisions" && rest.length === 0) return { kind: "decisions", session };
  const [phase, number, file] = rest;
  if (what !== "attempts" || rest.length !== 3 || !phase || !/^[1-9]\d{0,6}$/.test(number ?? "")) return undefined;
  const attempt = Number(number);
  if (file === "prompt" || file === "diff") return { kind: file, session, phase, attempt };
  if (file !== "log") return undefined;
  const part = logParts.find((one) => one === (query.get("part") ?? "output"));
  if (part === undefined) return undefined;
  return { kind: "log", session, phase, attempt, part, from: count(query.get("from")) };
}

function count(text: string | null): number {
  return /^\d{1,15}$/.test(text ?? "") ? Number(text) : 0;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A part that cannot be decoded names nothing.
    return "";
  }
}

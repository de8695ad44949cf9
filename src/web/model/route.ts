// The address of a place on the page, in the fragment: #/<session>/<view>?phase=3&attempt=2&tab=log&part=errors&line=14&seq=120. Pure.

export const pageViews = ["needs", "timeline", "graph", "history", "whatif"] as const;
export type ViewName = (typeof pageViews)[number];
export const phaseTabs = ["overview", "log", "diff", "prompt"] as const;
export type PhaseTab = (typeof phaseTabs)[number];
export const logParts = ["output", "errors", "validation"] as const;
export type LogPart = (typeof logParts)[number];

export interface Route {
  session: string | null;
  view: ViewName;
  phase: string | null;
  attempt: number | null;
  tab: PhaseTab;
  /** Of the log. */
  part: LogPart;
  line: number | null;
  /** The record up to which the page shows the session; null: all of them, live. */
  seq: number | null;
  /** The session that the first one is compared with. */
  with: string | null;
}

export const home: Route = {
  session: null,
  view: "timeline",
  phase: null,
  attempt: null,
  tab: "overview",
  part: "output",
  line: null,
  seq: null,
  with: null,
};

/** A fragment of another form, such as the code of a login, is not a place. */
export function readRoute(fragment: string): Route {
  if (!fragment.startsWith("#/")) return home;
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?");
  const [session = "", view = ""] = path.split("/").map(decoded);
  const fields = new URLSearchParams(query);
  return {
    session: session === "" ? null : session,
    view: pageViews.find((one) => one === view) ?? home.view,
    phase: fields.get("phase"),
    attempt: numberOf(fields.get("attempt")),
    tab: phaseTabs.find((one) => one === fields.get("tab")) ?? home.tab,
    part: logParts.find((one) => one === fields.get("part")) ?? home.part,
    line: numberOf(fields.get("line")),
    seq: numberOf(fields.get("seq")),
    with: fields.get("with"),
  };
}

export function routeText(route: Route): string {
  const fields = new URLSearchParams();
  for (const key of ["phase", "attempt", "line", "seq", "with"] as const) {
    const value = route[key];
    if (value !== null) fields.set(key, String(value));
  }
  if (route.phase !== null && route.tab !== home.tab) fields.set("tab", route.tab);
  if (route.phase !== null && route.tab === "log" && route.part !== home.part) fields.set("part", route.part);
  const query = fields.toString();
  return `#/${encodeURIComponent(route.session ?? "")}/${route.view}${query === "" ? "" : `?${query}`}`;
}

function numberOf(text: string | null): number | null {
  const value = Number(text);
  return text !== null && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** A fragment that a person edited may not be decodable. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Derives the id of a session (`YYYY-MM-DD-<topic-slug>`) from its plan, and the file names of plan revisions.

import type { SessionId } from "../ids.ts";

const planName = /^(?:(\d{4}-\d{2}-\d{2})-)?(.+?)-impl-plan(?:-v(\d+))?\.md$/;
const MAX_SLUG = 80;

/** Uses the plan's file name if it follows the convention, else its title and today's date. Never returns an id in `taken`. */
export function newSessionId(planFile: string, title: string, now: Date, taken: ReadonlySet<string>): SessionId {
  const named = planName.exec(planFile);
  const base = `${named?.[1] ?? now.toISOString().slice(0, 10)}-${slug(named?.[2] ?? title)}`;
  for (let attempt = 1; ; attempt++) {
    const candidate = attempt === 1 ? base : `${base}-${attempt}`;
    if (!taken.has(candidate)) return candidate as SessionId;
  }
}

/** `x-impl-plan.md` -> `x-impl-plan-v2.md` -> `x-impl-plan-v3.md`. */
export function revisedPlanName(sessionId: string, planFile: string): string {
  const named = planName.exec(planFile);
  const stem = named?.[1] === undefined ? sessionId : `${named[1]}-${named[2]}`;
  return `${stem}-impl-plan-v${Number(named?.[3] ?? 1) + 1}.md`;
}

/** Lower-case words joined by hyphens; letters of any script are kept. */
function slug(text: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, "");
  return words === "" ? "session" : words;
}

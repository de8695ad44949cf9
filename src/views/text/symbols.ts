// The symbol of each phase status, the same in every view: readable without colour.

import type { PhaseStatus } from "../../session/events.ts";
import type { Paint } from "./paint.ts";

export type Sign = readonly [symbol: string, color: keyof Paint];

export const symbols: Record<PhaseStatus, Sign> = {
  pending: ["○", "dim"],
  in_progress: ["▶", "cyan"],
  completed: ["✓", "green"],
  failed: ["✗", "red"],
  skipped: ["↷", "yellow"],
  aborted: ["■", "red"],
};

// What the server and the report give to the page, besides the records of the journal. Types only.

import type { TimedEvent } from "../../session/fold.ts";
import type { Price } from "../../views/report/prices.ts";
import type { SessionSummary } from "./found.ts";

/** The answer to `GET /api/sessions`. */
export interface Overview {
  /** Whether the page may decide: the server was started with --control. */
  control: boolean;
  /** How many phases may run at a time; null: no limit. */
  slots: number | null;
  max_retries: number;
  prices: [model: string, price: Price][];
  /** The project's name, for the title. */
  project: string;
  /** The active session first, then the latest. */
  sessions: SessionSummary[];
  /** How many more are archived, which the next answer may contain. */
  unread: number;
}

/** What the journal does not record: sent beside the records, when it changes. */
export interface LivePulse {
  /** Whether an engine runs the session, or a conversation works on it. */
  driven: boolean;
  /** What the agent of each running phase did last. */
  activity: Record<string, string>;
  tokens: Record<string, number>;
  /** Phases whose conversation has ended without a recorded end. */
  lost: string[];
}

export interface Layout {
  width: number;
  height: number;
  node: { width: number; height: number };
  /** The middle of each phase, in the order of the plan. */
  nodes: [x: number, y: number][];
  /** Points of each line, `from` and `to` being positions of phases; empty points: a straight way. */
  edges: { from: number; to: number; points: [x: number, y: number][] }[];
}

/** The data block of a report. */
export interface ReportData {
  overview: Overview;
  layout: Layout;
  records: TimedEvent[];
  /** When it was written: the present of its page. */
  written: string;
  /** Whether an engine, or a conversation, worked on the session then. */
  driven: boolean;
}

// state/baseline.json: the last baseline that was taken, and of which state of the project. A session that is created from the same state
// records it; nothing else depends on it, so a damaged file counts as none.

import { withDirectory } from "../../disk/contained.ts";
import { readRegular, replaceDurably } from "../../disk/durable.ts";
import type { BaselineCommand } from "../../plan/baseline.ts";
import { baseline } from "../../session/event-parts.ts";
import * as is from "../../shape.ts";
import { inState, type StateLocation, walk } from "../location.ts";

const BASELINE_FILE = "baseline.json";
const MAX_BYTES = 16 * 1024 * 1024;

const record = is.object({ v: is.only(1), project: is.text(200), at: is.time, commands: baseline });

export interface StoredBaseline {
  /** Identifies the state of the project: a git tree, or a hash of its file listing. */
  project: string;
  commands: BaselineCommand[];
}

export function readBaseline(location: StateLocation): StoredBaseline | undefined {
  const text = inState(location, ["state"], (directory) => readRegular(directory, BASELINE_FILE, MAX_BYTES));
  const value = text === undefined ? undefined : parsed(text.toString("utf8"));
  return record(value) === undefined ? (value as is.TypeOf<typeof record>) : undefined;
}

export function writeBaseline(location: StateLocation, { project, commands }: StoredBaseline, now: Date): void {
  const content = `${JSON.stringify({ v: 1, project, at: now.toISOString(), commands })}\n`;
  withDirectory(location.root, [...location.components, "state"], walk(location, true), (directory) => {
    replaceDurably(directory, BASELINE_FILE, content);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

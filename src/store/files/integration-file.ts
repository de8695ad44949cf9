// state/integration.json: a change that is about to be made to the project's files. It is durable before the first file is touched, and is
// removed when the change is complete or undone, so that the next process can finish what a killed process started.

import { type Directory, withDirectory } from "../../disk/contained.ts";
import { readRegular, replaceDurably } from "../../disk/durable.ts";
import { MaestroError } from "../../errors.ts";
import { objectIdForm, type PhaseId, type SessionId, type TreeId } from "../../ids.ts";
import * as is from "../../shape.ts";
import { inState, recordedPath, type StateLocation, walk } from "../location.ts";
import { setAside } from "../view/view-file.ts";

const INTEGRATION_FILE = "integration.json";
const MAX_BYTES = 64 * 1024;

// These values end up on git's command line, so only object ids are accepted.
const objectId = is.matching<TreeId>(objectIdForm, "an object id");
const record = is.object({
  v: is.only(1),
  session: is.matching(/^[\s\S]{1,200}$/, "text of 1 to 200 characters"),
  phase: is.matching(/^[\s\S]{1,64}$/, "text of 1 to 64 characters"),
  attempt: is.integer(1),
  /** The engine integrates; the user applies or reverts. */
  what: is.oneOf(["integrate", "apply", "revert"]),
  /** The project's tree before and after. */
  from: objectId,
  to: objectId,
});

export const setAsideHint =
  'Check the project with "git status"; then run "maestro doctor --fix", which moves the file aside.';

type Recorded = Omit<is.TypeOf<typeof record>, "v">;

export interface Intent extends Recorded {
  session: SessionId;
  phase: PhaseId;
  from: TreeId;
  to: TreeId;
}

/** The unfinished change; undefined when there is none. An unreadable file is an error that names it. */
export function readIntent(location: StateLocation): Intent | undefined {
  const found = inState(location, ["state"], read);
  if (found === undefined) return undefined;
  if ("fault" in found) throw unreadable(location, found.fault);
  const fault = record(found.value);
  if (fault !== undefined) throw unreadable(location, reasonFor(fault));
  const { v: _, ...intent } = found.value as is.TypeOf<typeof record>;
  return intent as Intent;
}

/** Durable when this returns. Throws when another change is unfinished. */
export function writeIntent(location: StateLocation, intent: Intent): void {
  const left = readIntent(location);
  if (left !== undefined) {
    throw new MaestroError("conflict", `${describeIntent(left)} was started but not finished`, {
      hint: '"maestro resume" and "maestro doctor --fix" finish it.',
    });
  }
  const { session, phase, attempt, what, from, to } = intent;
  const change = { v: 1, session, phase, attempt, what, from, to };
  const fault = record(change);
  if (fault !== undefined) throw new Error(`an invalid record of a change: ${is.faultText(fault)}`);
  const text = JSON.stringify(change);
  inStateDirectory(location, (directory) => void replaceDurably(directory, INTEGRATION_FILE, `${text}\n`));
}

export function removeIntent(location: StateLocation): void {
  inStateDirectory(location, (directory) => {
    directory.unlink(INTEGRATION_FILE);
    directory.sync();
  });
}

/** Renames an unusable file; returns its new path, or undefined when the file does not exist. */
export function setIntentAside(location: StateLocation, now: Date): string | undefined {
  const name = inState(location, ["state"], (directory) =>
    directory.lstat(INTEGRATION_FILE) === undefined ? undefined : setAside(directory, INTEGRATION_FILE, "corrupt", now),
  );
  return name === undefined ? undefined : recordedPath(location, "state", name);
}

export function describeIntent({ what, session, phase, attempt }: Omit<Intent, "from" | "to">): string {
  const doing = { integrate: "Integrating", apply: "Applying", revert: "Reverting" }[what];
  return `${doing} attempt ${attempt} of phase ${phase} (session ${session})`;
}

function read(directory: Directory): { value: unknown } | { fault: string } | undefined {
  const stat = directory.lstat(INTEGRATION_FILE);
  if (stat === undefined) return undefined;
  if (!stat.isFile()) return { fault: "it is not a regular file" };
  if (stat.size > MAX_BYTES) return { fault: `it has ${stat.size} bytes` };
  const text = readRegular(directory, INTEGRATION_FILE, MAX_BYTES)?.toString("utf8") ?? "";
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: "it is not JSON" };
    throw error;
  }
}

function reasonFor(fault: is.Fault): string {
  return fault.path[0] === "v" ? "it was written by another version of Maestro" : is.faultText(fault);
}

function unreadable(location: StateLocation, why: string): MaestroError {
  const path = recordedPath(location, "state", INTEGRATION_FILE);
  return new MaestroError("parse_failed", `The record of an unfinished change cannot be read: ${path}: ${why}`, {
    hint: setAsideHint,
  });
}

function inStateDirectory(location: StateLocation, use: (directory: Directory) => void): void {
  withDirectory(location.root, [...location.components, "state"], walk(location, true), use);
}

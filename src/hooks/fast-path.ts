// A look at the state directory by name, for the hooks that come before every request to the model: what they want to know stands in the
// checkpoint most of the time. Reads only, says what session-events.ts would say, and leaves everything that is not plain to it.

import { lstatSync, readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { resolveStateDirectory } from "../setting-layers.ts";
import { HISTORY_FILE } from "../store/files/history-file.ts";
import { DELEGATIONS, JOURNAL_FILE, VIEW_FILE } from "../store/journal/journal-file.ts";
import { manifest } from "../store/workspace.ts";
import { CHECKPOINT_FILE, type Checkpoint, markOf, parseCheckpoint } from "./checkpoint.ts";
import { type HookInput, textOf } from "./input.ts";
import { proceed, type Reply, readyReply, turnReply, waitingReply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** Whatever is larger is read by somebody who is careful. */
const MAX_BYTES = 64 * 1024;

export function glimpse(event: string, input: HookInput, here: Surroundings): Reply | undefined {
  if (here.attempt !== null) return proceed;
  const place = placeOf(here);
  if (place === undefined) return undefined;
  const { directory, base, state, isThere } = place;
  if (!isThere) return event === "SessionStart" ? undefined : withoutSession(event, input, directory);
  if (event === "SessionStart" && manifest.some((path) => statOf(`${base}/${path.join("/")}`) === undefined))
    return undefined;
  // Somebody has to clear up, or may be interested.
  if (event !== "PreCompress" && hasDelegations(state, here)) return undefined;
  const journal = statOf(`${state}/${JOURNAL_FILE}`);
  if (journal === undefined) {
    // A view alone is to be taken over.
    return statOf(`${state}/${VIEW_FILE}`) === undefined ? withoutSession(event, input, directory) : undefined;
  }
  const checkpoint = parseCheckpoint(textAt(`${state}/${CHECKPOINT_FILE}`), markOf(journal));
  return checkpoint === undefined ? undefined : withSession(event, input, state, checkpoint);
}

/** Whether nobody needs to hear that a delegation of others begins, or that one ends: of ours, every session does. */
export function isUnheard(what: "other begins" | "other ends" | "ours ends", here: Surroundings): boolean {
  const place = here.attempt === null ? placeOf(here) : undefined;
  if (place === undefined) return false;
  const { state, isThere } = place;
  if (!isThere) return true;
  if (what === "other begins" || hasDelegations(state, here)) return false;
  return what === "other ends" || (statOf(`${state}/${JOURNAL_FILE}`) ?? statOf(`${state}/${VIEW_FILE}`)) === undefined;
}

interface Place {
  directory: string;
  base: string;
  state: string;
  isThere: boolean;
}

/** Undefined where somebody careful has to look: links are refused, by somebody who says so. */
function placeOf(here: Surroundings): Place | undefined {
  const directory = resolveStateDirectory(here.projectRoot, here.env);
  if (directory.startsWith("~")) return undefined;
  if (!isAbsolute(directory) && (/[\\/]/.test(directory) || directory === "..")) return undefined;
  const base = isAbsolute(directory) ? directory : `${here.projectRoot}/${directory}`;
  const state = `${base}/state`;
  const found = statOf(base)?.isDirectory() === true ? statOf(state) : statOf(base);
  if (found !== undefined && !found.isDirectory()) return undefined;
  return { directory, base, state, isThere: found !== undefined };
}

function hasDelegations(state: string, { conversation }: Surroundings): boolean {
  return statOf(`${state}/${DELEGATIONS}/${conversation}.jsonl`) !== undefined;
}

/** Our commands open with their name in brackets; a user may also write it. */
export const commandName = /(?:\[|^\s*\/)maestro:([a-z-]+)/m;

function withoutSession(event: string, input: HookInput, directory: string): Reply | undefined {
  if (event === "SessionStart") return isAbsolute(directory) ? undefined : readyReply(directory);
  return event === "BeforeAgent" && commandName.test(textOf(input.prompt)) ? undefined : proceed;
}

function withSession(event: string, input: HookInput, state: string, checkpoint: Checkpoint): Reply | undefined {
  if (event === "SessionStart") return waitingReply(checkpoint.waiting);
  if (event === "BeforeAgent") return commandName.test(textOf(input.prompt)) ? undefined : turnReply(checkpoint.brief);
  if (event !== "SessionEnd") return proceed;
  const isNoted = textAt(`${state}/${HISTORY_FILE}`).endsWith(` ${checkpoint.facts}\n`);
  return isNoted && checkpoint.status !== "completed" ? proceed : undefined;
}

function statOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Empty for anything but a file of ordinary size. */
function textAt(path: string): string {
  const stat = statOf(path);
  return stat?.isFile() === true && stat.size <= MAX_BYTES ? readFileSync(path, "utf8") : "";
}

// The fast path of the hooks that run before every request to the model: answers from the checkpoint, which is usually up to date.
// Read-only. Answers exactly as session-events.ts would, and leaves every unusual case to it.

import { lstatSync, readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { resolveStateDirectory } from "../setting-layers.ts";
import { HISTORY_FILE } from "../store/files/history-file.ts";
import { DELEGATIONS, JOURNAL_FILE, VIEW_FILE } from "../store/journal/journal-file.ts";
import { manifest } from "../store/workspace.ts";
import { CHECKPOINT_FILE, type Checkpoint, markOf, parseCheckpoint } from "./checkpoint.ts";
import { type HookInput, textValue } from "./input.ts";
import { proceed, type Reply, summaryReply, turnReply, waitingReply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** A larger file is left to the slow path. */
const MAX_BYTES = 64 * 1024;

export function fastPath(event: string, input: HookInput, here: Surroundings): Reply | undefined {
  if (here.attempt !== null) return proceed;
  const place = placeOf(here);
  if (place === undefined) return undefined;
  const { base, state, isThere } = place;
  if (!isThere) return event === "SessionStart" ? undefined : withoutSession(event, input);
  if (event === "SessionStart" && manifest.some((path) => statOf(`${base}/${path.join("/")}`) === undefined))
    return undefined;
  // The slow path deletes or updates the delegations of this conversation, and records the end of those whose conversation has ended.
  const mayWrite = event !== "PreCompress";
  if (mayWrite && hasDelegations(state, here)) return undefined;
  const journal = statOf(`${state}/${JOURNAL_FILE}`);
  if (journal === undefined) {
    // The slow path imports a view without a journal.
    return statOf(`${state}/${VIEW_FILE}`) === undefined ? withoutSession(event, input) : undefined;
  }
  const checkpoint = parseCheckpoint(textAt(`${state}/${CHECKPOINT_FILE}`), markOf(journal));
  return checkpoint === undefined || (mayWrite && checkpoint.open)
    ? undefined
    : withSession(event, input, state, checkpoint);
}

/** Whether the start or end of a delegation can be ignored. The end of one of Maestro's own matters to every session. */
export function isUnheard(what: "other begins" | "other ends" | "ours ends", here: Surroundings): boolean {
  const place = here.attempt === null ? placeOf(here) : undefined;
  if (place === undefined) return false;
  const { state, isThere } = place;
  if (!isThere) return true;
  if (what === "other begins" || hasDelegations(state, here)) return false;
  return what === "other ends" || (statOf(`${state}/${JOURNAL_FILE}`) ?? statOf(`${state}/${VIEW_FILE}`)) === undefined;
}

/** Whether this conversation has certainly not delegated anything. */
export function isWithoutDelegations(here: Surroundings): boolean {
  const place = placeOf(here);
  if (place === undefined || !place.isThere) return place !== undefined;
  const directory = statOf(`${place.state}/${DELEGATIONS}`);
  return directory === undefined || (directory.isDirectory() && !hasDelegations(place.state, here));
}

interface Place {
  base: string;
  state: string;
  isThere: boolean;
}

/** Undefined when the slow path must check the directory: it rejects links and reports them. */
function placeOf(here: Surroundings): Place | undefined {
  const directory = resolveStateDirectory(here.projectRoot, here.env);
  if (directory.startsWith("~")) return undefined;
  if (!isAbsolute(directory) && (/[\\/]/.test(directory) || directory === "..")) return undefined;
  const base = isAbsolute(directory) ? directory : `${here.projectRoot}/${directory}`;
  const state = `${base}/state`;
  const found = statOf(base)?.isDirectory() === true ? statOf(state) : statOf(base);
  if (found !== undefined && !found.isDirectory()) return undefined;
  return { base, state, isThere: found !== undefined };
}

function hasDelegations(state: string, { conversation }: Surroundings): boolean {
  return statOf(`${state}/${DELEGATIONS}/${conversation}.jsonl`) !== undefined;
}

/** Prompts of Maestro's commands start with the command's name in brackets; a user may also type it. */
export const commandName = /(?:\[|^\s*\/)maestro:([a-z-]+)/m;

function withoutSession(event: string, input: HookInput): Reply | undefined {
  return event === "BeforeAgent" && commandName.test(textValue(input.prompt)) ? undefined : proceed;
}

function withSession(event: string, input: HookInput, state: string, checkpoint: Checkpoint): Reply | undefined {
  if (event === "SessionStart") return waitingReply(checkpoint.waiting);
  if (event === "BeforeAgent")
    return commandName.test(textValue(input.prompt)) ? undefined : turnReply(checkpoint.turn);
  if (event === "PreCompress") return summaryReply(checkpoint.brief);
  if (event !== "SessionEnd") return proceed;
  const isNoted = textAt(`${state}/${HISTORY_FILE}`).endsWith(` ${checkpoint.facts}\n`);
  return isNoted && checkpoint.status !== "completed" ? proceed : undefined;
}

function statOf(path: string) {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** Empty unless the path is a regular file within the size limit. */
function textAt(path: string): string {
  const stat = statOf(path);
  return stat?.isFile() === true && stat.size <= MAX_BYTES ? readFileSync(path, "utf8") : "";
}

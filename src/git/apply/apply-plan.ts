// Plans how the project's files change from one tree to another: the paths that differ, each with its state before and after. Plain data
// that can be computed again from the two tree ids.

import type { ObjectId } from "../../ids.ts";
import { isUtf8, rawNames, toProject } from "../names.ts";
import { END_OF_OPTIONS, objectId } from "../objects/object-id.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";

export interface FileState {
  kind: "file" | "executable" | "link";
  /** The blob with the content, or with the target of the link. */
  id: string;
}

/** null: the path does not exist. */
export interface ApplyStep {
  /** Relative to the project. */
  path: string;
  old: FileState | null;
  new: FileState | null;
}

export interface ApplyPlan {
  from: ObjectId;
  to: ObjectId;
  steps: ApplyStep[];
  /** Differences that must not reach the project. If there are any, nothing is applied. */
  refused: { path: string; reason: string }[];
}

const kinds: Record<string, FileState["kind"]> = { "100644": "file", "100755": "executable", "120000": "link" };
const NOTHING = "000000";

/** `from` and `to` are trees or commits. */
export async function planApply(repository: Repository, from: ObjectId, to: ObjectId): Promise<ApplyPlan> {
  if (from === to) return { from, to, steps: [], refused: [] };
  const options = ["-r", "-z", "--raw", "--no-renames", "--full-index", "--no-ext-diff"];
  const sides = [from, to].map((id) => objectId(repository, id));
  const fields = rawNames((await ownGit(repository, ["diff-tree", ...options, END_OF_OPTIONS, ...sides])).stdout);
  const plan: ApplyPlan = { from, to, steps: [], refused: [] };
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = "", newMode = "", oldId = "", newId = ""] = (fields[at] ?? "").slice(1).split(" ");
    const raw = fields[at + 1] ?? "";
    const path = toProject(repository.prefix, raw);
    const reason = refusal(raw, path, [oldMode, newMode]);
    if (reason !== undefined) plan.refused.push({ path, reason });
    else plan.steps.push({ path, old: stateOf(oldMode, oldId), new: stateOf(newMode, newId) });
  }
  return repository.ignoreCase ? withoutTwins(plan) : plan;
}

/** Where case or Unicode composition make no difference, two names can mean one file, and deleting one would delete the other. */
function withoutTwins(plan: ApplyPlan): ApplyPlan {
  const counts = new Map<string, number>();
  const plain = ({ path }: ApplyStep) => path.normalize("NFC").toLowerCase();
  for (const step of plan.steps) counts.set(plain(step), (counts.get(plain(step)) ?? 0) + 1);
  const isTwin = (step: ApplyStep) => (counts.get(plain(step)) ?? 0) > 1;
  const reason = "only the case of its name changes, and the file system ignores case";
  const twins = plan.steps.filter(isTwin).map(({ path }) => ({ path, reason }));
  return { ...plan, steps: plan.steps.filter((step) => !isTwin(step)), refused: [...plan.refused, ...twins] };
}

function stateOf(mode: string, id: string): FileState | null {
  return mode === NOTHING ? null : { kind: kinds[mode] ?? "file", id };
}

/** A crafted tree can contain any name, and git does not check it here. */
function refusal(raw: string, path: string, modes: readonly string[]): string | undefined {
  if (path.startsWith("../")) return "it is outside the project";
  if (!isUtf8(raw)) return "its name is not UTF-8";
  const names = path.split("/");
  if (names.some((name) => name === "" || name === "." || name === "..")) return "it is not a valid path";
  if (names.some(isGitDirectory)) return "it is in a .git directory";
  if (modes.some((mode) => mode !== NOTHING && kinds[mode] === undefined)) return "it is a submodule";
  return undefined;
}

/** Recognizes the other spellings that Windows and macOS accept for .git. */
function isGitDirectory(name: string): boolean {
  const plain = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "").toLowerCase();
  return /^(?:\.git|git~1)[ .]*(?::.*)?$/.test(plain);
}

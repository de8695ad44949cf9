// Plan files: reads them from inside the project, validates them against the available agents, and saves a plan given as text.

import { closeSync, constants, fstatSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { parseDisabled } from "../../agents/resolve.ts";
import { agentFileNames, type Roster } from "../../agents/roster.ts";
import { parseAmounts } from "../../amounts.ts";
import { type Directory, ioError, pathFault, resolveInside, withDirectory, withParent } from "../../disk/contained.ts";
import { readFrom, readRegular, replaceDurably } from "../../disk/durable.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { BaselineCommand } from "../../plan/baseline.ts";
import { baselineList } from "../../plan/baseline.ts";
import { parsePlan } from "../../plan/parse.ts";
import { MAX_PLAN_BYTES } from "../../plan/plan.ts";
import { type ValidationReport, validatePlan } from "../../plan/validate.ts";
import { recordedPath, type StateLocation, walk } from "../location.ts";
import { ensureWorkspace } from "../workspace.ts";

/** One byte more than a plan may have, so that the validator can report a plan that is too long. */
export const PLAN_READ_LIMIT = MAX_PLAN_BYTES + 1;

export interface PlanSurroundings {
  location: StateLocation;
  roster: Roster;
  /** MAESTRO_DISABLED_AGENTS. */
  disabledAgents: string;
  redact: (text: string) => string;
  /** What the validation commands do on the untouched project. */
  baseline?: readonly BaselineCommand[] | undefined;
  /** MAESTRO_BUDGET. */
  budget: string;
}

export function checkPlan(bytes: Uint8Array, surroundings: PlanSurroundings): ValidationReport {
  const { location, roster, disabledAgents, redact } = surroundings;
  const { disabled } = parseDisabled(disabledAgents, agentFileNames(roster));
  const { agents, problems: broken } = roster;
  const design = (path: string) => designText(location, path);
  const { baseline } = surroundings;
  const budget = parseAmounts(surroundings.budget);
  const stateDir = recordedPath(location);
  return validatePlan(bytes, { agents, broken, disabled, stateDir, redact, design, baseline, budget });
}

/** Undefined when the design does not exist, is not a file of the project, or is too long to be one. */
function designText(location: StateLocation, given: string): string | undefined {
  try {
    const { bytes } = readPlan(location, given);
    return bytes.length > MAX_PLAN_BYTES ? undefined : bytes.toString("utf8");
  } catch (error) {
    if (error instanceof MaestroError && (error.code === "not_found" || error.code === "path")) return undefined;
    throw error;
  }
}

/** The path of a plan as it is recorded: links resolved, relative to the project when it is inside the project. */
export function recordedPlan(projectRoot: string, path: string): string {
  const real = realpathSync(resolve(projectRoot, path));
  const inside = relative(realpathSync(projectRoot), real);
  return (leaves(inside) ? real : inside).split(sep).join("/");
}

/** Reads a plan of the project or of its state directory; opens nothing else. Returns the path as it is recorded. */
export function readPlan(location: StateLocation, given: string): { bytes: Buffer; path: string } {
  const { root, path } = contained(location, given);
  try {
    const bytes = withParent(root, path, { create: false }, readBounded);
    const found = resolveInside(root, path).join("/");
    return { bytes, path: root === location.projectRoot ? found : join(root, found) };
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(errno(error) ?? "")) throw ioError("read", given, error);
    throw new MaestroError("not_found", `The plan does not exist: ${given}`, {
      hint: "Name it relative to the project, such as .gemini/plans/2026-02-14-task-api-impl-plan.md.",
      cause: error,
    });
  }
}

function readBounded(parent: Directory, name: string): Buffer {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  const fd = parent.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new MaestroError("path", `Not a regular file: ${name}`);
    return readFrom(fd, 0, Math.min(stat.size, PLAN_READ_LIMIT));
  } finally {
    closeSync(fd);
  }
}

function contained(location: StateLocation, path: string): { root: string; path: string } {
  if (!isAbsolute(path)) {
    if (pathFault(path) === undefined) return { root: location.projectRoot, path };
    throw outside(path);
  }
  for (const root of new Set([location.projectRoot, location.root])) {
    const inside = relative(root, path);
    if (inside !== "" && !leaves(inside)) return { root, path: inside };
  }
  throw outside(path);
}

function outside(path: string): MaestroError {
  return new MaestroError("path", `Not a path inside the project (got: ${path})`, {
    hint: "Name the plan relative to the project.",
  });
}

function leaves(inside: string): boolean {
  return isAbsolute(inside) || inside.split(sep)[0] === "..";
}

const planName = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,150}\.md$/u;

/** What a baseline of the plan runs; undefined when the plan cannot be read as one. */
export function plannedBaseline(location: StateLocation, given: string, setup: string): string[] | undefined {
  const draft = parsePlan(readPlan(location, given).bytes, { errors: [], warnings: [] });
  const phases = draft?.phases.map(({ phase }) => phase);
  return phases === undefined ? undefined : baselineList(phases, setup);
}

/** Why a plan cannot have that file name; undefined when it can. */
export function planNameFault(name: string): string | undefined {
  if (planName.test(name)) return undefined;
  return `Not a valid plan file name (got: ${JSON.stringify(name)})`;
}

/** Writes a plan to `plans/`, never over different content; returns its path as it is recorded. Needs the session lock. */
export function savePlan(location: StateLocation, name: string, bytes: Uint8Array): string {
  ensureWorkspace(location);
  withDirectory(location.root, [...location.components, "plans"], walk(location, true), (plans) => {
    if (contentOf(plans, name, bytes) === "same") return;
    // Users read and edit plans, so the file gets ordinary permissions.
    const mode = 0o666 & ~process.umask();
    const isFree = () => plans.lstat(name) === undefined;
    if (isFree() && replaceDurably(plans, name, bytes, { mode, confirm: isFree }) !== undefined) return;
    throw new MaestroError(
      "conflict",
      `A different plan with that name exists: ${recordedPath(location, "plans", name)}`,
      {
        hint: "Choose another file name, or pass the existing file as plan_path.",
      },
    );
  });
  return recordedPath(location, "plans", name);
}

/** Replaces the content of a plan of the project, unless it has changed since it was read. */
export function rewritePlan(location: StateLocation, given: string, read: Uint8Array, bytes: Uint8Array): void {
  const { root, path } = contained(location, given);
  withParent(root, path, { create: false }, (parent, name) => {
    if (contentOf(parent, name, read) !== "same") throw new MaestroError("conflict", `The plan has changed: ${given}`);
    const mode = (parent.lstat(name)?.mode ?? 0o644) & 0o777;
    replaceDurably(parent, name, bytes, { mode });
  });
}

export function contentOf(plans: Directory, name: string, bytes: Uint8Array): "none" | "same" | "other" {
  const stat = plans.lstat(name);
  if (stat === undefined) return "none";
  if (!stat.isFile() || stat.size !== bytes.length) return "other";
  return readRegular(plans, name, bytes.length)?.equals(bytes) ? "same" : "other";
}

// The order: what a worker needs to run one attempt. It has names of variables, never their values. Paths of the engine's machine are
// replaced by a placeholder that no project contains by chance.

import type { Tier } from "../../agents/tiers.ts";
import { type AttemptId, attemptIdForm, type PhaseId, phaseIdForm, type SessionId, sessionIdForm } from "../../ids.ts";
import * as is from "../../shape.ts";
import { type AttemptKey, attemptKeyForm } from "./attempt-key.ts";

const MAX_NAMES = 200;
const name = is.matching(/^[A-Za-z_]\w{0,127}$/, "the name of a variable");
const milliseconds = is.integer(1, 366 * 86_400_000);

const order = is.object({
  v: is.only(1),
  key: is.matching<AttemptKey>(attemptKeyForm, "the key of an attempt"),
  session: is.matching<SessionId>(sessionIdForm, "the id of a session"),
  phase: is.matching<PhaseId>(phaseIdForm, "the id of a phase"),
  attempt: is.integer(1),
  /** What its files are called. */
  name: is.matching<AttemptId>(attemptIdForm, "the id of an attempt"),
  agent: is.text(200),
  tier: is.oneOf<Tier>(["read-only", "read-shell", "read-write", "full"]),
  runtime: is.text(1000),
  model: is.nullable(is.text(500)),
  /** Stands for the project's root in the prompt, and in what the attempt prints. */
  root: is.matching(/^\/maestro-[0-9a-f]{32}$/, "a placeholder"),
  /** Where the project is in its repository: "" or "packages/api/". */
  prefix: is.matching(/^(?!\/)(?:[^\0]{1,4000}\/)?$/, "a directory"),
  timeout_ms: milliseconds,
  setup_timeout_ms: milliseconds,
  grace_ms: is.integer(0, 3_600_000),
  /** The most that it may use, as recorded with its start. */
  reserved: is.optional(
    is.object({ usd: is.optional(is.number(0)), tok: is.optional(is.number(0)), req: is.optional(is.number(0)) }),
  ),
  sandbox: is.boolean,
  /** The command that prepares the worktree; empty: none. */
  setup: is.text(100_000),
  /** Variables that the worker must have. */
  requires: is.list(name, MAX_NAMES),
  /** Variables that the attempt gets where the worker has them: names and globs. */
  passes: is.list(is.matching(/^[A-Za-z_*][\w*]{0,127}$/, "the name of a variable"), MAX_NAMES),
  /** Files that are part of the work even when git ignores them. */
  force: is.list(is.path),
});

export type Order = is.TypeOf<typeof order>;

/** The order, or what is wrong with it. */
export function readOrder(bytes: Uint8Array): { order: Order } | { fault: string } {
  const value = parsed(bytes);
  const fault = order(value);
  return fault === undefined ? { order: value as Order } : { fault: is.faultText(fault, "the order") };
}

export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Replaces each of `paths` by the placeholder, longer paths first: one may be below another. */
export function withPlaceholder(text: string, paths: readonly string[], placeholder: string): string {
  const known = [...new Set(paths)].filter((path) => path.length > 1).sort((one, other) => other.length - one.length);
  return known.reduce((replaced, path) => replaced.replaceAll(path, placeholder), text);
}

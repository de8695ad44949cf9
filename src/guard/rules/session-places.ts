// Which parts of the state directory must stay in place while a session is active, whatever name or pattern reaches them.

import type { Machine } from "../machine.ts";
import { normal, pathSegments } from "../paths.ts";
import { canBe, isPattern, shown } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";

/** Denies removing, moving or replacing the path. `path` is absolute and may contain patterns. */
export function refuseLoss(path: string, machine: Machine): Denial | undefined {
  if (!path.startsWith("/") || !holdsSession(path, machine) || machine.hasSession?.() !== true) return undefined;
  return deny(
    "sensitive-file",
    `A session is active, and ${shown(path)} contains its state or a part of it. Name single files outside the state directory, or ask the user to end the session with "maestro archive" first.`,
  );
}

/** The state directory, its parents, and the parts of it that Maestro keeps. A pattern inside it can match any of them. */
function holdsSession(path: string, { stateDir }: Machine): boolean {
  const given = pathSegments(normal(path).toLowerCase());
  const state = pathSegments(normal(stateDir).toLowerCase());
  const common = Math.min(given.length, state.length);
  if (!given.slice(0, common).every((shape, i) => isOneName(shape, state[i] as string))) return false;
  if (given.length <= state.length) return true;
  const [first = "", second, third, ...rest] = given.slice(state.length);
  if ([first, second ?? "", third ?? "", ...rest].some(isPattern)) return true;
  if (first === "state") return true;
  if (first === "plans") return second === undefined || second === "archive";
  return first === "parallel" && (third !== "prompts" || rest.length === 0);
}

/** Only patterns count as holes: a variable is a name that the command knows. Shell patterns do not match names that start with a dot. */
function isOneName(shape: string, name: string): boolean {
  if (!isPattern(shape)) return shape === name;
  return (
    !/[\uE000\uE001\uE004\uE005]/.test(shape) && !(name.startsWith(".") && !shape.startsWith(".")) && canBe(shape, name)
  );
}

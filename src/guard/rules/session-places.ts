// What of the state directory has to stay where it is while a session is live, by whatever name or pattern it is reached.

import type { Machine } from "../machine.ts";
import { normal, pathSegments } from "../paths.ts";
import { canBe, isPattern, shown } from "../shell/shape.ts";
import { type Denial, deny } from "../verdict.ts";

/** A refusal when this would be removed, moved or replaced. `path` is absolute; patterns may be in it. */
export function refuseLoss(path: string, machine: Machine): Denial | undefined {
  if (!path.startsWith("/") || !holdsSession(path, machine) || machine.hasSession?.() !== true) return undefined;
  return deny(
    "sensitive-file",
    `A session is live, and ${shown(path)} holds its state or a part of it. Name single files outside the state directory; ask the user to end the session with "maestro archive" first if it really has to go.`,
  );
}

/** The state directory, what lies above it, and the parts of it that Maestro keeps; patterns inside it may be any of them. */
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

/** Of the holes only patterns count: a variable is a name that the command knows. A pattern of a shell finds no name with a dot in front. */
function isOneName(shape: string, name: string): boolean {
  if (!isPattern(shape)) return shape === name;
  return (
    !/[\uE000\uE001\uE004\uE005]/.test(shape) && !(name.startsWith(".") && !shape.startsWith(".")) && canBe(shape, name)
  );
}

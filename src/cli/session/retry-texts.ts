// Reads what a user says when they decide on a retry, from an option or an answer at the terminal.

import { parseDisabled } from "../../agents/resolve.ts";
import { MaestroError } from "../../errors.ts";
import type { AgentChoice } from "../../session/decide/other-agent.ts";
import { isModelName } from "../../session/event-parts.ts";
import { MAX_TOLD_CHARS } from "../../session/retry.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { stripControls } from "../../text.ts";
import { redactorOf, rosterOf } from "../context.ts";
import type { Io } from "../io.ts";

/** A text for the record and the next prompt: without control characters and secrets. `source` is the option that gave it. */
export function toldText(io: Io, source: string, given: string): string {
  const text = stripControls(given).trim();
  if (text === "") throw new MaestroError("usage", `${source} is empty`);
  if (text.length > MAX_TOLD_CHARS) {
    throw new MaestroError(
      "usage",
      `${source} must not be longer than ${MAX_TOLD_CHARS} characters (got: ${text.length})`,
      {
        hint: "Put the details into a file of the project, and name the file.",
      },
    );
  }
  return redactorOf(io)(text);
}

export function checkedModel(source: string, given: string | undefined): string | undefined {
  const model = given?.trim();
  if (model === undefined || isModelName(model)) return model;
  throw new MaestroError("usage", `${source} must be the name of a model (got: ${JSON.stringify(model.slice(0, 80))})`);
}

/** The agents that a retry can be given to. */
export function agentChoice(io: Io, { values }: ResolvedSettings): AgentChoice {
  const { agents } = rosterOf(io);
  const names = agents.map(({ name }) => name);
  return { agents, disabled: parseDisabled(values.MAESTRO_DISABLED_AGENTS, names).disabled };
}

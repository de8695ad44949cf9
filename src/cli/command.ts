// What every verb of `maestro` has in common: how it is refused, its help, its examples.

import type { Command, CommanderError } from "commander";
import { MaestroError } from "../errors.ts";
import { definitions } from "../settings.ts";

export function command(made: Command): Command {
  return made
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : usageError(made, error);
    })
    .configureOutput({ writeErr: () => undefined })
    .allowExcessArguments(false);
}

/** Says what was wrong with the words, and how the command is used. */
function usageError(used: Command, { code, message }: CommanderError): MaestroError {
  if (code === "commander.help") {
    const choices = used.commands.map((child) => child.name()).join(", ");
    return new MaestroError("usage", `${used.name()} needs a command`, { hint: `Use one of: ${choices}.` });
  }
  const names: string[] = [];
  for (let at: Command | null = used; at !== null; at = at.parent) names.unshift(at.name());
  const said = message.replace(/^error: /, "").replace("\n", " ");
  return new MaestroError("usage", said, { hint: `Usage: ${names.join(" ")} ${used.usage()}` });
}

export function verb(parent: Command, usage: string, description: string): Command {
  return command(parent.command(usage)).description(description);
}

/** Whose work a verb is about. */
export function whichWork(made: Command): Command {
  return made
    .option("--attempt <n>", "which attempt (default: the last that did something)")
    .option("--session <id>", "a session that was archived");
}

export function mainHelp(): string {
  const width = Math.max(...Object.keys(definitions).map((name) => name.length));
  const settings = Object.entries(definitions).map(([name, { default: value, meaning }]) => {
    const shown = String(value) === "" ? "" : ` [${value}]`;
    return `  ${name.padEnd(width)}  ${meaning}${shown}`;
  });
  return `
Settings (exported variable, then .env of the project, then .env of the extension, then the default):
${settings.join("\n")}

Exit codes:
  0 done   1 failed   2 usage or invalid plan   3 configuration or environment   4 needs a person   5 quota
  129, 130, 143 interrupted   (dispatch: the number of agents that failed)

Examples:
  maestro rehearse plan.md
  maestro run plan.md --mode parallel
  maestro status`;
}

export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

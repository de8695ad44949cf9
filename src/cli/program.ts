// The verbs of `maestro`: their arguments, options, help and examples. What they do is in the file of the verb.

import { Command, type CommanderError, Option } from "commander";
import { MaestroError } from "../errors.ts";
import { handoffFormats } from "../handoff/handoff.ts";
import { errorTypes } from "../session/events.ts";
import { definitions } from "../settings.ts";
import { agentsCheck } from "./agents.ts";
import { archive } from "./archive.ts";
import { doctor } from "./doctor.ts";
import { handoffCheck } from "./handoff.ts";
import type { Io } from "./io.ts";
import {
  sessionComplete,
  sessionCreate,
  sessionError,
  sessionFiles,
  sessionMode,
  sessionNote,
  sessionRevise,
  sessionTransition,
} from "./session.ts";
import { activeState, readState, workspace, writeState } from "./state.ts";
import { status } from "./status.ts";
import { validate } from "./validate.ts";

declare const MAESTRO_VERSION: string;

/** The command line over `io`; each verb hands its exit code to `verdict`. */
export function program(io: Io, verdict: (code: number) => void): Command {
  const maestro = command(new Command("maestro"))
    .description("Multi-agent development orchestrator for terminal coding agents.")
    .version(MAESTRO_VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", mainHelp());

  const json = () => new Option("--json", "print the answer as JSON");

  verb(maestro, "validate <plan>", "check a plan and draw it")
    .addOption(json())
    .addHelpText(
      "after",
      examples("maestro validate .gemini/plans/2026-02-14-task-api-impl-plan.md", "maestro validate plan.md --json"),
    )
    .action(async (plan, options) => verdict(await validate(io, plan, options)));

  verb(maestro, "status", "show where the session stands")
    .addOption(json())
    .option("--conflicts", "also look for files and plans that changed behind the session's back")
    .addHelpText("after", examples("maestro status", "maestro status --json --conflicts"))
    .action((options) => verdict(status(io, options)));

  verb(maestro, "archive", "end the session and put it away with its plans")
    .addOption(json())
    .addHelpText("after", examples("maestro archive", "maestro archive --json"))
    .action((options) => verdict(archive(io, options)));

  verb(maestro, "doctor", "check this machine, the settings and the session")
    .addOption(json())
    .option("--fix", "set a broken session file aside and go on from what is left")
    .addHelpText("after", examples("maestro doctor", "maestro doctor --fix"))
    .action((options) => verdict(doctor(io, options)));

  verb(maestro, "workspace [state-dir]", "make the state directory ready (default: MAESTRO_STATE_DIR)")
    .addHelpText("after", examples("maestro workspace", "maestro workspace .gemini"))
    .action((stateDir) => verdict(workspace(io, stateDir)));

  const state = verb(maestro, "state", "read and write state files").addHelpText(
    "after",
    examples("maestro state read .gemini/state/active-session.md"),
  );
  verb(state, "read <path>", "print a file of the project, byte for byte")
    .addHelpText("after", examples("maestro state read .gemini/state/active-session.md"))
    .action((path) => verdict(readState(io, path)));
  verb(state, "write <path>", "replace a file of the project by standard input, atomically")
    .addHelpText("after", examples("maestro state write notes.md < draft.md"))
    .action(async (path) => verdict(await writeState(io, path)));
  verb(state, "active", "print the active session, or 'No active session'")
    .addHelpText("after", examples("maestro state active"))
    .action(() => verdict(activeState(io)));

  const session = verb(maestro, "session", "create and change the session (for scripts)").addHelpText(
    "after",
    examples("maestro session create plan.md"),
  );
  verb(session, "create <plan>", "start a session that follows a plan")
    .option("--task <text>", "what the user asked for")
    .option("--mode <mode>", "parallel or sequential")
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "maestro session create .gemini/plans/2026-02-14-task-api-impl-plan.md",
        "maestro session create plan.md --mode sequential",
      ),
    )
    .action(async (plan, options) => verdict(await sessionCreate(io, plan, options)));
  verb(session, "transition <phase> <status>", "move a phase")
    .option("--user-decision", "the user has asked for it (skipping, aborting, retrying beyond the limit)")
    .option("--reason <text>", "why")
    .option("--handoff <file>", "what the agent handed over ('-' for standard input)")
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "maestro session transition 1 in_progress",
        "maestro session transition 1 completed --handoff report.md",
        "maestro session transition 3 skipped --user-decision",
      ),
    )
    .action(async (phase, to, options) => verdict(await sessionTransition(io, phase, to, options)));
  verb(session, "files <phase>", "record files that a phase created, modified or deleted")
    .option("--created <path...>", "new files")
    .option("--modified <path...>", "changed files")
    .option("--deleted <path...>", "removed files")
    .addOption(json())
    .addHelpText("after", examples("maestro session files 1 --created src/a.ts src/b.ts --deleted src/old.ts"))
    .action((phase, options) => verdict(sessionFiles(io, phase, options)));
  verb(session, "error <phase> <message>", "record an error of a phase")
    .addOption(new Option("--type <type>", "what kind of error").choices(errorTypes).default("runtime"))
    .option("--agent <agent>", "who met it (default: the phase's agent)")
    .option("--resolution <text>", "what was done about it", "pending")
    .addOption(json())
    .addHelpText("after", examples('maestro session error 1 "npm test fails" --type validation'))
    .action((phase, message, options) => verdict(sessionError(io, phase, message, options)));
  verb(session, "note <text>", "add a line to the session's log")
    .option("--phase <id>", "the phase it is about")
    .addOption(json())
    .addHelpText("after", examples('maestro session note "the user prefers small steps" --phase 2'))
    .action((text, options) => verdict(sessionNote(io, text, options)));
  verb(session, "mode <mode>", "record the chosen execution mode")
    .addOption(json())
    .addHelpText("after", examples("maestro session mode sequential"))
    .action((mode, options) => verdict(sessionMode(io, mode, options)));
  verb(session, "revise <plan>", "go on with a changed plan")
    .addOption(json())
    .addHelpText("after", examples("maestro session revise new-plan.md"))
    .action(async (plan, options) => verdict(await sessionRevise(io, plan, options)));
  verb(session, "complete", "complete the session; archive it unless MAESTRO_AUTO_ARCHIVE is off")
    .option("--summary <text>", "one paragraph about what was done")
    .addOption(json())
    .addHelpText("after", examples('maestro session complete --summary "All of it works."'))
    .action((options) => verdict(sessionComplete(io, options)));

  const agents = verb(maestro, "agents", "the roster of agents").addHelpText("after", examples("maestro agents check"));
  verb(agents, "check", "check that every agent has only the tools of its tier")
    .option("--quiet", "say nothing when all is well")
    .addOption(json())
    .addHelpText("after", examples("maestro agents check", "maestro agents check --json"))
    .action((options) => verdict(agentsCheck(io, options)));

  const handoff = verb(maestro, "handoff", "what agents hand over").addHelpText(
    "after",
    examples("maestro handoff check report.md"),
  );
  verb(handoff, "check <file>", "judge a hand-off ('-' for standard input)")
    .addOption(
      new Option("--format <format>", "what the file is (default: told from its content)").choices(handoffFormats),
    )
    .option("--no-dependents", "no phase waits for this one: a Downstream Context is not needed")
    .addOption(json())
    .addHelpText(
      "after",
      examples("maestro handoff check report.md", "gemini -o json < prompt | maestro handoff check - --json"),
    )
    .action(async (file, options) => verdict(await handoffCheck(io, file, options)));

  return maestro;
}

function command(made: Command): Command {
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

function verb(parent: Command, usage: string, description: string): Command {
  return command(parent.command(usage)).description(description);
}

function mainHelp(): string {
  const width = Math.max(...Object.keys(definitions).map((name) => name.length));
  const settings = Object.entries(definitions).map(([name, { default: value, meaning }]) => {
    const shown = String(value) === "" ? "" : ` [${value}]`;
    return `  ${name.padEnd(width)}  ${meaning}${shown}`;
  });
  return `
Settings (exported variable, then .env of the project, then .env of the extension, then the default):
${settings.join("\n")}

Exit codes:
  0 done   1 failed   2 usage or invalid plan   3 configuration or environment

Examples:
  maestro validate plan.md
  maestro session create plan.md
  maestro status`;
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

// Turns the table of verbs into commander commands that parse the command line.

import { Command, type CommanderError, Option } from "commander";
import { MaestroError } from "../errors.ts";
import { mainHelp } from "./help.ts";
import { refuseDecisionInsideAttempt } from "./inside-attempt.ts";
import type { Io } from "./io.ts";
import { type Verb, type VerbOption, verbName } from "./verb.ts";
import { verbs } from "./verb-table.ts";

declare const MAESTRO_VERSION: string;

/** Builds the command line; a verb's exit code goes to `onExitCode`. To start faster, only the verb that `called` names is built. */
export function program(io: Io, onExitCode: (code: number) => void, called?: string): Command {
  const maestro = strict(new Command("maestro"), io)
    .description("Multi-agent development orchestrator for terminal coding agents.")
    .version(MAESTRO_VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", mainHelp);
  if (called === "--version" || called === "-V") return maestro;
  const known = verbs.filter((verb) => verbName(verb) === called);
  for (const verb of known.length === 0 ? verbs : known) addVerb(maestro, verb, io, onExitCode);
  return maestro;
}

export function usageCodeOf(called: string | undefined): number | undefined {
  return verbs.find((verb) => verbName(verb) === called)?.usageCode;
}

function addVerb(parent: Command, verb: Verb, io: Io, onExitCode: (code: number) => void): void {
  const made = strict(parent.command(verb.usage), io).description(verb.summary);
  for (const option of verb.options ?? []) made.addOption(commandOption(option));
  made.addHelpText("after", `\nExamples:\n${verb.examples.map((line) => `  ${line}`).join("\n")}`);
  for (const below of verb.verbs ?? []) addVerb(made, below, io, onExitCode);
  const { run, isDecision } = verb;
  if (run === undefined) return;
  made.action(async (...args: unknown[]) => {
    // commander passes the arguments, the options, and the command itself.
    const given = args.slice(0, -1);
    const decides = typeof isDecision === "function" ? isDecision(made.opts()) : isDecision;
    if (decides) refuseDecisionInsideAttempt(io);
    onExitCode(await (await run(() => verbs))(io, ...given));
  });
}

export function commandOption({ flags, meaning, choices, default: value, isRepeatable, isHidden }: VerbOption): Option {
  const option = new Option(flags, meaning).hideHelp(isHidden === true);
  if (choices) option.choices(choices);
  if (value !== undefined) option.default(value);
  if (isRepeatable) option.argParser((given: string, before: string[] = []) => [...before, given]);
  return option;
}

/** Turns commander's usage errors into a MaestroError with the usage as its hint. */
function strict(made: Command, io: Io): Command {
  return made
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : usageError(made, error);
    })
    .configureOutput({ writeOut: io.out, writeErr: () => undefined })
    .allowExcessArguments(false);
}

function usageError(used: Command, { code, message }: CommanderError): MaestroError {
  if (code === "commander.help") {
    const choices = used.commands.map((child) => child.name()).join(", ");
    return new MaestroError("usage", `${used.name()} needs a command`, { hint: `Use one of: ${choices}.` });
  }
  const names: string[] = [];
  for (let at: Command | null = used; at !== null; at = at.parent) names.unshift(at.name());
  const said = message.replace(/^error: /, "").replace("\n", " ");
  const hint =
    code === "commander.unknownCommand"
      ? `List the commands with "${names.join(" ")} --help".`
      : `Usage: ${names.join(" ")} ${used.usage()}`;
  return new MaestroError("usage", said, { hint });
}

/** Rewrites `help guard check` to `guard check --help`. For an unknown verb it drops --help, so that the error names the verb. */
export function plainWords(maestro: Command, words: readonly string[]): string[] {
  const isHelp = (word: string) => word === "--help" || word === "-h";
  const plain: string[] = [];
  let at: Command | undefined = maestro;
  for (const [i, word] of words.entries()) {
    if (word.startsWith("-") || at.commands.length === 0) return [...plain, ...words.slice(i)];
    const asksHelp: boolean = word === "help" && !words.some(isHelp);
    if (asksHelp) return plainWords(maestro, [...plain, ...words.slice(i + 1).filter((one) => one !== "--"), "--help"]);
    at = at.commands.find((child) => child.name() === word);
    if (at === undefined) return words.filter((one) => !isHelp(one));
    plain.push(word);
  }
  // `maestro` alone prints the help.
  return plain.length === 0 ? ["--help"] : plain;
}

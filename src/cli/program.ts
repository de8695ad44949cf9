// The verbs of `maestro`: their arguments, options, help and examples. What they do is in the file of the verb.

import { Command, Option } from "commander";
import { errorTypes } from "../handoff/output/error-type.ts";
import { handoffFormats } from "../handoff/output/formats.ts";
import { command, examples, mainHelp, verb, whichWork } from "./command.ts";
import { refuseDecisionInsideAttempt } from "./inside-attempt.ts";
import type { Io } from "./io.ts";
import { collect, engineOptions } from "./run/engine-options.ts";

declare const MAESTRO_VERSION: string;

/** The command line over `io`; each verb hands its exit code to `verdict`. Of a verb that is called for, nobody needs the others. */
export function program(io: Io, verdict: (code: number) => void, called?: string): Command {
  const isWanted = (name: string) => called === undefined || called === name;
  const maestro = command(new Command("maestro"))
    .description("Multi-agent development orchestrator for terminal coding agents.")
    .version(MAESTRO_VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", mainHelp);

  const json = () => new Option("--json", "print the answer as JSON");
  /** A verb is read when it is called for: all of them together take longer than most of them run. */
  const does =
    <A extends unknown[]>(verb: () => Promise<(io: Io, ...args: A) => number | Promise<number>>) =>
    async (...args: unknown[]) => {
      // Behind what the user gave comes the command itself.
      const given = args.slice(0, -1) as A;
      verdict(await (await verb())(io, ...given));
    };

  if (isWanted("validate")) {
    verb(maestro, "validate <plan>", "check a plan and draw it")
      .addOption(json())
      .addHelpText(
        "after",
        examples("maestro validate .gemini/plans/2026-02-14-task-api-impl-plan.md", "maestro validate plan.md --json"),
      )
      .action(does(async () => (await import("./check-verbs.ts")).validate));
  }

  if (isWanted("run")) {
    engineOptions(verb(maestro, "run <plan>", "carry a plan out with agents, many at once"))
      .option("--task <text>", "what the user asked for")
      .option("--detach", "run in a process of its own that outlives this terminal")
      .option("--dry-run", "say what would be done, and do nothing")
      .addHelpText(
        "after",
        examples(
          "maestro run .gemini/plans/2026-02-14-task-api-impl-plan.md",
          "maestro run plan.md --mode parallel --max-concurrent 4 --timeout 20m",
          "maestro run plan.md --mode parallel --detach && maestro watch",
        ),
      )
      .action(does(async () => (await import("./engine-verbs.ts")).run));
  }

  if (isWanted("resume")) {
    engineOptions(verb(maestro, "resume", "go on with the session from where it stands"))
      .option("--detach", "run in a process of its own that outlives this terminal")
      .option("--accept-session", "run a session that you did not start on this machine")
      .option("--accept-plan-change", "go on with the plan as it is now, though it was changed after the start")
      .addHelpText("after", examples("maestro resume", "maestro resume --yes", "maestro resume --max-concurrent 2"))
      .action(does(async () => (await import("./engine-verbs.ts")).resume));
  }

  if (isWanted("rehearse")) {
    verb(maestro, "rehearse <plan>", "play a plan without a model: order, prompts, forecast")
      .addOption(new Option("--mode <mode>", "how phases are played").choices(["parallel", "sequential"]))
      .option("--max-concurrent <n>", "agents at the same time; 0: all that are ready")
      .option("--model <model>", "the model to forecast the cost with")
      .option("--seconds <n>", "how long the longest chain takes on stage", "8")
      .addOption(json())
      .addHelpText(
        "after",
        examples("maestro rehearse plan.md", "maestro rehearse plan.md --model gemini-2.5-pro --json"),
      )
      .action(does(async () => (await import("./engine-verbs.ts")).rehearse));
  }

  if (isWanted("watch")) {
    verb(maestro, "watch", "show a session that another process runs")
      .addOption(json())
      .addHelpText("after", examples("maestro watch", "maestro watch --json"))
      .action(does(async () => (await import("./show-verbs.ts")).watch));
  }

  if (isWanted("stop")) {
    verb(maestro, "stop", "end the running engine; the session can be resumed")
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .option("--force", "kill it; its agents end with it")
      .addOption(json())
      .addHelpText("after", examples("maestro stop", "maestro stop --force"))
      .action(does(async () => (await import("./engine-verbs.ts")).stop));
  }

  if (isWanted("retry")) {
    verb(maestro, "retry <phase>", "decide that a failed phase is tried again")
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .option("--timeout <time>", "give its attempts more time: 90s, 20m")
      .option("--reason <text>", "why")
      .addOption(json())
      .addHelpText("after", examples("maestro retry 3", 'maestro retry 3 --timeout 20m --reason "it was nearly done"'))
      .action(does(async () => (await import("./engine-verbs.ts")).retry));
  }

  if (isWanted("skip")) {
    verb(maestro, "skip <phase>", "decide that a phase is not done at all")
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .option("--reason <text>", "why")
      .addOption(json())
      .addHelpText("after", examples("maestro skip 3", 'maestro skip 3 --reason "done by hand"'))
      .action(does(async () => (await import("./engine-verbs.ts")).skip));
  }

  if (isWanted("verify")) {
    verb(maestro, "verify <phase>", "run the validation commands of a delegated phase and record the result")
      .option("--validation-timeout <time>", "limit of a validation command", "10m")
      .addOption(json())
      .addHelpText("after", examples("maestro verify 3", "maestro verify 3 --validation-timeout 30m --json"))
      .action(does(async () => (await import("./engine-verbs.ts")).verify));
  }

  if (isWanted("abort")) {
    verb(maestro, "abort", "end the session for good")
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .option("--reason <text>", "why")
      .addOption(json())
      .addHelpText("after", examples("maestro abort", 'maestro abort --reason "wrong approach"'))
      .action(does(async () => (await import("./engine-verbs.ts")).abort));
  }

  if (isWanted("logs")) {
    verb(maestro, "logs <phase>", "print what the agent of a phase said")
      .option("-f, --follow", "go on printing until the attempt has ended")
      .option("--attempt <n>", "which attempt (default: the last)")
      .option("--session <id>", "a session that was archived")
      .addOption(json())
      .addHelpText("after", examples("maestro logs 3", "maestro logs 3 -f", "maestro logs 3 --attempt 1"))
      .action(does(async () => (await import("./show-verbs.ts")).logs));
  }

  if (isWanted("diff")) {
    whichWork(verb(maestro, "diff <phase>", "show what an attempt changed, as a unified diff"))
      .option("--stat", "one line a file, with line counts")
      .addOption(json())
      .addHelpText(
        "after",
        examples("maestro diff 3", "maestro diff 3 --stat", "maestro diff 3 --attempt 1 | git apply"),
      )
      .action(does(async () => (await import("./engine-verbs.ts")).diff));
  }

  if (isWanted("apply")) {
    whichWork(verb(maestro, "apply <phase>", "merge what an attempt changed into the project as it is now"))
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .addOption(json())
      .addHelpText("after", examples("maestro apply 3", "maestro apply 3 --attempt 1 --session 2026-02-14-task-api"))
      .action(does(async () => (await import("./engine-verbs.ts")).apply));
  }

  if (isWanted("revert")) {
    whichWork(verb(maestro, "revert <phase>", "take what a phase changed out of the project; what came later stays"))
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .addOption(json())
      .addHelpText("after", examples("maestro revert 3", "maestro revert 3 --session 2026-02-14-task-api"))
      .action(does(async () => (await import("./engine-verbs.ts")).revert));
  }

  if (isWanted("report")) {
    verb(maestro, "report [session]", "what a session did, took and cost (default: the active or the last one)")
      .addOption(json())
      .addHelpText("after", examples("maestro report", "maestro report 2026-02-14-task-api --json"))
      .action(does(async () => (await import("./show-verbs.ts")).report));
  }

  if (isWanted("dispatch")) {
    verb(maestro, "dispatch <dispatch-dir>", "run the prompts of a directory, one agent each")
      .option("--pass-env <names>", "variables that agents get besides the allowed ones (A,B)", collect)
      .option("--grace <time>", "how long a stopped agent has to end", "5s")
      .addHelpText(
        "after",
        examples(
          "maestro dispatch .gemini/parallel/phase-2-batch-1",
          "MAESTRO_MAX_CONCURRENT=2 maestro dispatch batch",
        ),
      )
      .action(does(async () => (await import("./engine-verbs.ts")).dispatch));
  }

  if (isWanted("status")) {
    verb(maestro, "status", "show where the session stands")
      .addOption(json())
      .option("--conflicts", "also look for files and plans that changed behind the session's back")
      .addHelpText("after", examples("maestro status", "maestro status --json --conflicts"))
      .action(does(async () => (await import("./session-verbs.ts")).status));
  }

  if (isWanted("archive")) {
    verb(maestro, "archive", "end the session and put it away with its plans")
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .addOption(json())
      .addHelpText("after", examples("maestro archive", "maestro archive --json"))
      .action(does(async () => (await import("./engine-verbs.ts")).archive));
  }

  if (isWanted("doctor")) {
    verb(maestro, "doctor", "check this machine, the extension, the settings and the session")
      .addOption(json())
      .option("--fix", "set a broken session file aside, go on from what is left, and clear away what runs left behind")
      .addHelpText("after", examples("maestro doctor", "maestro doctor --fix"))
      .action(async (options) => {
        if (options.fix) refuseDecisionInsideAttempt(io);
        const { doctor } = await import("./check-verbs.ts");
        verdict(await doctor(io, options, verbNames(program(io, verdict))));
      });
  }

  if (isWanted("workspace")) {
    verb(maestro, "workspace [state-dir]", "make the state directory ready (default: MAESTRO_STATE_DIR)")
      .addHelpText("after", examples("maestro workspace", "maestro workspace .gemini"))
      .action(does(async () => (await import("./session-verbs.ts")).workspace));
  }

  if (isWanted("state")) {
    const state = verb(maestro, "state", "read and write state files").addHelpText(
      "after",
      examples("maestro state read .gemini/state/active-session.md"),
    );
    verb(state, "read <path>", "print a file of the project, byte for byte")
      .addHelpText("after", examples("maestro state read .gemini/state/active-session.md"))
      .action(does(async () => (await import("./session-verbs.ts")).readState));
    verb(state, "write <path>", "replace a file of the project by standard input, atomically")
      .addHelpText("after", examples("maestro state write notes.md < draft.md"))
      .action(does(async () => (await import("./session-verbs.ts")).writeState));
    verb(state, "active", "print the active session, or 'No active session'")
      .addHelpText("after", examples("maestro state active"))
      .action(does(async () => (await import("./session-verbs.ts")).activeState));
  }

  if (isWanted("session")) {
    const session = verb(maestro, "session", "create and change the session (for scripts)").addHelpText(
      "after",
      examples("maestro session create plan.md"),
    );
    session.hook("preAction", (_, action) => {
      if (action.name() !== "note") refuseDecisionInsideAttempt(io);
    });
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
      .action(does(async () => (await import("./session-verbs.ts")).sessionCreate));
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
      .action(does(async () => (await import("./session-verbs.ts")).sessionTransition));
    verb(session, "files <phase>", "record files that a phase created, modified or deleted")
      .option("--created <path...>", "new files")
      .option("--modified <path...>", "changed files")
      .option("--deleted <path...>", "removed files")
      .addOption(json())
      .addHelpText("after", examples("maestro session files 1 --created src/a.ts src/b.ts --deleted src/old.ts"))
      .action(does(async () => (await import("./session-verbs.ts")).sessionFiles));
    verb(session, "error <phase> <message>", "record an error of a phase")
      .addOption(new Option("--type <type>", "what kind of error").choices(errorTypes).default("runtime"))
      .option("--agent <agent>", "who met it (default: the phase's agent)")
      .option("--resolution <text>", "what was done about it", "pending")
      .addOption(json())
      .addHelpText("after", examples('maestro session error 1 "npm test fails" --type validation'))
      .action(does(async () => (await import("./session-verbs.ts")).sessionError));
    verb(session, "note <text>", "add a line to the session's log")
      .option("--phase <id>", "the phase it is about")
      .addOption(json())
      .addHelpText("after", examples('maestro session note "the user prefers small steps" --phase 2'))
      .action(does(async () => (await import("./session-verbs.ts")).sessionNote));
    verb(session, "mode <mode>", "record the chosen execution mode")
      .addOption(json())
      .addHelpText("after", examples("maestro session mode sequential"))
      .action(does(async () => (await import("./session-verbs.ts")).sessionMode));
    verb(session, "revise <plan>", "go on with a changed plan")
      .addOption(json())
      .addHelpText("after", examples("maestro session revise new-plan.md"))
      .action(does(async () => (await import("./session-verbs.ts")).sessionRevise));
    verb(session, "complete", "complete the session; archive it unless MAESTRO_AUTO_ARCHIVE is off")
      .option("--summary <text>", "one paragraph about what was done")
      .addOption(json())
      .addHelpText("after", examples('maestro session complete --summary "All of it works."'))
      .action(does(async () => (await import("./engine-verbs.ts")).sessionComplete));
  }

  if (isWanted("agents")) {
    const agents = verb(maestro, "agents", "the roster of agents").addHelpText(
      "after",
      examples("maestro agents check"),
    );
    verb(agents, "check", "check that every agent has only the tools of its tier")
      .option("--quiet", "say nothing when all is well")
      .addOption(json())
      .addHelpText("after", examples("maestro agents check", "maestro agents check --json"))
      .action(does(async () => (await import("./check-verbs.ts")).agentsCheck));
    verb(agents, "install-policies", "put the tiers into your own policies of Gemini CLI, where nothing overrules them")
      .hook("preAction", () => refuseDecisionInsideAttempt(io))
      .option("--remove", "take them back, but for files that were edited")
      .option("--dry-run", "say what would be done, and do nothing")
      .addOption(json())
      .addHelpText(
        "after",
        examples("maestro agents install-policies --dry-run", "maestro agents install-policies --remove"),
      )
      .action(does(async () => (await import("./check-verbs.ts")).installPolicies));
  }

  if (isWanted("guard")) {
    const guard = verb(maestro, "guard", "the judge of shell commands and file writes").addHelpText(
      "after",
      examples('maestro guard check "rm -rf node_modules"'),
    );
    verb(guard, "check [command]", "say whether agents may run a command (default or '-': standard input)")
      .option("--jsonl", "judge one JSON object a line: id, and command or tool_name and tool_input")
      .addOption(json())
      .addHelpText(
        "after",
        examples(
          'maestro guard check "npm test > test.log"',
          'maestro guard check "echo x > notes.md" --json',
          "maestro guard check --jsonl < calls.jsonl",
        ),
      )
      .action(does(async () => (await import("./check/guard.ts")).guardCheck));
  }

  if (isWanted("handoff")) {
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
      .action(does(async () => (await import("./check-verbs.ts")).handoffCheck));
  }

  // Help, an option, or a word that is no verb: then all of them have a part in the answer.
  return called !== undefined && maestro.commands.length === 0 ? program(io, verdict) : maestro;
}

/** `help guard check` asks what `guard check --help` asks; of a word that is no verb there is no help, and then the word is what matters. */
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
  // Without any words the help is the answer.
  return plain.length === 0 ? ["--help"] : plain;
}

/** Every verb with its words: "run", "session", "session create". */
export function verbNames(parent: Command): string[] {
  return parent.commands.flatMap((child) => [
    child.name(),
    ...verbNames(child).map((name) => `${child.name()} ${name}`),
  ]);
}

// maestro session ...: the operations on a session, for scripts.

import { errorTypes } from "../../handoff/output/error-type.ts";
import { reviewModes } from "../../session/event-parts.ts";
import { acceptOpen, json, reason } from "../options.ts";
import type { Verb } from "../verb.ts";

const operations = () => import("../session/session.ts");

export const session: Verb = {
  usage: "session",
  summary: "create and change the session (for scripts)",
  examples: ["maestro session create plan.md"],
  verbs: [
    {
      usage: "create <plan>",
      summary: "start a session from a plan",
      options: [
        { flags: "--task <text>", meaning: "what the user asked for" },
        { flags: "--mode <mode>", meaning: "parallel or sequential" },
        { flags: "--review <when>", meaning: "end, batch or phase", choices: reviewModes },
        json,
      ],
      examples: [
        "maestro session create .gemini/plans/2026-02-14-task-api-impl-plan.md",
        "maestro session create plan.md --mode sequential",
      ],
      isDecision: true,
      run: async () => (await operations()).sessionCreate,
    },
    {
      usage: "transition <phase> <status>",
      summary: "move a phase to another status",
      options: [
        { flags: "--user-decision", meaning: "the user asked for it (to skip, abort, or retry beyond the limit)" },
        reason,
        { flags: "--handoff <file>", meaning: "the agent's hand-off ('-' for standard input)" },
        json,
      ],
      examples: [
        "maestro session transition 1 in_progress",
        "maestro session transition 1 completed --handoff report.md",
        "maestro session transition 3 skipped --user-decision",
      ],
      isDecision: true,
      run: async () => (await operations()).sessionTransition,
    },
    {
      usage: "files <phase>",
      summary: "record files that a phase created, modified or deleted",
      options: [
        { flags: "--created <path...>", meaning: "new files" },
        { flags: "--modified <path...>", meaning: "changed files" },
        { flags: "--deleted <path...>", meaning: "removed files" },
        json,
      ],
      examples: ["maestro session files 1 --created src/a.ts src/b.ts --deleted src/old.ts"],
      isDecision: true,
      run: async () => (await operations()).sessionFiles,
    },
    {
      usage: "error <phase> <message>",
      summary: "record an error of a phase",
      options: [
        { flags: "--type <type>", meaning: "kind of error", choices: errorTypes, default: "runtime" },
        { flags: "--agent <agent>", meaning: "agent that caused the error (default: the phase's agent)" },
        { flags: "--resolution <text>", meaning: "what was done about it", default: "pending" },
        json,
      ],
      examples: ['maestro session error 1 "npm test fails" --type validation'],
      isDecision: true,
      run: async () => (await operations()).sessionError,
    },
    {
      usage: "note <text>",
      summary: "add a line to the session's log",
      options: [{ flags: "--phase <id>", meaning: "phase that the note is about" }, json],
      examples: ['maestro session note "the user prefers small steps" --phase 2'],
      run: async () => (await operations()).sessionNote,
    },
    {
      usage: "mode <mode>",
      summary: "record the chosen execution mode",
      options: [json],
      examples: ["maestro session mode sequential"],
      isDecision: true,
      run: async () => (await operations()).sessionMode,
    },
    {
      usage: "revise [plan]",
      summary: "continue with a changed plan (default: the session's own plan file, edited in place)",
      options: [
        { flags: "--patch <file>", meaning: "only the changed phases, as YAML or JSON ('-' for standard input)" },
        json,
      ],
      examples: [
        "maestro session revise",
        "maestro session revise new-plan.md",
        `echo '[{"id": 2, "validation": ["npm test"]}]' | maestro session revise --patch -`,
      ],
      isDecision: true,
      run: async () => (await import("../session/revise.ts")).sessionRevise,
    },
    {
      usage: "requirement <id> <verdict>",
      summary: "answer a requirement of the design: met, not_met or dropped",
      options: [{ flags: "--evidence <text>", meaning: "what proves it, or why it was dropped" }, json],
      examples: ['maestro session requirement REQ-1 met --evidence "npm test: 12 passed, among them test/api.test.ts"'],
      isDecision: true,
      run: async () => (await operations()).sessionRequirement,
    },
    {
      usage: "complete",
      summary: "complete the session; archive it unless MAESTRO_AUTO_ARCHIVE is off",
      options: [{ flags: "--summary <text>", meaning: "one paragraph about what was done" }, acceptOpen, json],
      examples: [
        'maestro session complete --summary "All of it works."',
        'maestro session complete --accept-open "REQ-3 comes with the next release"',
      ],
      isDecision: true,
      run: async () => (await import("../session/complete.ts")).sessionComplete,
    },
  ],
};

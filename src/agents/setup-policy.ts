// Generates the user policy that `maestro setup` installs: with it, Gemini CLI does not ask before Maestro's own reading and bookkeeping. A
// user policy overrides the denials of the extension: every rule is as narrow as it can be, and the tiers are repeated above. Pure.

import { tierRules } from "./policies.ts";
import { type PolicyRule, policyText } from "./policy-file.ts";

const ALLOW_PRIORITY = 100;
const ASK_PRIORITY = 200;

/** Tools that read the session or record what happened. Not `maestro_run`, `maestro_decide`: their question is the user's consent. */
const ownTools = [
  "maestro_session_read",
  "maestro_session_write",
  "maestro_validate_plan",
  "maestro_progress",
  "maestro_dispatch_status",
  "maestro_context_chain",
  "maestro_wait",
];

/** Verbs that print. Their arguments are words and options without a path. */
const readingVerbs = ["status", "report", "logs", "diff"];
/** The one option of these verbs that writes a file: `report --html Makefile` would replace the user's. */
const withoutFile = '(?![^"]* --html)';

/** `program`: the absolute path of maestro.js, as hooks name it. `skills`: the names of the extension's skills. */
export function setupPolicy(program: string, skills: readonly string[]): string {
  return policyText(
    [
      "Gemini CLI does not ask before these calls of Maestro: its reading and bookkeeping tools, its skills, its plans, its read-only commands.",
      "It still asks before agents start (maestro_run), before a decision, and before the commands of a plan run.",
    ],
    [...tierRules(), ...questions(), ...allowances(program, skills)],
  );
}

function questions(): PolicyRule[] {
  return [
    {
      why: "runs the commands of the plan",
      toolName: mcpName("maestro_validate_plan"),
      argsPattern: '"baseline":',
      decision: "ask_user",
      priority: ASK_PRIORITY,
    },
    {
      why: "decides for the user",
      toolName: mcpName("maestro_session_write"),
      argsPattern: '"user_decision":',
      decision: "ask_user",
      priority: ASK_PRIORITY,
    },
    {
      why: "completes a session although something is open",
      toolName: mcpName("maestro_session_write"),
      argsPattern: '"accept_open":',
      decision: "ask_user",
      priority: ASK_PRIORITY,
    },
  ];
}

function allowances(program: string, skills: readonly string[]): PolicyRule[] {
  const allow = { decision: "allow", priority: ALLOW_PRIORITY } as const;
  const verbs = `(${readingVerbs.join("|")})${withoutFile}(| [A-Za-z0-9_ -]*)`;
  return [
    { why: "reading and bookkeeping", toolName: ownTools.map(mcpName), ...allow },
    {
      why: "Maestro's skills",
      toolName: "activate_skill",
      argsPattern: argument("name", `(${skills.join("|")})`),
      ...allow,
    },
    {
      why: "plans and designs: a Markdown file directly in .gemini/plans, with no '..' in its path",
      toolName: ["write_file", "replace"],
      argsPattern: argument("file_path", '(?![^"]*\\.\\.)(|/[^"]{1,1000}/)\\.gemini/plans/[A-Za-z0-9_-]{1,200}\\.md'),
      ...allow,
    },
    {
      why: "commands that only print",
      toolName: "run_shell_command",
      argsPattern: argument("command", `maestro ${verbs}`),
      ...allow,
    },
    // Hooks name the program by its path. A path that a shell would have to quote keeps its question.
    ...(/^[\w./@+-]+$/.test(program)
      ? [
          {
            toolName: "run_shell_command",
            argsPattern: argument("command", `node ${program.replace(/[.+]/g, "\\$&")} ${verbs}`),
            ...allow,
          },
        ]
      : []),
  ];
}

/** Gemini CLI puts a NUL around each argument of a call, and in no other place: an object inside an argument cannot match. */
function argument(name: string, value: string): string {
  return `\\x00"${name}":"${value}"\\x00`;
}

function mcpName(tool: string): string {
  return `mcp_maestro_${tool}`;
}

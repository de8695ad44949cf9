// What the design documents require the TechLead's texts to say, with the number of each requirement. Only words that a requirement asks
// for are exact; around them the texts may change.

import { maestroTools } from "../../src/extension/vocabulary.ts";
import { headings, type RequiredProse, within } from "./prose-rule.ts";

export const agentNames = [
  "api-designer",
  "architect",
  "code-reviewer",
  "coder",
  "data-engineer",
  "debugger",
  "devops-engineer",
  "performance-engineer",
  "refactor",
  "security-engineer",
  "technical-writer",
  "tester",
];

const orchestrator = [
  ...within("GEMINI.md", null, [
    ["A19", "the startup checks come before the work", headings("Startup Checks", "Flow", "Execution Mode")],
    [
      "O194",
      "the Content Writing Rule follows the Execution Mode",
      /^## Execution Mode$[^#]+^## Content Writing Rule$/m,
    ],
    [
      "O208",
      "the TechLead leads, asks and escalates",
      /You are the TechLead/,
      /delegate the work/,
      /Design \(skill `design-dialogue`\)/,
      /user approves every step before the next/,
      /fail.*show the user.*ask: retry, skip, abort/,
    ],
  ]),
  ...within("GEMINI.md", "Startup Checks", [
    [
      "O193",
      "the four checks come in their order",
      [/^1\. \*\*Agents/m, /^2\. \*\*Settings/m, /^3\. \*\*Disabled Agent/im, /^4\. \*\*Workspace Readiness\*\*/m],
    ],
    [
      "A19, O193",
      "the workspace is made ready in the words of the design, and a failure stops everything",
      "**Workspace Readiness**: Invoke `./scripts/ensure-workspace.sh` with the resolved `MAESTRO_STATE_DIR` value via `run_shell_command`. If the script exits non-zero, present the error to the user and do not proceed with orchestration.",
    ],
  ]),
  ...within("GEMINI.md", "Settings Resolution", [
    [
      "E60",
      "both settings of the dispatch are listed with default and meaning",
      /^\| `MAESTRO_MAX_CONCURRENT` \| 0 \| \w.+ \|$/m,
      /^\| `MAESTRO_STAGGER_DELAY` \| 5 \| \w.+ \|$/m,
    ],
    ["E44", "settings have one precedence", [/exported/i, /project `\.env`/, /extension `\.env`/, /default/]],
  ]),
  ...within("GEMINI.md", "Execution Mode", [
    ["O196", "the user chooses, and knows what parallel means", /user chooses/, /approve all their own tool calls/],
    ["O198", "the mode holds for the session", /before the first phase/i, /holds for the (?:entire )?session/],
  ]),
  ...within("GEMINI.md", "Content Writing Rule", [
    [
      "O194",
      "content is written with write_file, programs are run with run_shell_command",
      "`write_file` for all structured content (YAML, Markdown, JSON, code)",
      /`run_shell_command`.*programs \(build, test, lint, dispatch, git\)/,
    ],
  ]),
  ...within("GEMINI.md", "MCP Tools Reference", [
    ["O207", "every tool is listed with when to use it", ...maestroTools.map(toolRow)],
    ["B27", "state is not read with read_file", /never `read_file` in the state directory/],
    ["X282, C17", "there is a way without the tools", /^Without them: .*`scripts\/read-active-session\.sh`/m],
  ]),
  ...within("GEMINI.md", "Hook-Aware Behavior", [
    [
      "O207",
      "what hooks add to a delegation, the prompts do not add again",
      /`invoke_agent`.*`Phase: <id>`/,
      /Hooks .*protocols.*project root.*context.*add none of that/,
    ],
  ]),
  ...within("GEMINI.md", "Updated Delegation Flow", [
    ["O207", "the flow uses the tools", /`maestro_progress`.*`maestro_context_chain`.*`invoke_agent`/],
  ]),
];

const execution = [
  ...within(skill("execution"), null, [
    [
      "O195",
      "the gate is the first thing, and the first action",
      /^# Execution\n+## Execution Mode Gate\n+.*\bfirst action/m,
    ],
    [
      "O209",
      "execution goes through the tools",
      "`maestro_session_read`",
      "`maestro_session_write`",
      "`maestro_dispatch_status`",
      "`maestro_validate_plan`",
      "`maestro_progress`",
    ],
  ]),
  ...within(skill("execution"), "Execution Mode Gate", [
    [
      "O196",
      "a preset mode is used and told, `ask` is asked and recorded",
      "`MAESTRO_EXECUTION_MODE`",
      /preset to `parallel` or `sequential`: use it and (?:say|log)/,
      [/^- `ask`: present/m, "**Option 1", "**Option 2", /Record .*`maestro_session_write`.*"execution_mode"/],
    ],
    ["O198", "the mode is for the whole session", /applies to the entire session/],
    [
      "O199",
      "the options are put in the words of the design, with the review of C41",
      [
        "**Option 1: Parallel Dispatch (faster)**\n",
        "- Parallelizable phases run as concurrent `gemini` CLI processes\n",
        "- Agents operate in autonomous mode (`--yolo`): all tool calls auto-approved without confirmation\n",
        "- You review results at the end\n",
        "- Best for: well-defined tasks with clear file ownership\n",
        "**Option 2: Parallel Dispatch, reviewed (as option 1, but)**\n",
        /^- (?:User reviews|You review) results after each batch, not during execution$/m,
        "**Option 3: Sequential Delegation (safer)**\n",
        /^- Each phase executes one at a time via `invoke_agent`$/m,
        "- Standard tool approval rules apply\n",
        "- Full visibility and control between phases\n",
        "- Best for: exploratory tasks, unfamiliar codebases, security-sensitive work\n",
      ],
    ],
  ]),
  ...within(skill("execution"), "Parallel", [
    ["O197", "the engine runs the whole plan", /`maestro_run`[\s\S]*whole plan/, "`maestro_wait`"],
    [
      "M174, M176, M177",
      "what the engine prints for a decision is shown as it is",
      /decision or a review: show .*as it is, ask, record the answer with `maestro_decide`/i,
    ],
  ]),
  ...within(skill("execution"), "When a phase fails", [
    ["M172", "a retry differs", /something changed|changes something/, /more context/, /narrower/, /the error itself/],
    [
      "M177",
      "when the retries are used up, a person decides between four ways",
      [/`MAESTRO_MAX_RETRIES`/, /present the error and ask/, /retry with changes, skip, abort, edit by hand/],
    ],
    [
      "M173, M174",
      "a timeout is shown with what was done, twice the time is suggested, the decision is recorded",
      [
        /timeout: show what was done/,
        /more time \((?:twice|2x)/,
        /skip/,
        /abort/,
        /Record the decision with `maestro_/,
      ],
    ],
    ["M175", "a file conflict is not resolved by a model", /file conflict: stop at once, resolve nothing, [^.]*ask/],
  ]),
  ...within(skill("execution"), "State File Access", [
    [
      "O201, B27",
      "state is read with the tools, or with read-state",
      ["`maestro_session_read`", "`maestro_dispatch_status`", "`maestro_session_write`", "`scripts/read-state.sh <"],
    ],
    [
      "B38",
      "write_file comes first, write-state is for piping",
      [/`write_file` writes/, /`scripts\/write-state\.sh <path>`[^.]*\bpip/],
    ],
  ]),
];

const delegation = [
  ...within(skill("delegation"), null, [
    ["O209", "context comes from the tool", "`maestro_context_chain`"],
    [
      "O208, P214",
      "who is for what is told of every agent",
      /Choose the agent/,
      ...agentNames.map((name) => `\`${name}\``),
    ],
  ]),
  ...within(skill("delegation"), "Injection Steps", [
    [
      "O204",
      "the injection steps are those of the design, to the byte",
      [
        "1. Read `protocols/agent-base-protocol.md`",
        "2. Read `protocols/filesystem-safety-protocol.md`",
        "3. Prepend both protocols to the delegation prompt (base protocol first, then filesystem safety) — these appear before the task-specific content",
        "4. For each phase listed in the current phase's `blocked_by`, read `phases[].downstream_context` from session state and include it in the prompt",
        "5. If any required `downstream_context` is missing, include an explicit placeholder noting the missing dependency context (never omit silently)\n",
      ].join("\n"),
    ],
  ]),
  ...within(skill("delegation"), "Prompts of your own", [
    [
      "H104",
      "the third step makes the directory, the fourth writes into it",
      [
        "3. Ensure the batch-specific dispatch directory exists before writing prompt files:\n   ```bash\n   mkdir -p <state_dir>/parallel/<batch-id>/prompts\n   ```\n",
        "4. Write each agent's full delegation prompt",
      ],
    ],
    ["H105", "a batch id has its form", /batch id: `phase-<N>-batch-<M>` or a (?:descriptive )?slug/i],
    [
      "H106, H110",
      "a batch is of one depth without overlap, and the next one waits",
      /same dependency depth without file overlap/,
      /next batch waits/,
    ],
    ["G102", "every prompt stands alone", /share no context/],
    [
      "H108",
      "the summary of a batch is read before the result of each agent",
      ["parallel-dispatch.sh", /`maestro_dispatch_status`.*batch_status/, /`agent_result` for each/],
    ],
    [
      "H111",
      "it falls back to sequential in four cases, and notes it",
      /Fall back to sequential.*`maestro_progress`/,
      /script is missing or not executable/,
      /`gemini` is not in PATH/,
      /all agents exit non-zero/,
      /exceeds `MAESTRO_AGENT_TIMEOUT` times/,
    ],
  ]),
  ...within(skill("delegation"), "Parallel Delegation", [
    [
      "O202",
      "agents are named as their files, which is checked",
      /Agent Name Rules/,
      /^- Prompt filenames .*hyphens, not underscores$/m,
      /^- .*filename .*`\.txt`.*agent.* in `agents\/`$/m,
      /^- The dispatch(?:er| script) .*rejects un/m,
    ],
  ]),
  ...within(skill("delegation"), "Absolute Paths", [
    [
      "O203",
      "the injected root is a fallback",
      /absolute paths/,
      /injected project root is a fallback.*not a substitute/,
    ],
  ]),
];

const designAndPlan = [
  ...within(skill("design-dialogue"), null, [
    [
      "O205",
      "a long design is approved section by section",
      /approv.*sections: problem, requirements, approach, architecture, team, risks, success criteria/,
    ],
  ]),
  ...[skill("design-dialogue"), "templates/design-document.md"].flatMap((file) =>
    within(file, null, [
      [
        "O205",
        "the form of a design has every section",
        headings("Problem", "Requirements", "Approach", "Architecture", "Team", "Risks", "Success Criteria"),
      ],
    ]),
  ),
  ...[skill("implementation-planning"), "templates/implementation-plan.md"].flatMap((file) =>
    within(file, null, [
      [
        "O206",
        "the form of a plan has every section",
        headings("Phases", "Dependency Graph", "Execution Strategy", "File Inventory", "Cost Estimation"),
        headings("Execution Profile"),
      ],
    ]),
  ),
  ...within(skill("implementation-planning"), null, [
    [
      "O200",
      "every plan gets its execution profile",
      /Fill "Execution Profile".*total phases.*in parallel.*batches.*wall time parallel and sequential.*`--yolo`/,
    ],
    [
      "K137",
      "a session is created when the plan is approved",
      [
        /Ask for approval/,
        /`maestro_session_write` `\{"action":"create".*"approved":true/,
        /sets `status: "approved"`/,
      ],
    ],
  ]),
  ...within("templates/implementation-plan.md", "Execution Profile", [
    [
      "O200",
      "the form of a plan has the profile",
      [/Total phases: \d/, /Paralleli[sz]able: \d/, /batches/, /wall time: .*parallel.*sequential/, /`--yolo`/],
    ],
  ]),
];

const sessions = [
  ...within(skill("session-management"), null, [
    [
      "L165",
      "directories are made where they are needed, as a fallback",
      /Create `<state_dir>\/state\/` if it does not exist: a fallback/,
      /creates? `<state_dir>\/plans\/archive\/` and `<state_dir>\/state\/archive\/` if they do not exist/i,
    ],
  ]),
  ...within(skill("session-management"), "State File Access", [
    [
      "O201, O209, B27, C17, C18",
      "sessions are read with the tools, or with the scripts",
      [
        "`maestro_session_read`",
        "`maestro_session_write`",
        "`scripts/read-active-session.sh`",
        "`scripts/read-state.sh`",
      ],
    ],
  ]),
  ...within(skill("session-management"), "Create", [
    ["K137", "no session before approval", /After the plan is approved: `maestro_session_write` create/],
    [
      "K138",
      "an active session is the user's to end",
      /refused while another session is active: ask .*resume.*archive/,
    ],
  ]),
  ...within(skill("session-management"), "Resume", [
    [
      "L168",
      "an unresolved error waits for one of four answers",
      [/Options: retry, skip, abort, adjust parameters/, /Wait for the answer/, /`maestro_decide`/],
    ],
    [
      "L170",
      "a resumed session is shown in its form",
      [
        "Session Resume: <",
        /^ *(?:1\. )?Phase <n>: </im,
        /^ *Error: </m,
        "[Yes - retry phase] [No - show options] [Skip phase]",
      ],
    ],
    ["L171", "an error that looks fixed is told", /each unresolved error check whether its cause is gone.*resolved/],
  ]),
  ...within(skill("session-management"), "Complete and archive", [
    [
      "L161",
      "without auto-archive the user is asked in the words of the design",
      "Session complete. Auto-archive is disabled. Would you like to archive this session?",
    ],
  ]),
  ...within("templates/session-state.md", null, [["J135", "no mode is chosen yet", /^execution_mode: null$/m]]),
];

const commands = [
  ...["status", "resume"].flatMap((name) =>
    within(`commands/maestro/${name}.toml`, null, [
      ["D43", "there is a way without the tools", "`scripts/read-active-session.sh`"],
      ["O212", "a project without a session is not a failure", /Without a session say/],
    ]),
  ),
  ...within("commands/maestro/orchestrate.toml", null, [
    [
      "K137",
      "the design is approved, then the plan with its session, then phases run",
      [/design-dialogue.*approved design/, /implementation-planning.*approved.*session created/, /Activate execution/],
    ],
  ]),
];

export const proseForTechLead: readonly RequiredProse[] = [
  ...orchestrator,
  ...execution,
  ...delegation,
  ...designAndPlan,
  ...sessions,
  ...commands,
];

function skill(name: string): string {
  return `skills/${name}/SKILL.md`;
}

function toolRow(name: string): RegExp {
  return new RegExp(`^\\| \`${name}\` \\| \\w.{8,} \\|$`, "m");
}

// What the design documents require every agent's texts to say, with the number of each requirement. Only words that a requirement asks for
// are exact; around them the texts may change.

import { headings, type RequiredProse, within } from "./prose-rule.ts";

const baseProtocol = "protocols/agent-base-protocol.md";
const safetyRules = [
  "Ensure Before Write",
  "Silent Success, Clear Failure",
  "Never Assume Directory State",
  "Path Construction",
  "Scope",
];

export const proseForAgents: readonly RequiredProse[] = [
  ...within(baseProtocol, null, [
    [
      "N180",
      "writing files stands between pre-flight and hand-off",
      headings("Pre-Flight Protocol", "File Writing Protocol", "Output Handoff Contract"),
    ],
  ]),
  ...within(baseProtocol, "File Writing Protocol", [
    [
      "N181",
      "no content by shell",
      /NEVER use `run_shell_command` to create or write file content.*`cat`, `printf`, `echo`, heredocs/,
    ],
    ["N182", "content by write_file and replace", /ALWAYS use `write_file` .*creat.*`replace` .*modify/],
    [
      "N183",
      "who has no write_file says so",
      /If `write_file` is not .*report.*limitation.*not attempt shell workarounds/,
    ],
    ["N184", "no exceptions", /^- No exceptions\.?$/m],
  ]),
  ...within("protocols/filesystem-safety-protocol.md", null, [
    [
      "N185",
      "there are five rules",
      safetyRules.map((name, at) => new RegExp(`^\\*\\*Rule ${at + 1} [-—] ${name}`, "m")),
    ],
    [
      "N186",
      "a missing parent directory is made",
      [/`mkdir -p`/, /A missing parent directory is not a reason to stop/],
    ],
    [
      "N188",
      "rules 2 to 5 say what they must",
      [/permission denied, disk full/, /blocker in the Task Report/, /phases run independently/i],
      [/full path before you write/, /project root exists and is writable/],
      /Applies to .*project directories/,
      /Applies to .*Maestro state directories/,
      /Applies to .*archive operations/,
    ],
  ]),
];

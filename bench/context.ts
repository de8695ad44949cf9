// Prints what a standard run of three phases costs the conversation in tokens (a quarter of the characters): the context file, the
// instructions that it reads, the published tools, and the answers of the tools, called in the order of the skills.

import { rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { budget } from "../src/extension/budget.ts";
import { McpServer } from "./support/mcp-server.ts";
import { report } from "./support/measure.ts";
import { commitAll, makeProject } from "./support/workload.ts";

/** Read in a standard parallel run; the others only when something fails or is delegated by hand. */
const usual = ["design-dialogue", "implementation-planning", "execution", "code-review", "session-management"];
/** The same figures at c3fb2ed, before maestro_run and maestro_wait: a shell command started the engine, and the lead polled once. */
const before = { context: 878, read: 4090, answers: 1377 };
/** The most that one answer may have, unless all of it is asked for. */
const MAX_ANSWER_CHARS = 1500;

const { parts } = budget(process.cwd());
const tokensOf = (wanted: (file: string) => boolean) =>
  parts.filter(({ file }) => wanted(file)).reduce((sum, { tokens }) => sum + tokens, 0);
report(
  `CONTEXT.md, in every conversation and agent (was ${before.context})`,
  tokensOf((file) => file === "CONTEXT.md"),
  "tokens",
  50,
);
report(
  "GEMINI.md, with a command that leads work",
  tokensOf((file) => file === "GEMINI.md"),
  "tokens",
  900,
);
const isRead = (file: string) =>
  file === "commands/maestro/orchestrate.toml" || usual.some((name) => file === `skills/${name}/SKILL.md`);
report(`command and skills of a standard run (was ${before.read})`, tokensOf(isRead), "tokens", 3600);
report(
  "published tools",
  tokensOf((file) => file.startsWith("dist/")),
  "tokens",
);

const phases = ["1", "2", "3"].map((id) => ({ id, blocked_by: id === "3" ? ["1", "2"] : [], seconds: 1 }));
const project = makeProject(phases, "cat >/dev/null");
commitAll(project);
const path = [join(project, "bin"), process.env.PATH].join(delimiter);
const server = new McpServer(project, [], { PATH: path, MAESTRO_STAGGER_DELAY: "0" });
await server.initialize();
const answers: [call: string, chars: number][] = [];
const call = async (name: string, args: object) => {
  const text = await server.call(name, args);
  answers.push([name, text.length]);
  return text;
};
const plan = { plan_path: "plan.md" };
await call("maestro_session_read", {});
await call("maestro_validate_plan", plan);
await call("maestro_validate_plan", { ...plan, baseline: true, write: true });
const created = { action: "create", ...plan, task: "bench", approved: true, execution_mode: "parallel", review: "end" };
await call("maestro_session_write", created);
await call("maestro_run", { mode: "parallel", review: "end" });
for (let waits = 0; waits < 20; waits++) {
  if (/"ended": ?"(?:end|decision)"/.test(await call("maestro_wait", { seconds: 60 }))) break;
}
await call("maestro_session_read", {});
await call("maestro_session_write", { action: "complete", summary: "Done." });
await server.end();
rmSync(project, { recursive: true });
report(
  `answers of ${answers.length} tool calls (was ${before.answers})`,
  answers.reduce((sum, [, chars]) => sum + chars, 0) / 4,
  "tokens",
);
const [longest, most] = answers.reduce((a, b) => (b[1] > a[1] ? b : a));
report(`the longest answer (${longest})`, most, "characters", MAX_ANSWER_CHARS);

// An agent that speaks the Agent Client Protocol as a runtime. A bridge of ours (src/acp) starts it, speaks the protocol, and prints the
// events that are read here.

import { MaestroError } from "../../errors.ts";
import { isObject } from "../../shape.ts";
import {
  countOf,
  type EventTable,
  member,
  type Said,
  streamJudge,
  streamProgress,
  streamShown,
  wordsOf,
} from "../event-stream.ts";
import { quotaSign } from "../quota.ts";
import type { Ending, Outcome, Runtime } from "../runtime.ts";
import { splitWords } from "../words.ts";

const PREFIX = "acp:";
/** Longer names are not recorded. */
const NAME = /^acp:[ -~]{1,190}$/;

/** What the bridge prints, one event per line. */
export type BridgeEvent =
  | { type: "text"; text: string }
  | { type: "call"; tool: string; input: string }
  | { type: "failed"; message: string }
  | { type: "error"; message: string }
  | { type: "usage"; usage: AgentUsage[] }
  | { type: "end"; good: boolean };

export interface AgentUsage {
  model: string | null;
  input: number;
  cached: number;
  output: number;
  thoughts: number;
}

const events: EventTable = {
  text: ({ text }) => [{ kind: "text", text: wordsOf(text) }],
  call: ({ tool, input }) => [{ kind: "call", tool: wordsOf(tool), input: wordsOf(input) }],
  failed: ({ message }) => [{ kind: "failed", message: wordsOf(message) }],
  error: ({ message }) => [{ kind: "problem", message: wordsOf(message) }],
  usage: ({ usage }) => [{ kind: "usage", usage: Array.isArray(usage) ? usage.filter(isObject).map(counted) : [] }],
  end: ({ good }): Said[] => [{ kind: "end", isGood: good === true }],
};

function counted(usage: Record<string, unknown>): AgentUsage {
  const count = (name: string) => countOf(member(usage, name));
  const model = wordsOf(usage.model).slice(0, 200) || null;
  return {
    model,
    input: count("input"),
    cached: count("cached"),
    output: count("output"),
    thoughts: count("thoughts"),
  };
}

export function isAcpName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * `bridge`: the words that start the bridge. `relatives`: runtimes of which an agent may be another face, such as `gemini --acp`: it gets the
 * variables of its vendor.
 */
export function acpRuntime(name: string, bridge: readonly string[], relatives: readonly Runtime[]): Runtime {
  const [program = "", ...args] = wordsIn(name);
  const own = program.split("/").at(-1) ?? "";
  const relative = relatives.find((one) => new RegExp(`(?:^|[^a-z])${one.program}(?:[^a-z]|$)`).test(own));
  const facts = { label: own, events, signIn: `Start ${own} once in a terminal and sign in.` };
  const judge = streamJudge(facts);
  return {
    name,
    program,
    host: bridge,
    callsModel: true,
    install: relative?.install ?? "See its documentation.",
    unattended: "",
    argv: ({ tier, model }) => [tier, model ?? "", ...args],
    payload: (prompt) => prompt,
    environment: relative?.environment ?? {},
    vendor: relative?.vendor ?? /(?!)/,
    // Without a relative nothing is known of its home; Gemini CLI describes none.
    ...(relative === undefined ? { home: [] } : relative.home === undefined ? {} : { home: relative.home }),
    ...(relative === undefined ? {} : { account: relative.name, credentials: relative.credentials ?? [] }),
    envFiles: relative?.envFiles ?? [],
    pinned: relative?.pinned ?? [],
    distrust: relative?.distrust ?? {},
    capabilities: {
      tiers: ["full"],
      heldBy: "answers to its requests for permission; the agent decides when to ask",
      turnLimit: null,
      budget: null,
      streams: "words and calls",
      tokens: "at the end, as the agent counts them: some agents count only their last call",
      atOnce: relative?.capabilities.atOnce ?? null,
      limits: [
        "the tier is not enforced for a tool that the agent uses without asking",
        "some agents report a failure of their model as an answer",
      ],
    },
    judge: (ending) => withoutHiddenFailure(judge, ending),
    progress: streamProgress(facts),
    shown: streamShown(facts),
    quotaSign,
  };
}

function wordsIn(name: string): string[] {
  const words = splitWords(name.slice(PREFIX.length));
  const problem = "error" in words ? words.error : words.length === 0 ? "the command is missing" : null;
  if (problem === null && !("error" in words) && NAME.test(name)) return words;
  throw new MaestroError(
    "usage",
    `Cannot use the runtime ${JSON.stringify(name)}: ${problem ?? "the name is not plain"}`,
    {
      hint: 'Write "acp:" and the command that starts the agent, at most 190 characters of ASCII: "acp:gemini --acp".',
    },
  );
}

const MAX_FAILURE_CHARS = 2_000;
/** How agents begin an answer that is the error of their model. */
const failureSigns =
  /^\s*(?:(?:info|warning):[^\n]*\n\s*)*(?:api )?error\b|\bran into this error\b|^\s*(?:http )?[45]\d\d\b/i;

/** Some agents end their turn well although their model failed, with the error as text. A report is never taken for one. */
function withoutHiddenFailure(judge: (ending: Ending) => Outcome, ending: Ending): Outcome {
  const outcome = judge(ending);
  const { kind, text } = outcome;
  if (kind !== "success" || text.length > MAX_FAILURE_CHARS || /task report/i.test(text) || !failureSigns.test(text))
    return outcome;
  const told: BridgeEvent[] = [
    { type: "error", message: text.trim() },
    { type: "end", good: false },
  ];
  const stdout = `${ending.stdout}\n${told.map((event) => JSON.stringify(event)).join("\n")}\n`;
  return judge({ exitCode: ending.exitCode, killed: ending.killed, stdout, stderr: ending.stderr });
}

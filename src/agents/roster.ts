// The roster: reads and checks agents/*.md as Gemini CLI does, so that a file that loads here loads there. Never writes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import { splitFrontMatter } from "../front-matter.ts";
import * as z from "../schema.ts";
import { readYaml } from "../yaml.ts";
import { normalizeAgentName } from "./names.ts";
import { agentTiers, type Tier, tierOf } from "./tiers.ts";
import { canonicalTool } from "./tools.ts";

// checkPermissions checks the tool names, because it can name the wrong one.
const frontMatterSchema = z.once(() => {
  const text = z.optional(z.string());
  const positive = z.optional(z.int().check(z.positive()));
  return z.strictObject({
    name: z.string().check(z.regex(/^[a-z0-9_-]+$/, "only a-z, 0-9, hyphen and underscore are allowed")),
    description: z.string().check(z.minLength(1)),
    kind: z.optional(z.literal("local")),
    display_name: text,
    tools: z.optional(z.array(z.string())),
    mcp_servers: z.optional(z.record(z.string(), z.record(z.string(), z.unknown()))),
    model: text,
    temperature: z.optional(z.number()),
    max_turns: positive,
    timeout_mins: positive,
  });
});

type FrontMatter = z.infer<ReturnType<typeof frontMatterSchema>>;

export type Agent = Omit<FrontMatter, "kind" | "display_name" | "mcp_servers"> & {
  /** From the table for the twelve, otherwise from its tools. */
  tier: Tier;
  file: string;
  /** The persona. */
  body: string;
};

/** A file that did not become an agent; `tools` is what it lists nevertheless. */
export type RosterProblem = { file: string; agent: string; reason: string; tools?: string[] | undefined };

/** Both lists are sorted by file name; `exists` is false when the folder does not exist. */
export type Roster = { exists: boolean; agents: Agent[]; problems: RosterProblem[] };

type Refusal = Pick<RosterProblem, "reason" | "tools">;

export function loadRoster(agentsDir: string): Roster {
  const fileNames = listAgentFiles(agentsDir);
  const roster: Roster = { exists: fileNames !== undefined, agents: [], problems: [] };
  for (const fileName of fileNames ?? []) {
    const file = join(agentsDir, fileName);
    const agent = normalizeAgentName(fileName.slice(0, -".md".length));
    const read = readAgent(file, agent);
    const twin = roster.agents.find(({ name }) => name === agent);
    if ("reason" in read) roster.problems.push({ file, agent, ...read });
    else if (twin) roster.problems.push({ file, agent, reason: `${twin.file} is the same agent`, tools: read.tools });
    else roster.agents.push(read);
  }
  return roster;
}

function listAgentFiles(agentsDir: string): string[] | undefined {
  try {
    return readdirSync(agentsDir, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".md") && !entry.name.startsWith("_"))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (errno(error) === "ENOENT") return undefined;
    throw new MaestroError("environment", `Cannot read the agents in ${agentsDir}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

function readAgent(file: string, agent: string): Agent | Refusal {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return { reason: `the file cannot be read: ${reasonOf(error)}` };
  }
  return parseAgent(text, file, agent);
}

// Stricter than splitFrontMatter: the CLI treats a file that does not match this as one without front matter.
const geminiFences = /^---\r?\n[\s\S]*?\r?\n---(?:\r?\n|$)/;

function parseAgent(text: string, file: string, agent: string): Agent | Refusal {
  const halves = splitFrontMatter(text);
  if (halves === undefined) return { reason: "the file does not open with YAML between two --- lines" };

  const read = readYaml(halves.yaml);
  if (!("value" in read)) return { reason: `YAML, line ${read.line}: ${read.problem}` };
  const checked = frontMatterSchema().safeParse(read.value);
  if (!checked.success) return { reason: reasonsOf(checked.error), tools: listedTools(read.value) };

  if (!geminiFences.test(text)) {
    return { reason: "Gemini CLI requires bare --- lines and no byte order mark", tools: checked.data.tools };
  }
  const { kind, display_name, mcp_servers, ...kept } = checked.data;
  if (normalizeAgentName(kept.name) !== agent) {
    return { reason: `name is "${kept.name}", the file name says "${agent}"`, tools: kept.tools };
  }
  const tools = kept.tools?.map(canonicalTool);
  return {
    ...kept,
    name: agent,
    ...(tools && { tools }),
    tier: agentTiers.get(agent) ?? tierOf(tools),
    file,
    body: halves.body.trim(),
  };
}

function reasonsOf(error: z.core.$ZodError): string {
  return error.issues.map((issue) => [issue.path.join("."), issue.message].filter(Boolean).join(": ")).join("; ");
}

function listedTools(data: unknown): string[] | undefined {
  return z.object({ tools: z.array(z.string()) }).safeParse(data).data?.tools;
}

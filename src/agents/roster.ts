// The roster: reads and checks agents/*.md as Gemini CLI does, so that a file that loads here loads there. Never writes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import { splitFrontMatter } from "../front-matter.ts";
import * as is from "../shape.ts";
import { readYaml } from "../yaml.ts";
import { normalizeAgentName } from "./names.ts";
import type { BrokenAgent } from "./resolve.ts";
import { agentTiers, type Tier, tierOf } from "./tiers.ts";
import { canonicalTool } from "./tools.ts";

// checkPermissions checks the tool names, because it can name the wrong one.
const positive = is.optional(is.integer(1));
const fields = {
  name: is.matching(/^[a-z0-9_-]+$/, "only a-z, 0-9, hyphen and underscore"),
  description: is.matching(/[\s\S]/, "a text that is not empty"),
  kind: is.optional(is.only("local")),
  display_name: is.optional(is.anyText),
  tools: is.optional(is.list(is.anyText)),
  mcp_servers: is.optional(is.record(is.anyText, is.record(is.anyText, is.anything))),
  model: is.optional(is.anyText),
  temperature: is.optional(is.finite),
  max_turns: positive,
  timeout_mins: positive,
};

type FrontMatter = is.TypeOfFields<typeof fields>;

export type Agent = Omit<FrontMatter, "kind" | "display_name" | "mcp_servers"> & {
  /** From the table for the twelve, otherwise from its tools. */
  tier: Tier;
  file: string;
  /** The persona. */
  body: string;
};

/** A file that did not become an agent; `tools` is what it lists nevertheless. */
export type RosterProblem = BrokenAgent & { tools?: string[] | undefined };

/** The names of all agent files, whether they can be used or not. */
export function agentFileNames({ agents, problems }: Roster): string[] {
  return [...new Set([...agents.map(({ name }) => name), ...problems.map(({ agent }) => agent)])].sort();
}

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
  const faults = is.allFaults(fields, read.value);
  if (faults.length > 0)
    return {
      reason: faults.map((fault) => is.faultText(fault, "the front matter")).join("; "),
      tools: listedTools(read.value),
    };
  const frontMatter = read.value as FrontMatter;

  if (!geminiFences.test(text)) {
    return { reason: "Gemini CLI requires bare --- lines and no byte order mark", tools: frontMatter.tools };
  }
  const { kind, display_name, mcp_servers, ...kept } = frontMatter;
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

function listedTools(data: unknown): string[] | undefined {
  const { tools } = is.isObject(data) ? data : {};
  return fields.tools(tools) === undefined ? (tools as string[]) : undefined;
}

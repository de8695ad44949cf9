// What one phase is about, in the words of the plan: objective, files, validation, and the phases that build on it.

import { agentTiers } from "../agents/tiers.ts";
import { criteriaOf, isClosed, type Session, type SessionPhase } from "../session/session.ts";
import { stripControls } from "../text.ts";
import { bullet, clipText, promptLine } from "./data.ts";

const MAX_CONSUMERS = 20;
const SPARED = " (unless it failed before your work: then it must not fail in a new place)";
const MAX_CONSUMER_CHARS = 300;

/** `canAsk`: whether the agent has the tool that grants more files. */
export function taskText(session: Session, phase: SessionPhase, canAsk: boolean): string {
  return [
    `# Task: ${promptLine(phase.name)}`,
    progress(session, phase),
    `## Objective\n\n${stripControls(phase.plan?.description ?? phase.name).trim()}`,
    overallTask(session),
    `## Files\n\n${files(phase, canAsk)}`,
    `## Validation\n\n${validation(phase)}`,
    `## Who builds on this\n\n${consumers(session, phase)}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function progress(session: Session, phase: SessionPhase): string {
  const position = (session.index.get(phase.id) ?? 0) + 1;
  const done = session.phases.filter(isClosed).length;
  const others = [...session.running].filter((id) => id !== phase.id).length;
  return `Phase ${position} of ${session.total_phases} of "${promptLine(session.title)}". Done: ${done}. Running beside this one: ${others}.`;
}

function overallTask({ task }: Session): string {
  const text = stripControls(task ?? "").trim();
  return text === ""
    ? ""
    : `## The user's overall task\n\n${text}\n\nYour part of it is the objective above, and no more.`;
}

function files(phase: SessionPhase, canAsk: boolean): string {
  const { plan, granted } = phase;
  if (plan === undefined) {
    return "The plan of this session is not on record, so no file is declared. Change only what the objective requires, and list every change in your report.";
  }
  const lists = [
    fileList("create", plan.files_created),
    fileList("modify", plan.files_modified),
    fileList("delete", plan.files_deleted),
    fileList("change, granted on request", granted),
  ];
  const rest = lists.every((list) => list === "")
    ? "The plan gives this phase no files: create, modify and delete none. Your result is your report."
    : "Nothing else may be created, modified or deleted: other phases own it, and may be working on it now.";
  return [...lists, `${rest}${wayOut(phase, canAsk)}`].filter((text) => text !== "").join("\n\n");
}

/** What an agent that writes can do when the objective needs more. */
function wayOut({ agents }: SessionPhase, canAsk: boolean): string {
  const tier = agentTiers.get(agents[0] ?? "");
  if (tier === "read-only" || tier === "read-shell") return "";
  if (!canAsk) return " If the objective needs more, leave it and name it in your report.";
  return " If the objective needs more, ask for it with `maestro_request_scope` first; what you are not granted, leave and name in your report.";
}

function fileList(what: string, paths: readonly string[]): string {
  return paths.length === 0 ? "" : [`You may ${what}:`, ...paths.map((path) => `- ${promptLine(path)}`)].join("\n");
}

function validation(phase: SessionPhase): string {
  const criteria = criteriaOf(phase);
  const commands = phase.plan?.validation ?? [];
  const wanted =
    criteria.length === 0
      ? "The plan names no criteria: the objective is the measure."
      : ["This must be true when you are done:", ...criteria.map(bullet)].join("\n");
  const checked =
    commands.length === 0
      ? "No command runs after you. Check each point yourself, and say how in your report."
      : [
          "After you, Maestro runs these commands in the project root; each must exit with 0:",
          ...commands.map((command) => bullet(`${command}${phase.plan?.not_worse?.includes(command) ? SPARED : ""}`)),
          "Run them yourself before you report, if your tools allow it, and report what came out.",
        ].join("\n");
  return `${wanted}\n\n${checked}`;
}

function consumers(session: Session, phase: SessionPhase): string {
  const waiting = session.phases.filter((other) => other.blocked_by.includes(phase.id));
  if (waiting.length === 0)
    return "No phase waits for this one. `none` will do in every field of the Downstream Context.";
  const more = waiting.length - MAX_CONSUMERS;
  return [
    "These phases wait for your work. All they learn from you is your Downstream Context:",
    ...waiting.slice(0, MAX_CONSUMERS).map(consumer),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join("\n");
}

function consumer({ id, name, agents, plan }: SessionPhase): string {
  const does = clipText(promptLine(plan?.description ?? ""), MAX_CONSUMER_CHARS);
  return bullet(`Phase ${id}, ${promptLine(name)} (${agents.join(", ")})${does === "" ? "" : `: ${does}`}`);
}

// The ids of phases, sessions, attempts, trees and commits: what each looks like, and a type for each, so that none is taken for another.
// The types cost nothing at run time: a value is the text itself, checked once where it comes in.

declare const kind: unique symbol;

declare global {
  /** Filled in by `test/support/ids.d.ts`, so that tests write ids as plain text. `tsconfig.src.json` checks the sources without it. */
  interface IdRules {
    readonly version: 1;
  }
}

type Id<Kind extends string> = string &
  (IdRules extends { plainText: true } ? { readonly [kind]?: Kind } : { readonly [kind]: Kind });

export type PhaseId = Id<"phase">;
export type SessionId = Id<"session">;
/** `<agent>.p<phase>-<attempt>`: what the files of an attempt are called. */
export type AttemptId = Id<"attempt">;
export type TreeId = Id<"tree">;
export type CommitId = Id<"commit">;
/** Where git takes either: a commit stands for its tree. */
export type ObjectId = TreeId | CommitId;

export const phaseIdForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Names files and directories, so it is one component of a path and nothing else. */
export const sessionIdForm = /^[\p{L}\p{N}_][^\p{C}/\\]{0,199}$/u;
/** What a worker calls itself. */
export const workerNameForm = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** What a worker offers and a phase may need, such as `gpu`. It is part of a queue's name. */
export const labelForm = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
/** One component of a path. */
export const attemptIdForm = /^[A-Za-z0-9_][\w.-]{0,254}$/;
/** Of SHA-1 or SHA-256, and never abbreviated: these reach git's command line. */
export const objectIdForm = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

export function isPhaseId(text: string): text is PhaseId {
  return phaseIdForm.test(text);
}

export function isSessionId(text: string): text is SessionId {
  return sessionIdForm.test(text);
}

export function attemptId(agent: string, phase: PhaseId, attempt: number): AttemptId {
  return `${workLabel(agent, phase)}-${attempt}` as AttemptId;
}

/** `<agent>.p<phase>`: how the ids of all attempts of an agent at a phase begin. */
export function workLabel(agent: string, phase: PhaseId): string {
  return `${agent}.${phaseLabel(phase)}`;
}

/** Names the files of work on a phase that no attempt of an agent did. */
export function phaseLabel(phase: PhaseId): AttemptId {
  return `p${phase}` as AttemptId;
}

/** The parts of an attempt's id; only the agent is known when the rest has another form. */
export function readAttemptId(id: string): { agent: string; phase?: PhaseId; attempt?: number } {
  const [agent = "", ...label] = id.split(".");
  const [, phase, attempt] = /^p(.+)-(\d{1,6})$/.exec(label.join(".")) ?? [];
  return phase === undefined ? { agent } : { agent, phase: phase as PhaseId, attempt: Number(attempt) };
}

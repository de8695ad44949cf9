// `maestro` on a terminal of its own, from util-linux: what is typed is answered with what is shown.

import { existsSync } from "node:fs";
import { until } from "./processes.ts";
import { maestroPath, type Project } from "./project.ts";

export const hasTerminal = existsSync("/usr/bin/script");

export function onTerminal(project: Project, args: readonly string[], env: Record<string, string> = {}) {
  const command = [process.execPath, maestroPath, ...args].map((word) => `'${word}'`).join(" ");
  const child = project.start("script", ["-qefc", command, "/dev/null"], { TERM: "xterm", ...env });
  let shown = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk) => (shown += chunk));
  const ended = new Promise<{ code: number | null; shown: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, shown: shown.replaceAll("\r\n", "\n") })),
  );
  /** Types when the question is asked after the last one. */
  const answer = async (question: string, typed: string) => {
    const at = await until(question, () => {
      const found = shown.indexOf(question, seen);
      return found === -1 ? undefined : found + question.length;
    });
    seen = at;
    child.stdin.write(typed);
  };
  return { answer, ended };
}

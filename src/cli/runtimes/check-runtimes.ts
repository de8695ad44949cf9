// maestro runtimes --check: runs a tiny task with a program and the real account, in a directory of its own, and reports the result.

import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseJson } from "../../handoff/output/json.ts";
import { DEFAULT_RUNTIME } from "../../runtimes/runtime-table.ts";
import { definitions, type SettingName } from "../../settings.ts";
import { isObject } from "../../shape.ts";
import { oneLine } from "../../views/text/cell.ts";
import type { Io } from "../io.ts";

const plan = {
  title: "Check of a runtime",
  phases: [
    {
      id: 1,
      title: "Answer",
      agent: "coder",
      description: "Change nothing. Answer with a Task Report that says that you are ready.",
      validation_criteria: ["a Task Report"],
    },
  ],
};
const words = ["run", "plan.md", "--yes", "--keep-open", "--mode", "sequential", "--isolation", "none"];
const limits = ["--timeout", "3m", "--quota-wait", "0", "--grace", "2s"];

/** The settings that say how the program itself is started. */
const kept: ReadonlySet<string> = new Set<SettingName>([
  "MAESTRO_PASS_ENV",
  "MAESTRO_DEFAULT_MODEL",
  "MAESTRO_GEMINI_EXTRA_ARGS",
]);

/** A check is about this program on this machine: settings that name another one, a sandbox or workers are for real runs. */
function environmentOfCheck(env: Io["env"]): Io["env"] {
  const passed = Object.entries(env).filter(([name]) => !Object.hasOwn(definitions, name) || kept.has(name));
  return {
    ...Object.fromEntries(passed),
    ...{ MAESTRO_MAX_RETRIES: "0", MAESTRO_STATE_DIR: ".gemini", MAESTRO_SANDBOX: "false" },
    // About another agent than that of the check: so that no other file names a runtime for it.
    MAESTRO_RUNTIMES: `architect=${DEFAULT_RUNTIME}`,
  };
}

/** Null when it did its task; otherwise why not. */
export async function failureOfCheck(io: Io, runtime: string): Promise<string | null> {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "maestro-check-"));
  const forget = io.beforeSignalEnds(() => rmSync(directory, { recursive: true, force: true }));
  try {
    writeFileSync(join(directory, "plan.md"), `---\n${JSON.stringify(plan)}\n---\n`);
    const env = environmentOfCheck(io.env);
    const run = await maestro([...words, ...limits, "--runtime", runtime], directory, env);
    if (run.code === 0) return null;
    const report = parseJson((await maestro(["report", "--json"], directory, env)).stdout);
    return oneLine(lastError(report) ?? firstLine(run.stderr));
  } finally {
    rmSync(directory, { recursive: true, force: true });
    forget();
  }
}

function lastError(report: unknown): string | undefined {
  const errors: unknown[] = isObject(report) && Array.isArray(report.unresolved_errors) ? report.unresolved_errors : [];
  const last = errors.at(-1);
  return isObject(last) && typeof last.message === "string" ? last.message : undefined;
}

function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .find((line) => line.startsWith("ERROR: "))
      ?.slice("ERROR: ".length) ?? text.slice(-200)
  );
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** This program with other words. */
function maestro(args: readonly string[], cwd: string, env: Io["env"]): Promise<Ended> {
  const child = spawn(process.execPath, [process.argv[1] ?? "", ...args], {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

// Judges the files that write_file and replace name: the same destinations are denied as in the shell.

import type { Machine } from "../machine.ts";
import { locate, normal } from "../paths.ts";
import type { Denial, Verdict } from "../verdict.ts";
import { refuseDestination } from "./sensitive.ts";

export function judgeFile(input: Readonly<Record<string, unknown>>, machine: Machine): Verdict {
  if (typeof input.file_path !== "string") return { verdict: "allow" };
  return judgePath(input.file_path, machine) ?? { verdict: "allow" };
}

function judgePath(path: string, machine: Machine): Denial | undefined {
  const isAtHome = path === "~" || path.startsWith("~/");
  const home = isAtHome ? normal(machine.home || "/root") + path.slice(1) : path;
  const cwd = machine.cwd ?? machine.projectRoot;
  const straight = refuseDestination(locate(home, cwd), machine);
  // On some systems a backslash is a separator too.
  return (
    straight ?? (path.includes("\\") ? refuseDestination(locate(home.replaceAll("\\", "/"), cwd), machine) : undefined)
  );
}

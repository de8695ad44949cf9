// The files that write_file and replace name: the same destinations are out of reach as for the shell.

import type { Machine } from "../machine.ts";
import { locate, normal } from "../paths.ts";
import type { Denial, Verdict } from "../verdict.ts";
import { refuseDestination } from "./sensitive.ts";

export function judgeFile(input: Readonly<Record<string, unknown>>, ground: Machine): Verdict {
  if (typeof input.file_path !== "string") return { verdict: "allow" };
  return judgePath(input.file_path, ground) ?? { verdict: "allow" };
}

function judgePath(path: string, ground: Machine): Denial | undefined {
  const isAtHome = path === "~" || path.startsWith("~/");
  const home = isAtHome ? normal(ground.home || "/root") + path.slice(1) : path;
  const cwd = ground.cwd ?? ground.projectRoot;
  const straight = refuseDestination(locate(home, cwd), ground);
  // On some systems a backslash separates too.
  return (
    straight ?? (path.includes("\\") ? refuseDestination(locate(home.replaceAll("\\", "/"), cwd), ground) : undefined)
  );
}

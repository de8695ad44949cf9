// Opens the user's browser. The address on the command line has no code in it: every process of the user can read that line, agents too.

import { spawn } from "node:child_process";

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["explorer.exe"],
};

/** Returns whether a program for it was started. */
export function openPage(address: string): Promise<boolean> {
  const [program = "xdg-open", ...args] = openers[process.platform] ?? [];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

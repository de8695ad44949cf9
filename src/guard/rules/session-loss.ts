// Programs that remove or replace the active session's files: ln, rename, tar --remove-files, zip -m and others.

import { isInside, locate, normal } from "../paths.ts";
import { copied } from "../programs/copied.ts";
import { Options } from "../programs/options.ts";
import type { Call } from "../shell/call.ts";
import { isPattern } from "../shell/shape.ts";
import type { Denial } from "../verdict.ts";
import { refuseTree } from "./removal.ts";
import { refuseLoss } from "./session-places.ts";

export function judgeLoss(call: Call): Denial | undefined {
  if (!renamers.has(call.name) && !placers.has(call.name) && !packers.has(call.name)) return undefined;
  const { cwd, machine } = call;
  for (const path of replacedBy(call)) {
    const place = locate(path, cwd);
    // A link or a copy whose target is the project itself is created inside it.
    const refused = isInside(normal(machine.projectRoot), place) ? undefined : refuseLoss(place, machine);
    if (refused !== undefined) return refused;
  }
  for (const path of takenBy(call)) {
    const refused = refuseTree(path, cwd, machine);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** Paths that are renamed or replaced. */
function replacedBy(call: Call): string[] {
  const { name, args } = call;
  if (renamers.has(name)) return new Options(args).operands;
  if (!placers.has(name)) return [];
  const options = new Options(args, "tS", ["--target-directory", "--suffix"]);
  const [into] = options.all("t", "--target-directory");
  const target = into ?? options.operands.at(-1) ?? "";
  const isLink = name === "ln" || name === "link";
  const isReplaced = isLink || options.has("T", "--no-target-directory", "--exchange");
  const isNamed = into === undefined && options.operands.length > 1 && !/(?:^|\/)\.{0,2}$/.test(target);
  const isInState = isInside(locate(target, call.cwd), normal(call.machine.stateDir));
  const landing = isInState ? copied(call).map(({ path }) => path) : [];
  // Copying a whole directory into the state directory replaces the state.
  return [...(isReplaced && isNamed ? [target] : []), ...(isLink ? landing : landing.filter(isPattern))];
}

const renamers = new Set(
  "rename prename file-rename mmv rnm brename ren move rd Move-Item Rename-Item Remove-Item".split(" "),
);
const placers = new Set(["ln", "link", "cp", "mv", "install", "rsync", "scp", "ditto"]);
const packers = new Set(["tar", "bsdtar", "gtar", "zip", "7z", "7za"]);

/** Paths that are deleted after they were packed or sent. */
function takenBy({ name, args, cwd }: Call): string[] {
  if (name === "tar" || name === "bsdtar" || name === "gtar") {
    if (!args.some((arg) => /^--remove-f/.test(arg))) return [];
    const [first = "", ...rest] = args;
    const all = /^[a-zA-Z]+$/.test(first) ? [`-${first}`, ...rest] : args;
    const options = new Options(all, "fCbTXgIKNVL", ["--file", "--directory", "--exclude", "--use-compress-program"]);
    const [directory = "."] = options.all("C", "--directory");
    return options.operands.map((path) => locate(path, locate(directory, cwd)));
  }
  if (name === "zip") {
    const options = new Options(args, "xibtnP");
    return options.has("m", "--move") ? options.operands.slice(1) : [];
  }
  if (name === "7z" || name === "7za") return args.includes("-sdel") ? new Options(args).operands.slice(2) : [];
  if (name !== "rsync" || !args.some((arg) => /^--remove-s/.test(arg))) return [];
  return new Options(args, "efTBM").operands.slice(0, -1).map((path) => path.replace(/\/$/, ""));
}
